/**
 * What a change costs on either database: how many a second one after the other and many at once, of
 * one tenant and of fifty, and the CPU of this process and of the server. `npm run bench:changes --
 * [--delay MS]`: so much is added to each commit on the way to Postgres, as a replica far away would.
 */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { createAttempts, type OwnFacts } from '../control-plane/accounts/attempts.ts'
import { DEFAULT_POLICIES } from '../control-plane/policy/policies.ts'
import { createSessions } from '../control-plane/sessions/sessions.ts'
import { schema } from '../control-plane/store/schema.ts'
import { systemClock } from '../shared/clock.ts'
import type { Engine } from '../control-plane/store/engine.ts'
import { openPostgres } from '../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../control-plane/store/engines/postgres-address.ts'
import { openSqlite } from '../control-plane/store/engines/sqlite.ts'
import { upsertRecord } from '../control-plane/store/queries/realm-records.ts'
import { openStore, type Store } from '../control-plane/store/store.ts'
import { ADMIN, startPostgres } from '../test/support/postgres.ts'

const SECONDS = 3
const AT_ONCE = 200
const MS_PER_TICK = 10
const delayMs = Number(process.argv[process.argv.indexOf('--delay') + 1] ?? 0) || 0

/** Holds up each message that ends in COMMIT. */
async function startRelay(port: number): Promise<number> {
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const end = () => void (near.destroy(), far.destroy())
    for (const socket of [near, far]) socket.setNoDelay(true).on('error', end).on('close', end)
    near.on('data', (chunk) => {
      if (delayMs > 0 && chunk.includes('; COMMIT')) setTimeout(() => far.write(chunk), delayMs)
      else far.write(chunk)
    })
    far.on('data', (chunk) => void near.write(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return (server.address() as AddressInfo).port
}

/** Of all processes of a server, as Linux counts it. */
function serverCpuMs(pid: number | undefined): number {
  if (pid === undefined) return 0
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return [String(pid), ...children].reduce((sum, one) => sum + ticksOf(one) * MS_PER_TICK, 0)
}

function ticksOf(pid: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return 0 // it has just ended
  }
}

const TENANT: typeof schema.tenants.$inferInsert = {
  ...{ tenantId: '', name: 'Bench', mode: 'gateway', plan: 'premium', status: 'published' },
  ...{ protection: 'on', licence: 'active', licenceBlocksSignin: false, sealed: [], excluded: [] },
  ...{ origin: 'http://127.0.0.1:9000', health: '/', maxSessionSeconds: 28_800, idleSeconds: 900 },
  ...{ sessionBinding: 'off', clientSecretSealed: '', clientSecretHash: '', revision: 0 },
  ...{ analyzerKeySealed: '', analyzerKeyHash: '', createdAt: 0, updatedAt: 0 },
}
const FACTS: OwnFacts = {
  ...{ at: 0, address: '192.0.2.1', password: 'right', passwordChangedAt: null, factors: [] },
  ...{
    device: { isKnown: true, isNetworkKnown: true },
    proof: 'none',
    isStepUp: false,
    sessions: 0,
  },
}

/** What a realm writes of one: the record of the provider twice, the attempt, the session. */
function signIns(store: Store, record: (tenantId: string) => Parameters<typeof upsertRecord>[1]) {
  const attempts = createAttempts({ store, vault: { hash: (text) => text }, clock: systemClock })
  const sessions = createSessions({ store, clock: systemClock })
  return async (tenantId: string) => {
    const who = { tenantId, userId: undefined, ip: '192.0.2.1', userAgent: 'bench' }
    const attempt = { ...who, loginHash: randomUUID(), countedAs: '192.0.2.1' }
    const save = () => store.changeOf(tenantId, (c) => upsertRecord(c.queries, record(tenantId)))
    await save()
    const facts = { ...FACTS, at: Math.floor(Date.now() / 1000) }
    await store.changeOf(tenantId, (c) => attempts.settle(c, attempt, facts, DEFAULT_POLICIES))
    await save()
    const issuedAtMs = Date.now()
    const times = { issuedAtMs, expiresAtMs: issuedAtMs + 3_600_000 }
    await sessions.record({ ...who, ...times, userId: 'u', sid: randomUUID() })
  }
}

async function measure(name: string, engine: Engine, serverPid?: number) {
  const store = await openStore(engine, systemClock)
  let count = 0
  const record = (tenantId: string) => ({
    ...{ tenantId, model: 'Session', idHash: `${count % 5000}`, payloadSealed: 'x'.repeat(800) },
    ...{ grantId: null, uidHash: null, accountId: null, sid: null, consumedAt: null },
    ...{ openedBy: null, expiresAt: Date.now() + 3_600_000 },
  })
  for (let at = 0; at < 50; at++)
    await store.change(({ queries }) =>
      queries
        .insert(schema.tenants)
        .values({ ...TENANT, tenantId: `t${at}`, analyzerKeyHash: `t${at}`, number: at + 1 }),
    )
  const signIn = signIns(store, record)
  const kinds = {
    'one after the other': {
      atOnce: 1,
      one: () => store.change(({ queries }) => upsertRecord(queries, record('t0'))),
    },
    'that raise the revision': {
      atOnce: AT_ONCE,
      one: () => store.change((change) => change.touch('t0')),
    },
    'of one tenant': {
      atOnce: AT_ONCE,
      one: () => store.changeOf('t0', ({ queries }) => upsertRecord(queries, record('t0'))),
    },
    'of 50 tenants': {
      atOnce: AT_ONCE,
      one: () => {
        const id = `t${count % 50}`
        return store.changeOf(id, ({ queries }) => upsertRecord(queries, record(id)))
      },
    },
    'sign-ins of one tenant': { atOnce: AT_ONCE, one: () => signIn('t0') },
    'sign-ins of 50 tenants': { atOnce: AT_ONCE, one: () => signIn(`t${count % 50}`) },
  }
  for (const [kind, { atOnce, one }] of Object.entries(kinds)) {
    count = 0
    const [cpu, server, begin] = [process.cpuUsage(), serverCpuMs(serverPid), performance.now()]
    const goOn = async () => {
      while (performance.now() - begin < SECONDS * 1000) {
        count++
        await one()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, goOn))
    const seconds = (performance.now() - begin) / 1000
    const used = process.cpuUsage(cpu)
    const own = (used.user + used.system) / 1000 / count
    const theirs = (serverCpuMs(serverPid) - server) / count
    console.log(
      `${name.padEnd(9)} ${kind.padEnd(24)} ${(count / seconds).toFixed(0).padStart(6)} /s  CPU ${own.toFixed(2)} ms here, ${theirs.toFixed(2)} ms there`,
    )
  }
  await store.close()
}

const ends: (() => unknown)[] = []
const folder = mkdtempSync(join(tmpdir(), 'bench-changes-'))
try {
  if (delayMs === 0) await measure('SQLite', openSqlite(join(folder, 'service.db')))
  const server = await startPostgres({ teardown: (end) => void ends.push(end) }, undefined, {
    fsync: 'on',
  })
  const port = await startRelay(server.port)
  const url = `postgres://${ADMIN.user}:${encodeURIComponent(ADMIN.password)}@127.0.0.1:${port}/postgres`
  await measure('Postgres', await openPostgres(postgresAddress(url)), server.pid())
} finally {
  for (const end of ends.reverse()) await end()
  rmSync(folder, { recursive: true, force: true })
}
