/**
 * npm run bench:connectors -- [--cases download,idle,return,stalled,events,hop] [--connectors 1000] [--rounds 5]
 *
 * One download over a round trip of 100 ms, by a connector and by address; what a thousand idle
 * connectors cost a gateway; and how long it takes until they are served again when all come back
 * at once, and what others notice of it; what others notice of a reader that stands still; and how long
 * events take that an application sends one by one; and what one hop to another gateway's connector costs.
 */
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { freePort } from '../test/support/ports.ts'
import { LIVE_HOST, startLiveGateway } from '../test/support/live-gateway.ts'
import { SECRETS } from '../test/support/programs.ts'
import { measureHealthy, median as medianOf } from './adversity/healthy.ts'
import { CONNECTED, startConnectors } from './connector-programs.ts'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'
import { measureHop } from './hops.ts'
import { median } from './measured.ts'
import { startOrigin } from './origin.ts'
import { programPath } from './peers/peer.ts'
import { start } from './processes.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: 'download,idle,return,stalled,events,hop' },
    connectors: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
  },
})
const count = Number(values.connectors)
const rounds = Number(values.rounds)
const ROUND_TRIP_MS = 100
const DOWNLOAD_BYTES = 64 << 20
const IDLE_SECONDS = 20
/** Shorter than they take: none of it is after all are back. */
const RETURN_SECONDS = 10
const STALLED_SECONDS = 5
const EVENTS = 500
const MIB = 1 << 20

type Close = () => unknown
const closing: Close[] = []
const scope = { teardown: (close: Close) => void closing.unshift(close) }

async function startRelay(target: number, roundTripMs: number): Promise<number> {
  const port = await freePort()
  const args = [programPath('relay.ts'), String(port), String(target), String(roundTripMs)]
  const relay = await start(process.execPath, args, { port })
  for (const pid of relay.pids) setPriority(pid, constants.priority.PRIORITY_LOW)
  scope.teardown(relay.stop)
  return port
}

async function startGateway(
  tenant: Parameters<typeof startLiveGateway>[1]['tenant'],
  origin: string,
) {
  const tlsPort = await freePort()
  const config = `  tls_listen: 127.0.0.1:${tlsPort}\n  connect_address: 127.0.0.1:${tlsPort}`
  const gateway = await startLiveGateway(scope, { origin, config, ...(tenant && { tenant }) })
  return { gateway, tlsPort }
}

const connectorsAt = async (port: number, tenantIds: readonly string[], originPort: number) => {
  const connectors = await startConnectors({
    address: `127.0.0.1:${port}`,
    gatewayId: 'live',
    fleetKey: SECRETS.SERVICE_FLEET_KEY,
    tenantIds,
    originPort,
    isElsewhere: true,
  })
  scope.teardown(connectors.stop)
  return connectors
}

/** Seconds from the request to the last byte. */
function download(port: number, head: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const begunMs = performance.now()
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes < DOWNLOAD_BYTES) return
      resolve((performance.now() - begunMs) / 1000)
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('end', () => reject(new Error(`ended after ${bytes} bytes`)))
    socket.write(head)
  })
}

async function measureDownload(): Promise<void> {
  const body = Buffer.alloc(DOWNLOAD_BYTES)
  const application = createServer((_request, response) => response.end(body))
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  const { port } = application.address() as AddressInfo
  scope.teardown(() => application.close())
  const far = await startRelay(port, ROUND_TRIP_MS)
  const { gateway: byAddress } = await startGateway(undefined, `http://127.0.0.1:${far}`)
  const { gateway: byConnector, tlsPort } = await startGateway(CONNECTED, 'http://shop.internal')
  await connectorsAt(await startRelay(tlsPort, ROUND_TRIP_MS), ['app'], port)
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const without = await download(byAddress.port, byAddress.head('/'))
    const seconds = await download(byConnector.port, byConnector.head('/'))
    if (round === 0) continue // the first has the way opened
    ratios.push(seconds / without)
    console.log(`  ${without.toFixed(2)} s by address, ${seconds.toFixed(2)} s by connector`)
  }
  const spread = (Math.max(...ratios) - Math.min(...ratios)) / 2
  console.log(`  ${median(ratios).toFixed(2)}× ± ${spread.toFixed(2)} (0.90 to 1.10)`)
}

/** `/giant` without end, `/events` with an event whenever one is due, and `ok` for all else. */
async function startConnected() {
  const streams = new Set<ServerResponse>()
  const piece = Buffer.alloc(1 << 16)
  const application = createServer((request, response) => {
    if (request.url === '/events') {
      response.setHeader('content-type', 'text/event-stream')
      response.flushHeaders()
      return void streams.add(response)
    }
    if (request.url !== '/giant') return void response.end('ok')
    const pour = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', pour)
    pour()
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  scope.teardown(() => {
    application.closeAllConnections()
    application.close()
  })
  const { gateway, tlsPort } = await startGateway(CONNECTED, 'http://shop.internal')
  const { port } = application.address() as AddressInfo
  await connectorsAt(tlsPort, ['app'], port)
  await measureHealthy(gateway.port, gateway.head('/'), 5) // warm
  return { gateway, streams }
}

/** Settles with the first bytes of the answer. */
function ask(port: number, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    socket.once('error', reject)
    socket.once('readable', () => resolve(socket))
  })
}

