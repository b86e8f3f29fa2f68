/** What this worker knows of its connectors, told to the primary: what is new, and who is gone. */
import {
  connectorKey,
  type ConnectorHere,
  type ConnectorNews,
} from '../../shared/fleet/connector-presence.ts'
import type { Member } from './member.ts'

interface PresenceOptions {
  readonly present: () => Iterable<{ tenantId: string; member: Member }>
  readonly report: (report: ConnectorNews) => void
}

/** What happens in a burst goes together. */
const GATHER_MS = 50

export function createPresence({ present, report }: PresenceOptions) {
  const told = new Map<string, ConnectorHere>()
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    clearTimeout(timer)
    timer = undefined
    const here: ConnectorHere[] = []
    const left = new Map(told)
    for (const { tenantId, member } of present()) {
      const key = connectorKey(tenantId, member.connectorId)
      left.delete(key)
      const now = hereOf(tenantId, member)
      if (isAsTold(now, told.get(key))) continue
      told.set(key, now)
      here.push(now)
    }
    for (const key of left.keys()) told.delete(key)
    if (here.length + left.size > 0) report({ here, gone: [...left.values()] })
  }

  return {
    /** Somebody came, left, or changed. */
    soon: () => void (timer ??= setTimeout(tell, GATHER_MS).unref()),
    /** What only counts: once in a while. */
    tell,
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
  return Math.abs(now - told) <= Math.max(2, told / 5)
}
