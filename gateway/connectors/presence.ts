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
      if (isAsTold(member, before?.here)) continue
      const now = hereOf(named.tenantId, member)
      told.set(key, { member, here: now })
      here.push(now)
    }
    due.clear()
    if (here.length + gone.length > 0) report({ here, gone })
  }

  /** It came, left, or may have changed. */
  function soon({ tenantId, connectorId }: Named): void {
    due.set(connectorKey(tenantId, connectorId), { tenantId, connectorId })
    timer ??= setTimeout(tell, GATHER_MS).unref()
  }

  return {
    soon,
    /** It has not been looked at for a while: of a thousand that are idle nothing is new. */
    look(member: Member): void {
      const before = told.get(connectorKey(member.tenantId, member.connectorId))
      if (!isAsTold(member, before?.here)) soon(member)
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
    state: stateOf(member),
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

function stateOf({ isDraining, isReached }: Member): ConnectorHere['state'] {
  if (isDraining) return 'draining'
  return isReached ? 'connected' : 'unreachable'
}

type IsAsTold = (member: Member, told: ConnectorHere) => boolean

/** A round trip is a little different every time, and who asks nothing else stays untold. */
const SAME = Object.values({
  tenantId: (now, told) => now.tenantId === told.tenantId,
  connectorId: (now, told) => now.connectorId === told.connectorId,
  state: (now, told) => stateOf(now) === told.state,
  reason: (now, told) => now.reason === told.reason,
  program: (now, told) => now.program === told.program,
  sinceMs: (now, told) => now.sinceMs === told.sinceMs,
  knownMs: (now, told) => now.knownMs === told.knownMs,
  connections: (now, told) => now.connections === told.connections,
  inUse: (now, told) => now.inUse === told.inUse,
  requests: (now, told) => now.requests === told.requests,
  roundTripMs: (now, told) => isAlike(now.roundTripMs, told.roundTripMs),
  lastError: (now, told) => now.lastError?.atMs === told.lastError?.atMs,
} satisfies Record<keyof ConnectorHere, IsAsTold>)

const isAsTold = (member: Member, told: ConnectorHere | undefined): boolean =>
  told !== undefined && SAME.every((isSame) => isSame(member, told))

function isAlike(now: number | null, told: number | null): boolean {
  if (now === null || told === null) return now === told
  return Math.abs(now - told) <= Math.max(5, told / 5)
}
