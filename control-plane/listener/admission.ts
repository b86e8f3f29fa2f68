/**
 * Whose request is begun first. Who shows the operator's key never waits; of all others only a few
 * are begun in one turn of the event loop, so that whatever a flood brings, a turn stays short and
 * the many turns of a revocation follow each other quickly. Who shows what was found good lately goes
 * before who shows something else, and that before who shows nothing; the last of each turn is of
 * these two by turns, so nobody is starved. Addresses take turns, each first come, first served.
 */
import { LIMITS } from '../../shared/limits.ts'

/** `keyed`: shows something that has yet to be checked; so may a flood. */
export type Rank = 'operator' | 'known' | 'keyed' | 'stranger'

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
  const known: Line = new Map()
  const keyed: Line = new Map()
  const strangers: Line = new Map()
  let servedLast = strangers
  let waiting = 0
  let knownWaiting = 0
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
      const isLast = begun === perTurn - 1
      const begin = isLast ? takeFirst(...others(), known) : takeFirst(known, keyed, strangers)
      waiting--
      begun++
      lookAhead() // also if what is begun throws
      begin?.()
    }
  }

  /** Those who are not known; of whom nobody was served the longest first. */
  const others = () => (servedLast === keyed ? [strangers, keyed] : [keyed, strangers])

  function takeFirst(...lines: readonly Line[]): (() => void) | undefined {
    for (const line of lines) {
      const begin = takeFrom(line)
      if (begin === undefined) continue
      if (line === known) knownWaiting--
      else servedLast = line
      return begin
    }
    return undefined
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

  function isFull(rank: Rank): boolean {
    return (rank === 'known' ? knownWaiting : waiting - knownWaiting) >= waitingMax
  }

  function wait(rank: Exclude<Rank, 'operator'>, address: string, begin: () => void): boolean {
    const line = { known, keyed, stranger: strangers }[rank]
    const queue = line.get(address)
    if (queue === undefined) line.set(address, [begin])
    // a flood fills its own room; an address of which nobody waits is let in all the same
    else if (queue.length >= waitingPerAddressMax || isFull(rank)) return false
    else queue.push(begin)
    waiting++
    if (rank === 'known') knownWaiting++
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
