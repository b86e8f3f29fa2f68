/** In sdk mode nothing is enforced but by a middleware that polls: who does, and is up to date? */
import { SECOND_MS } from '../../shared/clock.ts'
import {
  clockOf,
  clockOffsetOf,
  describeClock,
  whatToDoAboutTheClock,
} from './application-clock.ts'
import { type CheckResult, resultsOf } from './checks.ts'
import type { FeedObservation, InstanceObservation, Observations } from './observations.ts'

/** Polls that an instance may miss (a deploy, a hiccup) before it counts as gone. */
const MISSED_POLLS_MAX = 3
const GONE_MS_MIN = 15 * SECOND_MS
/** A list for a person. */
const NAMED_MAX = 5

/** Who has not polled for longer does not poll any more. */
export function goneAfterMs(pollAfterMs: number): number {
  return Math.max(GONE_MS_MIN, (MISSED_POLLS_MAX + 1) * pollAfterMs)
}

export function feedPolled(
  seen: Observations,
  { instances, pollAfterMs }: FeedObservation,
): CheckResult {
  const { fail, pass, warn } = resultsOf('feed_polled')
  const { baseUrl, tenantId } = seen
  const tryIt = `curl -u ${tenantId}-user:$SERVICE_CLIENT_SECRET ${baseUrl}/api/v1/enforcement/state`
  if (instances.length === 0)
    return fail(
      'No instance of the application has polled the enforcement feed yet, so nothing is enforced.',
      `Start the application with enforce() mounted and the client secret set; from its machine this must return 200: ${tryIt}`,
    )
  const newestFirst = [...instances].sort((a, b) => a.polledAgoMs - b.polledAgoMs)
  const goneMs = goneAfterMs(pollAfterMs)
  const alive = newestFirst.filter(({ polledAgoMs }) => polledAgoMs <= goneMs)
  if (alive.length === 0)
    return fail(
      `The enforcement feed is no longer polled: ${listOf(newestFirst)}.`,
      `Restart the application, or find out why it does not poll; from its machine this must return 200: ${tryIt}`,
    )
  const detail = `${listOf(alive)}.`
  const behind = alive.filter(({ hasNewestState }) => !hasNewestState)
  if (behind.length > 0)
    return warn(
      detail,
      `Wait ${Math.ceil(pollAfterMs / SECOND_MS)} s for the next poll and probe again. If the state is still old then, check the log of ${nameOf(behind[0])}.`,
    )
  const clock = clockOf(seen.addresses[0]?.answer)
  const wrong = alive.find(({ clockAheadMs }) => clockOffsetOf(clockAheadMs) !== undefined)
  const offset = clockOffsetOf(wrong?.clockAheadMs) ?? clock
  if (offset !== undefined) {
    const whose = wrong === undefined ? undefined : `The clock of ${nameOf(wrong)}`
    return warn(
      `${detail} ${describeClock(offset, whose)}`,
      whatToDoAboutTheClock(offset, seen.hasEdge),
    )
  }
  return pass(detail)
}

function listOf(instances: readonly InstanceObservation[]): string {
  const named = instances.slice(0, NAMED_MAX).map((instance) => {
    const { sdkVersion, polledAgoMs, hasNewestState } = instance
    const version = sdkVersion === '' ? 'unknown version' : `version ${sdkVersion}`
    const state = hasNewestState ? 'has the current state' : 'has an older state'
    return `${nameOf(instance)} (${version}) polled ${agoOf(polledAgoMs)} ago and ${state}`
  })
  const more = instances.length - named.length
  return named.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

const nameOf = (instance: InstanceObservation | undefined) =>
  instance === undefined || instance.instance === '' ? 'an unnamed instance' : instance.instance

function agoOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / SECOND_MS))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
