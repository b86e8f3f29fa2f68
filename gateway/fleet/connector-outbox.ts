/**
 * Which connectors are at this gateway, on the way to the control plane: those of all workers as
 * one, only what has changed, and now and then a word that the rest still holds.
 */
import type { Logger } from 'pino'
import type { SteadyClock } from '../../shared/clock.ts'
import {
  connectorKey,
  mergeHere,
  toPresence,
  type ConnectorHere,
  type ConnectorNews,
  type ConnectorsMessage,
} from '../../shared/fleet/connector-presence.ts'
import { LIMITS } from '../../shared/limits.ts'

interface ConnectorOutboxOptions {
  readonly clock: SteadyClock
  readonly log: Logger
  /** False while there is no link. */
  readonly send: (message: ConnectorsMessage) => boolean
  /** How often it is renewed; three times within its life. */
  readonly renewMs?: number
}

const GATHER_MS = 50
const RENEW_MS = LIMITS.connectorPresenceMs / 3

export function createConnectorOutbox(options: ConnectorOutboxOptions) {
  const { clock, log, send, renewMs = RENEW_MS } = options
  /** By connector, then by worker. */
  const seen = new Map<string, Map<object, ConnectorHere>>()
  /** What is not said yet. */
  const changed = new Set<string>()
  let isFullDue = true
  let isComplaining = false
  let timer: NodeJS.Timeout | undefined
  /** A gateway that never had one says nothing. */
  let isUsed = false
  const renewing = setInterval(() => {
    if (isFullDue && isUsed) flush()
    else if (seen.size > 0) say([], [])
  }, renewMs).unref()

  function add(worker: object, news: ConnectorNews | null): void {
    if (news === null) {
      for (const [key, byWorker] of seen) if (byWorker.has(worker)) remove(key, worker)
    } else {
      for (const here of news.here) {
        const key = connectorKey(here.tenantId, here.connectorId)
        sayBefore(key, worker, here.requests)
        put(key, worker, here)
      }
      for (const gone of news.gone) {
        const key = connectorKey(gone.tenantId, gone.connectorId)
        sayBefore(key, worker, 0)
        remove(key, worker)
      }
    }
    isUsed ||= seen.size > 0
    if (changed.size > 0) timer ??= setTimeout(flush, GATHER_MS).unref()
  }

  /** What it has answered on connections that have ended is said before it begins anew, or is gone. */
  function sayBefore(key: string, worker: object, requests: number): void {
    const before = seen.get(key)?.get(worker)?.requests ?? 0
    if (requests < before && changed.has(key)) flush()
  }

  function put(key: string, worker: object, here: ConnectorHere): void {
    const byWorker = seen.get(key)
    if (byWorker === undefined && seen.size >= LIMITS.connectorsReportedMax) {
      if (!isComplaining) log.error('too many connectors, the control plane is not told of all')
      isComplaining = true
      return
    }
    if (byWorker === undefined) seen.set(key, new Map([[worker, here]]))
    else byWorker.set(worker, here)
    changed.add(key)
  }

  function remove(key: string, worker: object): void {
    const byWorker = seen.get(key)
    if (byWorker?.delete(worker) !== true) return
    if (byWorker.size === 0) seen.delete(key)
    changed.add(key)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const keys = isFullDue ? [...seen.keys()] : [...changed]
    changed.clear()
    const most = LIMITS.connectorsReportedAtOnceMax
    for (let at = 0; at === 0 || at < keys.length; at += most) {
      const part = keys.slice(at, at + most)
      say(
        part.filter((key) => seen.has(key)),
        part.filter((key) => !seen.has(key)),
      )
    }
  }

  function say(here: readonly string[], gone: readonly string[]): void {
    const nowMs = clock.steadyMs()
    const isSent = send({
      type: 'connectors',
      is_full: isFullDue,
      here: here.map((key) => toPresence(mergeHere(firstOf(seen.get(key)!)), nowMs)),
      gone: gone.map((key) => {
        const [tenant_id = '', connector_id = ''] = key.split(' ')
        return { tenant_id, connector_id }
      }),
    })
    isFullDue = !isSent
  }

  return {
    add,
    /** The link is there (again): the other end may know nothing. */
    connected(): void {
      isFullDue = true
      if (isUsed) flush()
    },
    close(): void {
      clearTimeout(timer)
      clearInterval(renewing)
    },
  }
}

/** Never empty: who is at no worker is not in the table. */
function firstOf(byWorker: Map<object, ConnectorHere>): [ConnectorHere, ...ConnectorHere[]] {
  return [...byWorker.values()] as [ConnectorHere, ...ConnectorHere[]]
}
