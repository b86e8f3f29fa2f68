/**
 * Whose request is begun first. Who shows the operator's key never waits; of all others only a few
 * are begun in one turn of the event loop, so that whatever a flood brings, a turn stays short and
 * the many turns of a revocation follow each other quickly. Who shows a key or a cookie goes before
 * who shows nothing, which is never starved. Addresses take turns, each first come, first served.
 */
import { LIMITS } from '../../shared/limits.ts'

/** `keyed`: shows something that has yet to be checked; so may a flood. */
export type Rank = 'operator' | 'keyed' | 'stranger'

export interface AdmissionLimits {
  readonly perTurn: number
  readonly waitingMax: number
  readonly waitingPerAddressMax: number
}

const ADMISSION_LIMITS: AdmissionLimits = {
  perTurn: LIMITS.admittedPerTurnMax,
  waitingMax: LIMITS.admissionWaitingMax,
  waitingPerAddressMax: LIMITS.admissionWaitingPerAddressMax,
}

export interface Admission {
  /** Now or later. False: too many of this address wait already. */
  enter(rank: Rank, address: string, begin: () => void): boolean
}

/** By address; who was served goes behind all others. */
type Line = Map<string, (() => void)[]>

export function createAdmission(
  { perTurn, waitingMax, waitingPerAddressMax }: AdmissionLimits = ADMISSION_LIMITS,
  nextTurn: (work: () => void) => void = setImmediate,
): Admission {
  const keyed: Line = new Map()
  const strangers: Line = new Map()
  let waiting = 0
  let begun = 0
  let isTurnAhead = false

  function lookAhead() {
    if (isTurnAhead) return
    isTurnAhead = true
    nextTurn(turn)
  }

  function turn() {
    isTurnAhead = false
    begun = 0
    while (begun < perTurn && waiting > 0) {
      // the last of a turn is a stranger's, if there is one
      const [first, second] = begun < perTurn - 1 ? [keyed, strangers] : [strangers, keyed]
      const begin = takeFrom(first) ?? takeFrom(second)
      waiting--
      begun++
      lookAhead() // also if what is begun throws
      begin?.()
    }
  }

  return {
    enter(rank, address, begin) {
      if (rank !== 'operator') {
        if (waiting > 0 || begun >= perTurn) return wait(rank, address, begin)
        begun++
        lookAhead()
      }
      begin()
      return true
    },
  }

  function wait(rank: Rank, address: string, begin: () => void): boolean {
    const line = rank === 'keyed' ? keyed : strangers
    const queue = line.get(address)
    if (queue === undefined) line.set(address, [begin])
    // a flood fills the room; an address of which nobody waits is let in all the same
    else if (queue.length >= waitingPerAddressMax || waiting >= waitingMax) return false
    else queue.push(begin)
    waiting++
    lookAhead()
    return true
  }
}

function takeFrom(line: Line): (() => void) | undefined {
  const [first] = line
  if (first === undefined) return undefined
  const [address, queue] = first
  line.delete(address)
  const begin = queue.shift()
  if (queue.length > 0) line.set(address, queue)
  return begin
}
