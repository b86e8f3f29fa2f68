/** What this worker knows of its connectors, told to the primary: what is new, and who is gone. */
import {
  connectorKey,
  type ConnectorHere,
  type ConnectorNews,
} from '../../shared/fleet/connector-presence.ts'
import type { Member } from './member.ts'

/** Whose state it is: of each connector the connections that its requests go to. */
interface Named {
  readonly tenantId: string
  readonly connectorId: string
}

interface PresenceOptions {
  readonly find: (named: Named) => Member | undefined
  readonly report: (report: ConnectorNews) => void
}

/** What happens in a burst goes together. */
const GATHER_MS = 50

export function createPresence({ find, report }: PresenceOptions) {
  /** And of which of its control connections. */
  const told = new Map<string, { readonly member: Member; readonly here: ConnectorHere }>()
  const due = new Map<string, Named>()
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    timer = undefined
    const here: ConnectorHere[] = []
    const gone: ConnectorHere[] = []
    for (const [key, named] of due) {
      const member = find(named)
      const before = told.get(key)
      if (member === undefined) {
        told.delete(key)
        if (before !== undefined) gone.push(before.here)
        continue
      }
      const now = hereOf(named.tenantId, member)
      if (isAsTold(now, before?.here)) continue
      told.set(key, { member, here: now })
      here.push(now)
    }
    due.clear()
    if (here.length + gone.length > 0) report({ here, gone })
  }

  return {
    /** It came, left, may have changed, or has not been looked at for a while. */
    soon({ tenantId, connectorId }: Named): void {
      due.set(connectorKey(tenantId, connectorId), { tenantId, connectorId })
      timer ??= setTimeout(tell, GATHER_MS).unref()
    },
    /** It is about to be forgotten: what it has answered since it was told is not, where it was told last. */
    last(member: Member): void {
      const { tenantId, connectorId, requests } = member
      const key = connectorKey(tenantId, connectorId)
      const before = told.get(key)
      if (before?.member !== member || requests <= before.here.requests) return
      const here = { ...before.here, requests }
      told.set(key, { member, here })
      report({ here: [here], gone: [] })
    },
    close: () => clearTimeout(timer),
  }
}

function hereOf(tenantId: string, member: Member): ConnectorHere {
  const { connectorId, program, reason, sinceMs, knownMs, lastError, roundTripMs } = member
  return {
    tenantId,
    connectorId,
    state: member.isDraining ? 'draining' : member.isReached ? 'connected' : 'unreachable',
    reason,
    program,
    sinceMs,
    knownMs,
    connections: member.connections,
    inUse: member.inUse,
    requests: member.requests,
    roundTripMs,
    lastError,
  }
}

/** A round trip is a little different every time, and who asks nothing else stays untold. */
function isAsTold(now: ConnectorHere, told: ConnectorHere | undefined): boolean {
  if (told === undefined) return false
  const { roundTripMs, lastError, ...rest } = now
  return (
    Object.entries(rest).every(([name, value]) => told[name as keyof ConnectorHere] === value) &&
    isAlike(roundTripMs, told.roundTripMs) &&
    lastError?.atMs === told.lastError?.atMs
  )
}

function isAlike(now: number | null, told: number | null): boolean {
  if (now === null || told === null) return now === told
  return Math.abs(now - told) <= Math.max(5, told / 5)
}
