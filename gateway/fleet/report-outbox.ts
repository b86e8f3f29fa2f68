/**
 * What the workers saw, on its way to the control plane. Events are kept until they are
 * acknowledged; those that end a session everywhere go first, are pushed out by no noise, and lie on
 * the disk meanwhile, so that a sign-out during an outage is none that this process can forget.
 * Activity is only the newest time that a session was used, so of that just the newest is kept; the
 * requests of a machine are added up.
 */
import type { Logger } from 'pino'
import * as v from 'valibot'
import { LIMITS } from '../../shared/limits.ts'
import {
  EnforcementEventSchema,
  SessionActivitySchema,
  type EnforcementEvent,
  type SessionActivity,
  type UpMessage,
} from '../../shared/fleet/snapshot.ts'
import { endsSession, type Report } from './relay-messages.ts'

interface ReportOutboxOptions {
  readonly log: Logger
  /** False while there is no link. */
  readonly send: (message: UpMessage) => boolean
  /** Of sessions, what the process before had on its disk. */
  readonly endings: readonly EnforcementEvent[]
  /** Called with all that are left, whenever there is one more or less. */
  readonly saveEndings: (endings: readonly EnforcementEvent[]) => void
  readonly gatherMs: number
}

export function createReportOutbox(options: ReportOutboxOptions) {
  const { log, send, saveEndings, gatherMs } = options
  const endings = [...options.endings]
  const others: EnforcementEvent[] = []
  let underway: { batch: number; endings: EnforcementEvent[]; others: EnforcementEvent[] } | null =
    null
  const activity = new Map<string, SessionActivity>()
  let batch = 0
  let dropped = 0
  let timer: NodeJS.Timeout | undefined

  function gather() {
    timer ??= setTimeout(sendWhatIsThere, gatherMs).unref()
  }

  function sendWhatIsThere() {
    clearTimeout(timer)
    timer = undefined
    sendActivity()
    if (underway === null) sendEvents()
  }

  function sendActivity() {
    const sessions = [...activity.values()]
    for (let at = 0; at < sessions.length; at += LIMITS.fleetReportItemsMax) {
      const part = sessions.slice(at, at + LIMITS.fleetReportItemsMax)
      if (!send({ type: 'activity', sessions: part })) return
      for (const { tenant_id, sid } of part) activity.delete(`${tenant_id} ${sid}`)
    }
  }

  function sendEvents() {
    if (endings.length + others.length === 0) return
    batch += 1
    const first = endings.splice(0, LIMITS.fleetReportItemsMax)
    const rest = others.splice(0, LIMITS.fleetReportItemsMax - first.length)
    underway = { batch, endings: first, others: rest }
    sendUnderway()
  }

  function sendUnderway() {
    if (underway === null) return
    send({ type: 'events', batch, events: [...underway.endings, ...underway.others] })
  }

  function save() {
    saveEndings([...(underway?.endings ?? []), ...endings])
  }

  function keep(events: EnforcementEvent[], more: readonly EnforcementEvent[]) {
    events.push(...more)
    const excess = events.length - LIMITS.fleetReportsHeldMax
    if (excess <= 0) return
    if (dropped === 0) log.error('too many reports for the control plane, dropping the oldest')
    dropped += events.splice(0, excess).length
  }

  function addEvents(reported: readonly EnforcementEvent[]) {
    // One that the control plane would refuse would hold up all that follow.
    const events = reported.filter((event) => v.is(EnforcementEventSchema, event))
    const ended = events.filter(endsSession)
    keep(endings, ended)
    keep(others, ended.length === 0 ? events : events.filter((event) => !endsSession(event)))
    if (ended.length > 0) save()
  }

  return {
    add(report: Report) {
      if (report.type === 'activity') {
        for (const session of report.sessions) {
          if (!v.is(SessionActivitySchema, session)) continue
          const key = `${session.tenant_id} ${session.sid}`
          const before = activity.get(key)
          if (activity.size < LIMITS.fleetReportsHeldMax || before !== undefined)
            activity.set(key, added(before, session))
        }
      } else addEvents(report.events)
      gather()
    },
    /** The link is there (again): what was not acknowledged goes once more. */
    connected() {
      sendUnderway()
      gather()
    },
    eventsReceived(received: number) {
      if (underway?.batch !== received) return
      const hadEndings = underway.endings.length > 0
      underway = null
      if (hadEndings) save()
      if (dropped > 0)
        log.warn({ dropped }, 'reports were dropped while the control plane was away')
      dropped = 0
      sendEvents()
    },
    /** Sends what is there. */
    close: sendWhatIsThere,
  }
}

function added(before: SessionActivity | undefined, session: SessionActivity): SessionActivity {
  if (before?.requests === undefined || session.requests === undefined) return session
  return { ...session, requests: before.requests + session.requests }
}
