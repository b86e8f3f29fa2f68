/**
 * Which connectors are at a gateway and how they are: told by each gateway with every change, and
 * renewed while nothing changes. What is not renewed for 15 seconds is over.
 */
import * as v from 'valibot'
import { SECOND_MS } from '../clock.ts'
import { LIMITS } from '../limits.ts'

const CONNECTOR_STATES = ['connected', 'unreachable', 'draining'] as const
export type ConnectorState = (typeof CONNECTOR_STATES)[number]

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const text = (max: number) => v.pipe(v.string(), v.maxLength(max))

/** Ages, not times: no gateway's clock has to be right. */
const ConnectorPresenceSchema = v.object({
  tenant_id: id,
  connector_id: id,
  /** `unreachable`: it is here, and its application is not. */
  state: v.picklist(CONNECTOR_STATES),
  /** Why it is unreachable. */
  reason: v.nullable(text(LIMITS.connectorReasonCharactersMax)),
  program: text(100),
  since_seconds: count,
  /** Since it was last known whether the application is reached; null: nobody has asked yet. */
  known_seconds: v.nullable(count),
  /** All that it has open for requests, and those of them that serve one. */
  connections: count,
  in_use: count,
  /** Answered since it came. */
  requests: count,
  round_trip_ms: v.nullable(count),
  last_error: v.nullable(
    v.object({ reason: text(LIMITS.connectorReasonCharactersMax), age_seconds: count }),
  ),
})
export type ConnectorPresence = v.InferOutput<typeof ConnectorPresenceSchema>

/** `is_full`: what was said before on this link is void. Without content it renews what was said. */
export const ConnectorsMessageSchema = v.object({
  type: v.literal('connectors'),
  is_full: v.boolean(),
  here: v.pipe(v.array(ConnectorPresenceSchema), v.maxLength(LIMITS.connectorsReportedAtOnceMax)),
  gone: v.pipe(
    v.array(v.object({ tenant_id: id, connector_id: id })),
    v.maxLength(LIMITS.connectorsReportedAtOnceMax),
  ),
})
export type ConnectorsMessage = v.InferOutput<typeof ConnectorsMessageSchema>

/** The same as known by one program, with times by its own clock. */
export interface ConnectorHere {
  readonly tenantId: string
  readonly connectorId: string
  readonly state: ConnectorState
  readonly reason: string | null
  readonly program: string
  readonly sinceMs: number
  /** When it was last known whether the application is reached; null: nobody has asked yet. */
  readonly knownMs: number | null
  readonly connections: number
  readonly inUse: number
  readonly requests: number
  readonly roundTripMs: number | null
  readonly lastError: { readonly reason: string; readonly atMs: number } | null
}

/** Of one worker: connectors that are new or have changed, and those that have left it. */
export interface ConnectorNews {
  readonly here: readonly ConnectorHere[]
  readonly gone: readonly Pick<ConnectorHere, 'tenantId' | 'connectorId'>[]
}

export const connectorKey = (tenantId: string, connectorId: string): string =>
  `${tenantId} ${connectorId}`

const secondsSince = (atMs: number, nowMs: number) =>
  Math.max(0, Math.round((nowMs - atMs) / SECOND_MS))

export function toPresence(here: ConnectorHere, nowMs: number): ConnectorPresence {
  const { lastError } = here
  return {
    tenant_id: here.tenantId,
    connector_id: here.connectorId,
    state: here.state,
    reason: here.reason,
    program: here.program,
    since_seconds: secondsSince(here.sinceMs, nowMs),
    known_seconds: here.knownMs === null ? null : secondsSince(here.knownMs, nowMs),
    connections: here.connections,
    in_use: here.inUse,
    requests: here.requests,
    round_trip_ms: here.roundTripMs,
    last_error: lastError && {
      reason: lastError.reason,
      age_seconds: secondsSince(lastError.atMs, nowMs),
    },
  }
}

export function fromPresence(said: ConnectorPresence, nowMs: number): ConnectorHere {
  const { last_error: lastError } = said
  return {
    tenantId: said.tenant_id,
    connectorId: said.connector_id,
    state: said.state,
    reason: said.reason,
    program: said.program,
    sinceMs: nowMs - said.since_seconds * SECOND_MS,
    knownMs: said.known_seconds === null ? null : nowMs - said.known_seconds * SECOND_MS,
    connections: said.connections,
    inUse: said.in_use,
    requests: said.requests,
    roundTripMs: said.round_trip_ms,
    lastError: lastError && {
      reason: lastError.reason,
      atMs: nowMs - lastError.age_seconds * SECOND_MS,
    },
  }
}

/** One connector as several see it: the newest word on its application counts, sums are sums. */
export function mergeHere(seen: readonly [ConnectorHere, ...ConnectorHere[]]): ConnectorHere {
  const serving = seen.filter(({ state }) => state !== 'draining')
  const counted = serving.length > 0 ? serving : seen
  const newest = counted.reduce((a, b) => ((b.knownMs ?? -1) > (a.knownMs ?? -1) ? b : a))
  const alike = counted.filter(({ state }) => state === newest.state)
  const sum = (of: (here: ConnectorHere) => number) => seen.reduce((total, a) => total + of(a), 0)
  const trips = seen.flatMap(({ roundTripMs }) => (roundTripMs === null ? [] : [roundTripMs]))
  const errors = seen.flatMap(({ lastError }) => (lastError === null ? [] : [lastError]))
  return {
    ...newest,
    sinceMs: Math.min(...alike.map(({ sinceMs }) => sinceMs)),
    connections: sum(({ connections }) => connections),
    inUse: sum(({ inUse }) => inUse),
    requests: sum(({ requests }) => requests),
    roundTripMs: trips.length === 0 ? null : Math.max(...trips),
    lastError: errors.toSorted((a, b) => b.atMs - a.atMs)[0] ?? null,
  }
}
