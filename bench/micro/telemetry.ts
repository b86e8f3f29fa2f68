/** What the telemetry of one request costs: `npm run bench:telemetry`. */
import { RequestContext, type Edge } from '../../gateway/request/context.ts'
import type { Exchange } from '../../gateway/wire/exchange.ts'
import { createLineWriter } from '../../gateway/telemetry/line-writer.ts'
import { createWorkerTelemetry } from '../../gateway/telemetry/worker-telemetry.ts'
import { systemClock } from '../../shared/clock.ts'

const ROUNDS = 9
const REQUESTS = 200_000

function timed(name: string, run: () => void) {
  const ns: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let count = 0; count < REQUESTS; count++) run()
    const { user, system } = process.cpuUsage(before)
    ns.push(((user + system) * 1000) / REQUESTS)
  }
  ns.sort((a, b) => a - b)
  console.log(
    `${name.padEnd(40)} ${ns[0]!.toFixed(0)} ns at least, ${ns[ROUNDS >> 1]!.toFixed(0)} ns in the middle`,
  )
}

function telemetryWith(sample: number) {
  return createWorkerTelemetry({
    clock: systemClock,
    lines: createLineWriter({ write: (text, done) => done(null, text.length) }),
    sample,
    random: Math.random,
    refusals: { add() {} },
    hops: () => ({ hopsOpened: 0, hopsFailed: 0, hopsServed: 0 }),
    verifyStats: { hits: 0, misses: 0 },
  })
}

const head = {
  method: 'GET',
  host: 'app.bench.test',
  target: '/orders/4711/items?page=2',
  forwardedFor: '',
  cookies: '',
  userAgent: '',
  traceparent: '',
  tracestate: '',
  requestId: '',
}
const outcome = { status: 200, bytes: 1300, isCut: false, failure: null, upstreamMs: 0.4 }

for (const sample of [1, 0.01]) {
  const telemetry = telemetryWith(sample)
  const edge = {
    addresses: (address: string) => ({ address, chain: '', isPeerTrusted: false }),
    clock: systemClock,
    nextRequestId: () => 'prefix-1',
    isRecorded: telemetry.isRecorded,
    startTrace: telemetry.startTrace,
  } as unknown as Edge
  const exchange = {
    head,
    peerAddress: '192.0.2.7',
    startedMs: 0,
    beganMs: performance.now(),
  } as unknown as Exchange
  const tenant = { tenantId: 'acme', edgeUrls: new Map() }
  const served = { tenant, revoked: {} } as never
  const context = new RequestContext(exchange, edge, served)
  context.decision = 'forward'
  context.reason = 'session'
  timed(`trace started, sample ${sample}`, () => void telemetry.startTrace(telemetry.isRecorded()))
  timed(`counted and written, sample ${sample}`, () => telemetry.onExchangeEnd(exchange, outcome))
}
