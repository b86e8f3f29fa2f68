/**
 * How a copied key shows. Each answer to a device carries a fresh random number that its next message
 * gives back, so of two machines with one key each check-in of one is a surprise to the other. Kept
 * are hashes: the current number, and the one before with who turned it into the current one, since
 * an answer that was lost is asked for once more (.docs/decisions/0049-how-a-device-is-known.md).
 */
import { RANDOM_32 } from '../../shared/device/messages.ts'
import { LIMITS } from '../../shared/limits.ts'

interface Chain {
  readonly currentHash: string
  /** Given in answer to a message that came once more. Which of both arrived, the next one shows. */
  readonly otherHash: string | null
  readonly previousHash: string | null
  /** `boot.ctr` of the message by which previous became current; ANYBODY once it has been cleared. */
  readonly turnedBy: string | null
  /** Starts of the machine, the latest last. */
  readonly boots: readonly string[]
}

interface Shown {
  /** undefined: a nonce stands in its place. */
  readonly prevHash: string | undefined
  readonly isNonceGood: boolean
  readonly bootId: string
  readonly ctr: number
}

type Suspicion = 'chain' | 'boot_returned'
type Turn =
  | { readonly kind: 'accepted'; readonly chain: Chain }
  /** Nobody's fault: it takes a nonce. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'suspect'; readonly suspicion: Suspicion }

const ANYBODY = '*'
const LOST: Turn = { kind: 'lost' }

export const newChain = (nextHash: string): Chain => ({
  currentHash: nextHash,
  otherHash: null,
  previousHash: null,
  turnedBy: null,
  boots: [],
})

/** Its answer was lost, as far as it knows; false where it has used it. */
export const isUnused = ({ previousHash, turnedBy }: Chain): boolean =>
  previousHash === null && turnedBy === null

/** Whichever of both machines comes first goes on; the other one shows again. */
export const cleared = (chain: Chain): Chain => ({ ...chain, turnedBy: ANYBODY, boots: [] })

export function turn(chain: Chain, shown: Shown, nextHash: string): Turn {
  const { currentHash, otherHash, previousHash, turnedBy } = chain
  const { prevHash, isNonceGood, ctr } = shown
  // 128 bits of a random number of ours; others are told apart by all of theirs
  const bootId = RANDOM_32.test(shown.bootId) ? shown.bootId.slice(0, 22) : shown.bootId
  const boots = bootsWith(chain.boots, bootId)
  if (boots === undefined) return { kind: 'suspect', suspicion: 'boot_returned' }
  const by = `${bootId}.${ctr}`
  const moved = (from: string): Turn => ({
    kind: 'accepted',
    chain: { currentHash: nextHash, otherHash: null, previousHash: from, turnedBy: by, boots },
  })
  if (prevHash === undefined) return isNonceGood ? moved(currentHash) : LOST
  if (prevHash === currentHash || prevHash === otherHash) return moved(prevHash)
  if (prevHash === previousHash) {
    if (turnedBy === ANYBODY) return moved(prevHash)
    if (turnedBy === by) return { kind: 'accepted', chain: { ...chain, otherHash: nextHash } }
  }
  return turnedBy === ANYBODY ? LOST : { kind: 'suspect', suspicion: 'chain' }
}

/** undefined: an earlier start has come back after another one. */
function bootsWith(boots: readonly string[], bootId: string): readonly string[] | undefined {
  if (boots.at(-1) === bootId) return boots
  if (boots.includes(bootId)) return undefined
  return [...boots, bootId].slice(-LIMITS.deviceBootsKept)
}
