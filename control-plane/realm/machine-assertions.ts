/**
 * `private_key_jwt` (RFC 7523): a machine signs who it is with a key whose public half somebody has
 * uploaded. The provider reads the assertion, compares issuer and subject and finds a key that has
 * signed it; what it leaves open is judged here (.docs/decisions/0107-keys-of-machines.md).
 */
import { compactVerify, importJWK } from 'jose'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { nowSeconds, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { MachineKey } from '../machines/machines.ts'
import { errors } from './oidc.ts'

export const ASSERTION_ALGS = ['ES256', 'RS256', 'EdDSA'] as const

const TYPES: readonly unknown[] = [undefined, 'JWT', 'client-authentication+jwt']
const {
  serviceAssertionSecondsMax: SECONDS_MAX,
  serviceAssertionSkewSeconds: SKEW_SECONDS,
  serviceAssertionIdCharactersMax: ID_CHARACTERS_MAX,
} = LIMITS

type Members = Readonly<Record<string, unknown>>

/** Throws where it is for somebody else, for too long, or of another kind. */
export function requireAssertion(
  claims: Members,
  header: Members,
  { issuer, clock }: { readonly issuer: string; readonly clock: Clock },
): void {
  const { aud, exp, iat, nbf, jti } = claims
  const now = nowSeconds(clock)
  // one audience: of a list another server could take it, and send it on to us
  if (aud !== issuer && aud !== `${issuer}/token`) throw refused('aud must be the issuer alone')
  if (typeof exp !== 'number' || !Number.isSafeInteger(exp)) throw refused('exp must be whole')
  // by the clock that forgets what has been here: the provider goes by the one of this machine
  if (exp <= now - SKEW_SECONDS) throw refused('exp is over')
  if (exp > now + SECONDS_MAX + SKEW_SECONDS) throw refused('exp is too far ahead')
  for (const from of [iat, nbf])
    if (from !== undefined && (typeof from !== 'number' || from > now + SKEW_SECONDS))
      throw refused('iat or nbf is ahead')
  if (typeof jti !== 'string' || jti.length > ID_CHARACTERS_MAX) throw refused('jti must be text')
  if (!TYPES.includes(header.typ) || header.crit !== undefined) throw refused('typ is another one')
}

/** Which of them has signed it. */
export async function signerOf(
  assertion: string,
  keys: readonly MachineKey[],
): Promise<MachineKey | undefined> {
  for (const one of keys) {
    const { alg, ...jwk } = one.key
    const key = await importJWK({ ...jwk }, alg)
    const isIts = await compactVerify(assertion, key, { algorithms: [alg] }).then(
      () => true,
      () => false,
    )
    if (isIts) return one
  }
  return undefined
}

/** What is shown by the request that runs; no list, and no text that a parser has not looked at. */
export const assertionIn = (ctx: KoaContextWithOIDC | undefined): string | undefined => {
  const given = ctx?.oidc?.params?.client_assertion
  return typeof given === 'string' && given !== '' ? given : undefined
}

/** For how long an assertion is remembered. */
export const rememberedUntilMs = (exp: number) => (exp + SKEW_SECONDS + 1) * SECOND_MS

const refused = (why: string) => new errors.InvalidClientAuth(why)
