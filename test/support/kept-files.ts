/** A gateway's disk as a test sees it: filled by real writes, damaged by hand. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  openLastKnownGood,
  type StoredTenant,
} from '../../gateway/last-known-good/last-known-good.ts'
import { RevokedState } from '../../shared/enforcement/revoked-state.ts'
import { createReplica, type Replica } from '../../gateway/fleet/replica.ts'
import { createTenantRegistry, type TenantRegistry } from '../../gateway/tenants/registry.ts'
import { createPortPair } from './port-pair.ts'
import type { WorkerPort } from '../../gateway/fleet/relay-messages.ts'
import { createRelay } from '../../gateway/fleet/relay.ts'
import { followRelay } from '../../gateway/fleet/relay-follower.ts'
import { systemClock } from '../../shared/clock.ts'
import { Roster } from '../../gateway/last-known-good/roster.ts'
import type { Revoked, TenantSnapshot, UpMessage } from '../../shared/fleet/snapshot.ts'
import { snapshotOf } from './fleet-source.ts'
import { compileForTest, createTestLog, FLEET_KEY, type LogLine, type TestTenant } from './fleet.ts'

export interface KeptState {
  readonly tenants: readonly Partial<TenantSnapshot>[]
  readonly revoked?: Readonly<Record<string, Revoked>>
}

/** Writes each tenant in the given order: the same tenant twice makes two generations. */
export async function fillDisk(folder: string, { tenants, revoked = {} }: KeptState) {
  const disk = openLastKnownGood({
    directory: folder,
    fleetKey: FLEET_KEY,
    log: createTestLog().log,
  })
  disk.load()
  const roster = new Roster()
  let revision = 0
  for (const change of tenants) {
    const snapshot = snapshotOf(change.tenant_id ?? 'ada', change)
    await disk.saveTenant(storedOf(snapshot))
    roster.add(snapshot.tenant_id)
    revision = Math.max(revision, snapshot.revision)
  }
  for (const [tenantId, state] of Object.entries(revoked)) {
    const whole = new RevokedState()
    whole.merge(state, 0)
    await disk.saveRevoked(tenantId, whole)
  }
  await disk.savePosition({ epoch: 'epoch-1', revision, sync: 1, ...roster.written() })
  await disk.saveSettings({ base_url: 'http://localhost:8080' })
  await disk.close()
}

export function storedOf(snapshot: TenantSnapshot): StoredTenant {
  return {
    tenantId: snapshot.tenant_id,
    synced: { sync: 1, revision: snapshot.revision },
    hash: `hash-${snapshot.revision}`,
    version: `${snapshot.revision}.f`,
    snapshot,
    hostnames: Object.keys(snapshot.edge_urls),
    isProtected: snapshot.protection === 'on',
    isSuspended: snapshot.status === 'suspended',
    atStart: { bytes: 2_000, sessionSeconds: snapshot.max_session_seconds },
  }
}

export interface Restarted {
  readonly registry: TenantRegistry<TestTenant>
  readonly replica: Replica
  /** Of its one worker. */
  readonly port: WorkerPort
  readonly lines: LogLine[]
  readonly sent: UpMessage[]
  close(): Promise<void>
}

/** A gateway that starts from this disk and has no control plane. */
export async function restart(folder: string, fleetKey = FLEET_KEY): Promise<Restarted> {
  const { log, lines } = createTestLog()
  const sent: UpMessage[] = []
  const disk = openLastKnownGood({ directory: folder, fleetKey, log })
  const relay = createRelay({
    log,
    state: () => replica.state(),
    onFailed: () => {},
    onReport: () => {},
  })
  const replica = createReplica({
    clock: systemClock,
    log,
    disk,
    validate: (snapshot) => void compileForTest(snapshot),
    relay: (change, only) => relay.send(change, only),
    send: (message) => sent.push(message) > 0,
  })
  replica.restore(disk.load())
  const ports = createPortPair()
  const registry = createTenantRegistry({ clock: systemClock, compile: compileForTest })
  const follower = followRelay({ port: ports.primary, registry, log })
  relay.attach(ports.worker)
  await follower.ready
  return {
    registry,
    replica,
    port: ports.worker,
    lines,
    sent,
    async close() {
      relay.close()
      ports.close()
      follower.close()
      await disk.close()
    },
  }
}

export type Damage = (path: string) => void

const rewrite =
  (change: (bytes: Buffer) => Buffer): Damage =>
  (path) =>
    writeFileSync(path, change(readFileSync(path)))

/** Everything that a disk, a crash or a careless hand does to a file. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'is gone': (path) => rmSync(path),
  'is empty': rewrite(() => Buffer.alloc(0)),
  'has one byte': rewrite((bytes) => bytes.subarray(0, 1)),
  'is cut in half': rewrite((bytes) => bytes.subarray(0, bytes.length >> 1)),
  'lacks its last byte': rewrite((bytes) => bytes.subarray(0, -1)),
  'has a byte too many': rewrite((bytes) => Buffer.concat([bytes, Buffer.from([0])])),
  'is all zeros': rewrite((bytes) => Buffer.alloc(bytes.length)),
  'is text': rewrite(() => Buffer.from('{"protection":"pass-through"}')),
  'has its first byte flipped': flip(() => 0),
  'has its version flipped': flip(() => 4),
  'has its nonce flipped': flip(() => 8),
  'has its tag flipped': flip(() => 20),
  'has its first content byte flipped': flip(() => 33),
  'has a middle byte flipped': flip((length) => length >> 1),
  'has its last byte flipped': flip((length) => length - 1),
}

function flip(at: (length: number) => number): Damage {
  return rewrite((bytes) => {
    const flipped = Buffer.from(bytes)
    flipped[at(bytes.length)]! ^= 1
    return flipped
  })
}

export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

export function damage(folder: string, name: string, how: Damage): void {
  if (existsSync(join(folder, name))) how(join(folder, name))
}
