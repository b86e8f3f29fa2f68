/**
 * What strangers tried and were refused, for the people of a tenant to look at: the path without its
 * query, the address, the time, and how often. What is alike is one row; rows are bounded for each
 * tenant and for all in a minute, and what is beyond that is one row that says how many. Every refusal
 * is counted in the figures as well, so nothing is lost but its path and its address.
 */
import { MINUTE_MS, nowSeconds, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { EnforcementEvent } from '../../shared/fleet/snapshot.ts'
import type { RefuseReason } from '../../shared/reasons.ts'

interface RefusedRequest {
  readonly tenantId: string
  readonly reason: string
  readonly path: string
  readonly ip: string
  readonly host: string
}

interface RefusalSampleWorld {
  readonly clock: Clock
  readonly report: (event: EnforcementEvent) => void
  readonly gatherMs?: number
}

/** Of the others the tenant's people can do nothing about, or know already. */
const OUTCOMES: Readonly<Partial<Record<RefuseReason, string>>> = {
  sealed: 'sealed',
  path_unreadable: 'refused',
  origin_foreign: 'refused',
  rule_denied: 'refused',
  machine_malformed: 'refused',
  machine_with_session: 'refused',
  machine_unknown: 'refused',
  machine_secret_ended: 'refused',
  machine_disabled: 'refused',
  machine_not_allowed: 'refused',
  machine_rate_limited: 'refused',
  machine_token_ambiguous: 'refused',
  machine_token_invalid: 'refused',
  machine_token_expired: 'refused',
  machine_token_revoked: 'refused',
  websockets_exhausted: 'refused',
  client_unreadable: 'refused',
}

const GATHER_MS = 5 * SECOND_MS

type Row = { -readonly [K in keyof EnforcementEvent]: EnforcementEvent[K] } & { count: number }

export type RefusalSample = ReturnType<typeof createRefusalSample>

export function createRefusalSample({ clock, report, gatherMs = GATHER_MS }: RefusalSampleWorld) {
  let rows = new Map<string, Row>()
  /** Of the minute that is under way. */
  let minuteMs = -Infinity
  let listed = 0
  let listedOf = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  function isWithinBounds(tenantId: string): boolean {
    const nowMs = clock.steadyMs()
    if (nowMs - minuteMs >= MINUTE_MS) {
      minuteMs = nowMs
      listed = 0
      listedOf = new Map()
    }
    const own = listedOf.get(tenantId) ?? 0
    if (listed >= LIMITS.refusalsListedPerMinuteMax) return false
    if (own >= LIMITS.refusalsListedPerTenantMinuteMax) return false
    listed += 1
    listedOf.set(tenantId, own + 1)
    return true
  }

  function send() {
    clearTimeout(timer)
    timer = undefined
    const gathered = rows
    rows = new Map()
    for (const row of gathered.values()) report(row)
  }

  /** `key` is what is alike; a new row needs room. */
  function addTo(key: string, isRoom: () => boolean, row: () => Row): boolean {
    const known = rows.get(key)
    if (known !== undefined) known.count += 1
    else if (isRoom()) rows.set(key, row())
    else return false
    return true
  }

  return {
    add({ tenantId, reason, path, ip, host }: RefusedRequest): void {
      const outcome = OUTCOMES[reason as RefuseReason]
      if (outcome === undefined) return
      const at = nowSeconds(clock)
      const alike = { tenant_id: tenantId, outcome, reason, at, count: 1 }
      const isShown = addTo(
        `${tenantId} ${reason} ${ip} ${path.slice(0, LIMITS.refusedPathCharactersMax)}`,
        () => isWithinBounds(tenantId),
        () => ({ ...alike, ...(ip !== '' && { ip }), app_host: host, path: shown(path) }),
      )
      if (!isShown)
        addTo(
          `${tenantId} ${reason}`,
          () => rows.size < 2 * LIMITS.refusalsListedPerMinuteMax,
          () => alike,
        )
      timer ??= setTimeout(send, gatherMs).unref()
    },
    /** What is there goes at once. */
    send,
  }
}

/** Nothing that a log, a terminal or a page would stumble over. */
const shown = (path: string) =>
  path.slice(0, LIMITS.refusedPathCharactersMax).replaceAll(/[^\x20-\x7e]/g, '?')
