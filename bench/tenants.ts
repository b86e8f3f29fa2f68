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
import type { Fleet } from '../test/support/programs.ts'
import { copyTenant, ID, idOf, shareOfWaits, startedOnce } from './copied-tenants.ts'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'

const [many = 100_000, asked = 5_000] = process.argv.slice(2).map(Number)
const FEW = 100
const CHANGES = 200

const hostOf = (index: number) => `${idOf(index)}.example`

for (const tenants of [FEW, many]) await measure(tenants)

async function measure(tenants: number) {
  const closing: (() => Promise<void>)[] = []
  // all who ask come from one address here, and one site may not begin so many tenants
  const fleet = await startedOnce(closing, '  trusted_proxies: ["127.0.0.1/32"]')
  copyTenant(join(fleet.folder, 'data/service.db'), tenants, ({ copies }) =>
    copies('tenant_hostnames', { tenant_id: ID, hostname: `${ID} || '.example'` }),
  )
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
    const path = `/tenants/${idOf(round % tenants)}`
    const { status } = await fleet.operator('PATCH', path, { name: `Round ${round}` })
    if (status !== 200) throw new Error(`the change of ${path} answered ${status}`)
    waits.push(performance.now() - startMs)
  }
  const after = cpuTime(pids)
  const cpuUs = after.userUs + after.kernelUs - before.userUs - before.kernelUs
  told('a change, until the gateway has it', { waits, cpuMs: cpuUs / 1000 / CHANGES })
}

function told(what: string, { ms, cpuMs, memory, waits }: Told) {
  const figures = [
    ms === undefined ? '' : `${(ms / 1000).toFixed(2)} s`,
    cpuMs === undefined ? '' : `${cpuMs.toFixed(cpuMs < 100 ? 2 : 0)} ms of CPU`,
    memory === undefined ? '' : `${(memory / 2 ** 20).toFixed(0)} MiB`,
    waits === undefined ? '' : shareOfWaits(waits),
  ]
  console.log(`${what.padEnd(48)}${figures.filter((figure) => figure !== '').join(', ')}`)
}
