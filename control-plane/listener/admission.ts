/**
 * Whose request is begun first. Who shows the operator's key never waits; of all others only a few
 * are begun in one turn of the event loop, so that whatever a flood brings, a turn stays short and
 * the many turns of a revocation follow each other quickly. Who shows what was found good lately goes
 * before who shows something else, and that before who shows nothing; the last of each turn is of
 * these two by turns, so nobody is starved. Sites take turns (a /48 of IPv6), in each of them its
 * networks do, each first come, first served.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { LIMITS } from '../../shared/limits.ts'
import { Rotation } from '../concurrency/rotation.ts'

/** `keyed`: shows something that has yet to be checked; so may a flood. */
export type Priority = 'operator' | 'known' | 'keyed' | 'stranger'

interface AdmissionLimits {
  readonly perTurn: number
  readonly waitingMax: number
  readonly waitingPerAddressMax: number
  readonly waitingPerSiteMax: number
}

const ADMISSION_LIMITS: AdmissionLimits = {
  perTurn: LIMITS.admittedPerTurnMax,
  waitingMax: LIMITS.admissionWaitingMax,
  waitingPerAddressMax: LIMITS.admissionWaitingPerAddressMax,
  waitingPerSiteMax: LIMITS.admissionWaitingPerSiteMax,
}

interface Admission {
  /** Now or later. False: too many of this address wait already. */
  enter(priority: Priority, address: string, begin: () => void): boolean
}

type Line = Rotation<() => void>

export function createAdmission(
  {
    perTurn,
    waitingMax,
    waitingPerAddressMax,
    waitingPerSiteMax,
  }: AdmissionLimits = ADMISSION_LIMITS,
  nextTurn: (work: () => void) => void = setImmediate,
): Admission {
  const known: Line = new Rotation()
  const keyed: Line = new Rotation()
  const strangers: Line = new Rotation()
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
      const begin = line.shift()
      if (begin === undefined) continue
      if (line === known) knownWaiting--
      else servedLast = line
      return begin
    }
    return undefined
  }

  return {
    enter(priority, address, begin) {
      if (priority !== 'operator') {
        if (waiting > 0 || begun >= perTurn) return wait(priority, address, begin)
        begun++
        lookAhead()
      }
      begin()
      return true
    },
  }

  function isFull(priority: Priority): boolean {
    return (priority === 'known' ? knownWaiting : waiting - knownWaiting) >= waitingMax
  }

  function wait(
    priority: Exclude<Priority, 'operator'>,
    address: string,
    begin: () => void,
  ): boolean {
    const line = { known, keyed, stranger: strangers }[priority]
    const [site, network] = [countedWidelyAs(address), countedAs(address)]
    const ofNetwork = line.countWithin(site, network)
    // a flood fills its own room; a network of which nobody waits is let in all the same
    if (ofNetwork > 0 && (ofNetwork >= waitingPerAddressMax || isFull(priority))) return false
    if (line.countOf(site) >= waitingPerSiteMax) return false
    // begun in somebody else's turn, and no part of that one's trace
    line.push(site, network, AsyncLocalStorage.bind(begin))
    waiting++
    if (priority === 'known') knownWaiting++
    lookAhead()
    return true
  }
}
