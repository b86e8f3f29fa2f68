/**
 * Tokens whose signature has been checked, beside the trust that they were checked under: the check
 * is not made twice, and its proofs end with the keys that it was made with.
 */
import { flat } from './flat.ts'
import { RecentlyUsed } from './recently-used.ts'
import type { TokenClaims, TokenTrust } from './token.ts'
import type { TokenReason } from '../reasons.ts'

export interface TokenProof<Claims = TokenClaims> {
  readonly token: string
  readonly claims: Claims
  readonly trust: TokenTrust
}

/** The end of a signature tells tokens apart; the whole token is compared. */
const KEY_CHARACTERS = 12

/**
 * As a number: a part of a header would be looked for among all strings that there are before it is
 * looked up. Of two tokens with the same one the last is remembered, and the other proven again.
 */
function keyOf(text: string, end: number): number {
  let key = 0
  for (let at = Math.max(0, end - KEY_CHARACTERS); at < end; at++)
    key = (Math.imul(key, 31) + text.charCodeAt(at)) | 0
  return key
}

type Prove<Claims> = (token: string, trust: TokenTrust) => Claims | TokenReason

export class TokenProofs<Proof extends TokenProof<Claims>, Claims extends object = TokenClaims> {
  readonly stats = { hits: 0, misses: 0 }
  readonly #remembered: RecentlyUsed<Proof, number>
  readonly #prove: Prove<Claims>
  readonly #from: (proof: TokenProof<Claims>) => Proof

  /** `from` makes what is remembered, once for each proof. */
  constructor(
    entriesMax: number,
    prove: Prove<Claims>,
    from: (proof: TokenProof<Claims>) => Proof,
  ) {
    this.#remembered = new RecentlyUsed(entriesMax)
    this.#prove = prove
    this.#from = from
  }

  /** One that has been proven; never a look at the signature. */
  known(token: string, trust: TokenTrust): Proof | undefined {
    const proof = this.#remembered.get(keyOf(token, token.length))
    if (proof === undefined || proof.trust !== trust || proof.token !== token) return undefined
    this.stats.hits++
    return proof
  }

  /** What may have been proven of the token that ends there; the caller has to compare the whole. */
  endingAt(text: string, end: number): Proof | undefined {
    return this.#remembered.get(keyOf(text, end))
  }

  prove(token: string, trust: TokenTrust): Proof | TokenReason {
    const known = this.known(token, trust)
    if (known !== undefined) return known
    this.stats.misses++
    const claims = this.#prove(token, trust)
    if (typeof claims === 'string') return claims
    const kept = flat(token)
    const proof = this.#from({ token: kept, claims, trust })
    this.#remembered.set(keyOf(kept, kept.length), proof)
    return proof
  }
}
