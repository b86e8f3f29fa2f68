/**
 * What a change costs on either database: how many a second one after the other and many at once, of
 * one tenant and of fifty, and the CPU of this process and of the server. `npm run bench:changes --
 * [--delay MS]`: so much is added to each commit on the way to Postgres, as a replica far away would.
 */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../shared/clock.ts'
import type { Engine } from '../control-plane/store/engine.ts'
import { openPostgres } from '../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../control-plane/store/engines/postgres-address.ts'
import { openSqlite } from '../control-plane/store/engines/sqlite.ts'
import { upsertRecord } from '../control-plane/store/queries/realm-records.ts'
import { openStore } from '../control-plane/store/store.ts'
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

async function measure(name: string, engine: Engine, serverPid?: number) {
  const store = await openStore(engine, systemClock)
  let count = 0
  const record = (tenantId: string) => ({
    ...{ tenantId, model: 'Session', idHash: `${count % 5000}`, payloadSealed: 'x'.repeat(800) },
    ...{ grantId: null, uidHash: null, accountId: null, sid: null, consumedAt: null },
    ...{ openedBy: null, expiresAt: Date.now() + 3_600_000 },
  })
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
