/**
 * A database that takes no changes for a while. Whatever was acknowledged is there, whoever asks
 * meanwhile is told to come again, and nobody has to help.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { failCalls } from '../../test/support/failing-calls.ts'
import { beginRun, type FaultReport } from './judged.ts'
import { startWorld, untilTrue, type DatabaseKind, type Teardown, type World } from './world.ts'

interface Unwritable {
  readonly kind: DatabaseKind
  readonly disk?: { readonly megabytes?: number; readonly isSynced?: boolean }
  /** Answers what ends it. */
  begin(world: World): Promise<() => Promise<void>>
  /** What the health check says of it; undefined: the server may say nothing any more. */
  readonly says?: string
}

/** SQLite's writes, as on a disk that the kernel has made read-only behind an error of its own. */
const WRITES = ['pwrite64', 'ftruncate']
const SYNCS = ['fsync', 'fdatasync']

const failing = (calls: readonly string[], error: string) => (world: World) =>
  failCalls(world.databasePids(), calls, error)

const WAYS = {
  full: { kind: 'sqlite', disk: { megabytes: 24 }, begin: fillDisk, says: 'is full' },
  'full-server': { kind: 'postgres', disk: { megabytes: 160 }, begin: fillDisk },
  sync: { kind: 'sqlite', begin: failing(SYNCS, 'EIO'), says: 'reports errors' },
  'sync-server': {
    kind: 'postgres',
    disk: { isSynced: true },
    async begin(world) {
      const end = await failing(SYNCS, 'EIO')(world)
      return async () => {
        await end()
        await world.startDatabase() // as whoever looks after it does: its start has failed, too
      }
    },
  },
  'read-only': {
    kind: 'sqlite',
    begin: failing(WRITES, 'EROFS'),
    says: 'reports errors',
  },
  'read-only-server': {
    kind: 'postgres',
    async begin(world) {
      await world.setDatabase('default_transaction_read_only', 'on')
      return () => world.setDatabase('default_transaction_read_only', 'off')
    },
    says: 'is read-only',
  },
} as const satisfies Record<string, Unwritable>

async function fillDisk(world: World) {
  world.fillDisk()
  return () => world.emptyDisk()
}

export const UNWRITABLE = Object.fromEntries(
  Object.entries(WAYS).map(([name, way]) => [
    name,
    (t: Teardown, options: { readonly seconds: number }) => withoutWrites(t, options, way),
  ]),
) as Record<
  keyof typeof WAYS,
  (t: Teardown, options: { readonly seconds: number }) => Promise<FaultReport>
>

const OK = 200
const PROBE_MS = 250
const SIGN_INS = 4

async function withoutWrites(
  t: Teardown,
  { seconds }: { readonly seconds: number },
  { kind, disk = {}, begin, says }: Unwritable,
): Promise<FaultReport> {
  const world = await startWorld(t, kind, 1, disk)
  const { load, judge } = await beginRun(t, world, () => {})
  await untilTrue(async () => load.figures().signIns >= SIGN_INS, 'people who are signed in')
  const pid = world.pidOf(0)
  const brokenMs = performance.now()
  const end = await begin(world)
  await untilTrue(async () => (await world.ready(0)).status !== OK, 'one that knows of it')
  const knownMs = performance.now() - brokenMs
  const said = new Set<string>()
  const acknowledged = load.count('acknowledged')
  while (performance.now() - brokenMs < seconds * 1000) {
    said.add((await world.ready(0)).text)
    await sleep(PROBE_MS)
  }
  const meanwhile = load.count('acknowledged') - acknowledged
  const before = load.count('acknowledged')
  const mendedMs = performance.now()
  await end()
  await untilTrue(async () => (await world.ready(0)).status === OK, 'one that is ready again')
  const readyMs = performance.now() - mendedMs
  await untilTrue(async () => load.count('acknowledged') > before, 'a change that goes through')
  const isTold = says === undefined || [...said].every((text) => text.includes(says))
  return judge(
    {
      'ms until it said so': Math.round(knownMs),
      'ms until it was ready again': Math.round(readyMs),
      'changes acknowledged meanwhile': meanwhile,
    },
    [
      ...(isTold ? [] : [`it said ${[...said].join(' ')}`]),
      ...(world.pidOf(0) === pid ? [] : ['the control plane had to begin anew']),
    ],
  )
}
