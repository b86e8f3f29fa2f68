/**
 * What many tenants cost: control plane and gateway as programs of their own, with few tenants and
 * with many. How long each takes to start, what it holds in memory, how long the first request to a
 * tenant waits that the gateway knows only by name, and what a change of one tenant costs.
 * `npm run bench:tenants -- [tenants] [asked]`
 *
 * The tenants are copies of one that the API has made, each with a secret of its own. All of it runs
 * on this machine over the loopback; browsers and applications are not part of it.
 */
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createVault } from '../control-plane/keys/vault.ts'
import { PURPOSES } from '../control-plane/keys/sealed-columns.ts'
import { SECRETS, startFleet, type Fleet } from '../test/support/programs.ts'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'

const [many = 100_000, asked = 5_000] = process.argv.slice(2).map(Number)
const FEW = 100
const CHANGES = 200

const TENANT = {
  tenant_id: 'bench',
  name: 'Bench',
  hostnames: ['bench.example'],
  mode: 'gateway',
  plan: 'premium',
  origin: 'http://127.0.0.1:9',
}

const nameOf = (index: number) => `t-${String(index).padStart(6, '0')}`
const hostOf = (index: number) => `${nameOf(index)}.example`

for (const tenants of [FEW, many]) await measure(tenants)

async function measure(tenants: number) {
  const closing: (() => Promise<void>)[] = []
  const fleet = await startFleet(
    { after: (work) => void closing.push(work) },
    // all who ask come from one address here, and one site may not begin so many tenants
    { workers: 2, gatewayConfig: '  trusted_proxies: ["127.0.0.1/32"]' },
  )
  await fleet.operator('POST', '/tenants', TENANT)
  await fleet.operator('POST', '/tenants/bench/publish')
  await Promise.all([fleet.controlPlane.stop(), fleet.gateways[0]!.stop()])
  fill(join(fleet.folder, 'data/service.db'), tenants)
  console.log(`\n${tenants} tenants, ${asked} of them asked for`)

  const plane = await started(
    () => fleet.startControlPlane(),
    () => fleet.controlPlane.child.pid,
  )
  told('control plane: start', plane)
  const first = await started(
    () => fleet.startGateway(0),
    () => fleet.gateways[0]?.child.pid,
  )
  await fleet.settled()
  told('gateway: start, nothing on its disk', first)
  told('control plane: memory behind it', { memory: memoryOf(fleet.controlPlane.child.pid) })

  const most = Math.min(asked, tenants)
  const waits = await askEach(fleet, most)
  told('first request to a tenant', { waits })
  told('the next one', { waits: await askEach(fleet, most) })
  told('gateway: memory behind them', { memory: memoryOf(fleet.gateways[0]?.child.pid) })
  await change(fleet, most)

  await Promise.all([fleet.gateways[0]!.stop(), fleet.controlPlane.stop()])
  const again = await started(
    () => fleet.startGateway(0),
    () => fleet.gateways[0]?.child.pid,
  )
  told('gateway: start from its disk, no control plane', again)
  told('request without a control plane', { waits: await askEach(fleet, most) })
  for (const close of closing) await close()
}

/** What is there once is multiplied; the secrets of each are its own. */
function fill(file: string, tenants: number) {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  const vault = createVault(Buffer.from(SECRETS.SERVICE_MASTER_KEY))
  database.function('sealed', (tenantId) =>
    vault.seal(
      'a client secret of a bench tenant',
      PURPOSES.clientSecret({ tenantId: String(tenantId) }),
    ),
  )
  const name = `printf('t-%06d', i)`
  const copies = (table: string, changed: Readonly<Record<string, string>>) => {
    const columns = database.pragma(`table_info(${table})`) as { name: string }[]
    const selected = columns.map((column) => changed[column.name] ?? `${table}.${column.name}`)
    database.exec(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${tenants - 1})
       INSERT INTO ${table} SELECT ${selected.join(', ')} FROM ${table}, n
       WHERE ${table}.tenant_id = 'bench'`,
    )
  }
  database.exec('BEGIN')
  copies('tenants', {
    tenant_id: name,
    name: `'Bench ' || i`,
    number: 'tenants.number + 1 + i',
    protection: `'on'`,
    analyzer_key_hash: `'hash-' || i`,
    client_secret_sealed: `sealed(${name})`,
    client_secret_hash: `'hash-' || i`,
    revision: 'tenants.revision + 1 + i',
  })
  copies('tenant_hostnames', { tenant_id: name, hostname: `${name} || '.example'` })
  copies('signing_keys', { tenant_id: name, kid: `'kid-' || i` })
  database.exec(`UPDATE counters SET value = value + ${tenants + 1} WHERE name = 'revision'`)
  database.exec('COMMIT')
  database.close()
}

interface Told {
  readonly ms?: number
  readonly cpuMs?: number
  readonly memory?: number
  readonly waits?: readonly number[]
}

async function started(start: () => Promise<void>, pid: () => number | undefined): Promise<Told> {
  const startMs = performance.now()
  await start()
  const ms = performance.now() - startMs
  const family = familyOf(pid() ?? 0)
  const { userUs, kernelUs } = cpuTime(family)
  return { ms, cpuMs: (userUs + kernelUs) / 1000, memory: residentBytes(family) }
}

function memoryOf(pid = 0): number {
  return residentBytes(familyOf(pid))
}

/** A few at a time, each tenant once: somebody without a session, who is sent to sign in. */
async function askEach(fleet: Fleet, tenants: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const waits: number[] = []
  let next = 0
  const one = async () => {
    while (next < tenants) {
      const host = hostOf(next++)
      const startMs = performance.now()
      const status = await statusOf(fleet.gatewayPorts[0] ?? 0, host, agent)
      if (status !== 302) throw new Error(`${host} answered ${status}`)
      waits.push(performance.now() - startMs)
    }
  }
  await Promise.all([one(), one(), one(), one()])
  agent.destroy()
  return waits
}

function statusOf(port: number, host: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, accept: 'text/html' }
    get({ host: '127.0.0.1', port, agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}

/** Of tenants that are served: what all programs do for one change, one after the other. */
async function change(fleet: Fleet, tenants: number) {
  const pids = [fleet.controlPlane, ...fleet.gateways].flatMap(({ child }) =>
    familyOf(child.pid ?? 0),
  )
  const before = cpuTime(pids)
  const waits: number[] = []
  for (let round = 0; round < CHANGES; round++) {
    const startMs = performance.now()
    const path = `/tenants/${nameOf(round % tenants)}`
    const { status } = await fleet.operator('PATCH', path, { name: `Round ${round}` })
    if (status !== 200) throw new Error(`the change of ${path} answered ${status}`)
    waits.push(performance.now() - startMs)
  }
  const after = cpuTime(pids)
  const cpuUs = after.userUs + after.kernelUs - before.userUs - before.kernelUs
  told('a change, until the gateway has it', { waits, cpuMs: cpuUs / 1000 / CHANGES })
}

function told(what: string, { ms, cpuMs, memory, waits }: Told) {
  const sorted = [...(waits ?? [])].sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  const figures = [
    ms === undefined ? '' : `${(ms / 1000).toFixed(2)} s`,
    cpuMs === undefined ? '' : `${cpuMs.toFixed(cpuMs < 100 ? 2 : 0)} ms of CPU`,
    memory === undefined ? '' : `${(memory / 2 ** 20).toFixed(0)} MiB`,
    waits === undefined ? '' : `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`,
  ]
  console.log(`${what.padEnd(48)}${figures.filter((figure) => figure !== '').join(', ')}`)
}
