/** What a revocation is in the store, and what gateways are told of it. */
import { DAY_MS, SECOND_MS } from '../../shared/clock.ts'
import { SESSION_SECONDS_FLOOR } from '../../shared/enforcement/revoked-state.ts'
import { claimsOf, type Revoked } from '../../shared/fleet/snapshot.ts'
import type { RevocationRow } from '../store/queries/revocations.ts'
import type { EndedSession, SessionTargetOfPerson } from '../store/queries/sessions.ts'

const DAY_SECONDS = DAY_MS / SECOND_MS

export const nextSecond = (ms: number): number => Math.floor(ms / SECOND_MS) + 1

/** Behind its token also where a clock that was ahead has made that. */
export const endOf = (session: EndedSession | undefined, nowMs: number): number =>
  nextSecond(Math.max(nowMs, session?.issuedAt ?? 0))

export const rowOf = (
  tenantId: string,
  sid: string,
  session: EndedSession | undefined,
  nowMs: number,
): RevocationRow => ({
  tenantId,
  ...columnsOf({ sid }),
  notBefore: endOf(session, nowMs),
  createdAt: nowMs,
  keptUntil: session?.expiresAt ?? 0,
})

export function columnsOf(target: SessionTargetOfPerson): Pick<RevocationRow, 'kind' | 'target'> {
  if ('subject' in target) return { kind: 'subject', target: target.subject }
  return { kind: 'sid', target: target.sid }
}

/** `fromEntries`, which makes even `__proto__` an entry like any other. */
export function toRevoked(rows: readonly RevocationRow[]): Revoked {
  const entries = (kind: RevocationRow['kind']) =>
    rows.filter((row) => row.kind === kind).map((row) => [row.target, row.notBefore] as const)
  const longest = rows.reduce((most, row) => Math.max(most, endedSeconds(row)), 0)
  return {
    all: Math.max(0, ...entries('all').map(([, notBefore]) => notBefore)),
    subjects: Object.fromEntries(entries('subject')),
    sids: Object.fromEntries(entries('sid')),
    ...claimsOf(Object.fromEntries(entries('claims'))),
    ...(longest > SESSION_SECONDS_FLOOR && { session_seconds: longest }),
  }
}

/** Rounded up to days: it is told to everybody whenever it becomes longer. */
function endedSeconds({ kind, notBefore, keptUntil }: RevocationRow): number {
  if (kind === 'all') return 0 // of which there is one, that nobody forgets
  const seconds = keptUntil / SECOND_MS - notBefore
  return Math.ceil(seconds / DAY_SECONDS) * DAY_SECONDS
}
