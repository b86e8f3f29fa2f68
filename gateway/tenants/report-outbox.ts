/**
 * What the workers saw, on its way to the control plane. Events are kept until they are
 * acknowledged: among them is the one that revokes a session everywhere. Activity is only the
 * newest time that a session was used, so of that just the newest is kept.
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
} from '../../shared/snapshot.ts'
import type { Report } from './relay-messages.ts'

export interface ReportOutbox {
  add(report: Report): void
  /** The link is there (again): what was not acknowledged goes once more. */
  connected(): void
  eventsReceived(batch: number): void
  close(): void
}

export interface ReportOutboxOptions {
  readonly log: Logger
  /** False while there is no link. */
  readonly send: (message: UpMessage) => boolean
  readonly gatherMs: number
}

export function createReportOutbox({ log, send, gatherMs }: ReportOutboxOptions): ReportOutbox {
  let events: EnforcementEvent[] = []
  let underway: { batch: number; events: EnforcementEvent[] } | null = null
  const activity = new Map<string, SessionActivity>()
  let batch = 0
  let dropped = 0
  let timer: NodeJS.Timeout | undefined

  function gather() {
    timer ??= setTimeout(() => {
      timer = undefined
      sendActivity()
      if (underway === null) sendEvents()
    }, gatherMs).unref()
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
    if (events.length === 0) return
    batch += 1
    underway = { batch, events: events.slice(0, LIMITS.fleetReportItemsMax) }
    events = events.slice(LIMITS.fleetReportItemsMax)
    send({ type: 'events', ...underway })
  }

  function drop(count: number) {
    if (dropped === 0) log.error('too many reports for the control plane, dropping the oldest')
    dropped += count
  }

  return {
    add(report) {
      if (report.type === 'activity') {
        for (const session of report.sessions) {
          if (!v.is(SessionActivitySchema, session)) continue
          const key = `${session.tenant_id} ${session.sid}`
          if (activity.size < LIMITS.fleetReportsHeldMax || activity.has(key))
            activity.set(key, session)
        }
      } else {
        // One that the control plane would refuse would hold up all that follow.
        events.push(...report.events.filter((event) => v.is(EnforcementEventSchema, event)))
        const excess = events.length - LIMITS.fleetReportsHeldMax
        if (excess > 0) drop(events.splice(0, excess).length)
      }
      gather()
    },
    connected() {
      if (underway !== null) send({ type: 'events', ...underway })
      gather()
    },
    eventsReceived(received) {
      if (underway?.batch !== received) return
      underway = null
      if (dropped > 0)
        log.warn({ dropped }, 'reports were dropped while the control plane was away')
      dropped = 0
      sendEvents()
    },
    close: () => clearTimeout(timer),
  }
}
