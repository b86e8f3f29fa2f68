/**
 * How long a burst of events takes to arrive, with some of the receivers dead: every receiver is
 * one webhook of one tenant, and all events are committed as fast as the store takes them.
 * `npm run bench:webhooks -- [events] [receivers] [dead]`
 *
 * The dispatcher runs in this process on a database on disk, as in the control plane; the receivers
 * are real HTTPS servers in another process, every connection to one is a new handshake. Both share
 * the machine, so the time of the receivers is in the figures. It does not measure the network.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { createServices } from '../control-plane/services/services.ts'
import { openSqlite } from '../control-plane/store/engines/sqlite.ts'
import { countAllPending } from '../control-plane/webhooks/queue.ts'
import { SECOND_MS, systemClock as clock } from '../shared/clock.ts'
import { tenantNamed } from '../test/support/control-plane.ts'
import { createTestAuthority } from '../test/support/test-certificates.ts'
import { folder, writeText } from './processes.ts'
import { createLiveKey } from '../control-plane/keys/live-key.ts'

const [events = 5000, receivers = 200, dead = 10] = process.argv.slice(2).map(Number)
const healthy = receivers - dead
const PER_CHANGE = 20
const POLL_MS = 50
const PATIENCE_MS = 120 * SECOND_MS
const ACTOR = { name: 'bench', requestId: 'bench' }

interface Arrived {
  readonly waitsMs: readonly number[]
  readonly lastMs: number
}

const endings: (() => unknown)[] = []
const authority = createTestAuthority({ teardown: (work) => void endings.push(work) })
const leaf = authority.issue('localhost')
const files = [writeText('key', leaf.private_key_pem), writeText('cert', leaf.certificate_pem)]
const program = fork(
  new URL('programs/webhook-receivers.ts', import.meta.url),
  [healthy, dead, ...files].map(String),
)
const [ports] = (await once(program, 'message')) as [number[]]

const services = await createServices({
  engine: openSqlite(join(folder, 'webhooks.db')),
  masterKey: Buffer.alloc(32, 1),
  fleetKey: createLiveKey('bench'),
  baseUrl: 'http://localhost:8080',
  edgeUrlFor: (hostname) => `http://${hostname}`,
  mailTransport: { send: () => Promise.resolve(), close: () => undefined },
  receivers: { allowPrivate: ['127.0.0.0/8'], egressProxy: null, ca: authority.caPem },
  clock,
  log: pino({ level: 'error' }),
})
for (const [index, port] of ports.entries()) {
  const tenantId = `t${index}`
  await services.tenants.create(tenantNamed(tenantId, { plan: 'premium' }), ACTOR)
  const url = `https://localhost:${port}/`
  await services.webhooks.create(
    tenantId,
    { url, events: ['tenant.suspended'], description: '' },
    ACTOR,
  )
}

let residentMax = process.memoryUsage.rss()
const residentBefore = residentMax
const watching = setInterval(() => {
  residentMax = Math.max(residentMax, process.memoryUsage.rss())
}, POLL_MS)

const cpuBefore = process.cpuUsage()
const startedMs = Date.now()
for (let made = 0; made < events; made += PER_CHANGE)
  await services.store.change(async (change) => {
    for (let at = made; at < Math.min(events, made + PER_CHANGE); at++)
      await change.emit('tenant.suspended', `t${at % receivers}`, { status: 'suspended' })
  })
const committedMs = Date.now()

const wanted = ports.slice(0, healthy).map((_, index) => Math.ceil((events - index) / receivers))
let arrived: Arrived[] = []
while (Date.now() - startedMs < PATIENCE_MS) {
  await pause(POLL_MS)
  program.send('what has arrived?')
  ;[arrived] = (await once(program, 'message')) as [Arrived[]]
  if (arrived.every(({ waitsMs }, index) => waitsMs.length >= wanted[index]!)) break
}
const cpu = process.cpuUsage(cpuBefore)
clearInterval(watching)

const total = wanted.reduce((sum, count) => sum + count, 0)
const lastMs = Math.max(...arrived.map((one) => one.lastMs)) - startedMs
const waitsMs = arrived.flatMap((one) => one.waitsMs).sort((one, other) => one - other)
const wait = (share: number) => `${waitsMs[Math.ceil(waitsMs.length * share) - 1]} ms`
print('events, receivers, dead among them', `${events}, ${receivers}, ${dead}`)
print('arrived at the healthy ones', `${waitsMs.length} of ${total}`)
print('from event to arrival: median, 99 %, longest', [0.5, 0.99, 1].map(wait).join(', '))
print('all committed after, all arrived after', `${committedMs - startedMs} ms, ${lastMs} ms`)
print('deliveries per second', String(Math.round((total / lastMs) * SECOND_MS)))
print('CPU of this process per delivery', `${Math.round((cpu.user + cpu.system) / total)} µs`)
print('memory before, and at most', `${mebibytes(residentBefore)}, ${mebibytes(residentMax)} MiB`)
print('still waiting, all for the dead', String(await countAllPending(services.store.read)))

program.disconnect()
await services.close()
for (const end of endings) await end()

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function print(what: string, figure: string) {
  process.stdout.write(`${what.padEnd(48)}${figure}\n`)
}