async function measureStalled(): Promise<void> {
  const { gateway } = await startConnected()
  const measure = () => measureHealthy(gateway.port, gateway.head('/'), STALLED_SECONDS)
  const without: Awaited<ReturnType<typeof measureHealthy>>[] = []
  const beside: typeof without = []
  for (let round = 0; round < rounds; round++) {
    without.push(await measure())
    const stalled = await ask(gateway.port, gateway.head('/giant'))
    await settle()
    beside.push(await measure())
    stalled.destroy()
  }
  const [p99Ms, quietMs] = [medianOf(beside).p99Ms, medianOf(without).p99Ms]
  console.log(
    `  others’ p99 ${quietMs.toFixed(2)} ms without, ${p99Ms.toFixed(2)} ms beside one reader that stands still: ${(p99Ms / quietMs).toFixed(2)}× (at most 1.2)`,
  )
}

async function measureEvents(): Promise<void> {
  const { gateway, streams } = await startConnected()
  const client = await ask(gateway.port, gateway.head('/events'))
  const [stream] = streams
  const tookMs: number[] = []
  client.on('data', (chunk: Buffer) => {
    const nowMs = performance.now()
    for (const [, sentMs] of chunk.toString().matchAll(/data: ([\d.]+)/g))
      tookMs.push(nowMs - Number(sentMs))
  })
  for (let count = 0; count < EVENTS; count++) {
    stream!.write(`data: ${performance.now()}\n\n`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await settle()
  client.destroy()
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.ceil(tookMs.length * share) - 1]?.toFixed(2)
  const late = tookMs.filter((ms) => ms >= 20).length
  console.log(
    `  ${tookMs.length} of ${EVENTS} events: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${at(1)} ms at most; ${late} took 20 ms or more (none may)`,
  )
}

/** One tenant by address, which is asked, and so many behind a connector each. */
async function startMany() {
  const origin = await startOrigin()
  scope.teardown(() => origin.stop())
  const { gateway, tlsPort } = await startGateway(undefined, `http://127.0.0.1:${origin.port}`)
  const tenantIds = Array.from({ length: count }, (_one, at) => `connected-${at}`)
  for (const id of tenantIds)
    gateway.control.put(id, {
      edge_urls: { [`${id}.${LIVE_HOST}`]: `http://${id}.${LIVE_HOST}` },
      origin: 'http://shop.internal',
      ...CONNECTED,
    })
  await gateway.control.settled(1 + count)
  await measureHealthy(gateway.port, gateway.head('/'), 5) // warm
  const family = () => familyOf(gateway.program.child.pid!)
  return { gateway, origin, tlsPort, tenantIds, family }
}

async function measureIdle(): Promise<void> {
  const { origin, tlsPort, tenantIds, family } = await startMany()
  await settle()
  const spent = () => {
    const { userUs, kernelUs } = cpuTime(family())
    return userUs + kernelUs
  }
  const share = async () => {
    const from = spent()
    await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1000))
    return ((spent() - from) / (IDLE_SECONDS * 1e6)) * 100
  }
  const alone = await share()
  const before = residentBytes(family())
  const relay = await startRelay(tlsPort, 0)
  await connectorsAt(relay, tenantIds, origin.port)
  await settle()
  const beside = (await share()) - alone
  const grown = (residentBytes(family()) - before) / MIB
  console.log(
    `  ${count} idle connectors: ${grown.toFixed(0)} MiB (at most 80), ${beside.toFixed(2)} % CPU (at most 1) more than the ${alone.toFixed(2)} % without them`,
  )
}

async function measureReturn(): Promise<void> {
  const { gateway, origin, tlsPort, tenantIds } = await startMany()
  const connectors = await connectorsAt(await startRelay(tlsPort, 0), tenantIds, origin.port)
  const without: Awaited<ReturnType<typeof measureHealthy>>[] = []
  const beside: typeof without = []
  const seconds: number[] = []
  for (let round = 0; round < rounds; round++) {
    await settle()
    without.push(await measureHealthy(gateway.port, gateway.head('/'), RETURN_SECONDS))
    connectors.break()
    const begunMs = performance.now()
    const back = connectors.until(count).then(() => (performance.now() - begunMs) / 1000)
    beside.push(await measureHealthy(gateway.port, gateway.head('/'), RETURN_SECONDS))
    seconds.push(await back)
    const [quiet, busy] = [without.at(-1)!.p99Ms, beside.at(-1)!.p99Ms]
    console.log(
      `  back after ${seconds.at(-1)!.toFixed(1)} s; others’ p99 ${quiet.toFixed(2)} ms without, ${busy.toFixed(2)} ms beside: ${(busy / quiet).toFixed(2)}×`,
    )
  }
  const [p99Ms, quietMs] = [medianOf(beside).p99Ms, medianOf(without).p99Ms]
  const ratio = p99Ms / quietMs
  console.log(
    `  ${count} back after ${median(seconds).toFixed(1)} s, ${Math.max(...seconds).toFixed(1)} s at most (30); others’ p99 ${quietMs.toFixed(2)} ms without, ${p99Ms.toFixed(2)} ms beside: ${ratio.toFixed(2)}× (at most 2)`,
  )
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5000))

const CASES = {
  download: measureDownload,
  idle: measureIdle,
  return: measureReturn,
  stalled: measureStalled,
  events: measureEvents,
  hop: () => measureHop(scope, rounds),
}
for (const [name, run] of Object.entries(CASES)) {
  if (!values.cases.split(',').includes(name)) continue
  console.log(`\n${name}`)
  await run()
  for (const close of closing.splice(0)) await close()
}
process.exit()
