import t from 'tap'
import { decisionCounts } from '../../../gateway/telemetry/decision-counts.ts'
import { createGatherer, type ReportingWorker } from '../../../gateway/telemetry/gather.ts'
import { createMetrics } from '../../../gateway/telemetry/metrics.ts'
import type { WorkerReport } from '../../../gateway/telemetry/messages.ts'
import {
  createWorkerCounter,
  OTHER_TENANTS,
  OUTCOMES,
  type CountedRequest,
} from '../../../gateway/telemetry/worker-counts.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { clockOf } from '../../support/clocks.ts'

const STATE = {
  link: {
    epoch: 'e',
    revision: 7,
    tenants: 3,
    rejected: 1,
    isConfigured: true,
    isDamaged: false,
    isConnected: true,
    syncedMs: 1000,
    workersReady: 2,
    isDiskHealthy: true,
    correctionMs: 0,
  },
  workersWanted: 2,
  workersServing: 2,
}
const GAUGES = {
  connections: 5,
  inFlight: 1,
  webSockets: 0,
  upstreamSockets: 4,
  upstreamIdle: 3,
  upstreamWaiting: 0,
  hopsOver: 0,
  hopsServed: 0,
  loopLagMs: 12,
  cpuMs: 1500,
  residentBytes: 1e8,
}

const request = (change: Partial<CountedRequest> = {}): CountedRequest => ({
  tenantId: 'acme',
  decision: 'forward',
  reason: 'session',
  status: 200,
  bytes: 100,
  isCut: false,
  failureCode: '',
  ms: 3,
  upstreamMs: 2,
  ...change,
})

const counter = () =>
  createWorkerCounter(() => ({
    verifyHits: 0,
    verifyMisses: 0,
    linesDropped: 0,
    hopsOpened: 0,
    hopsFailed: 0,
    hopsServed: 0,
  }))

async function samplesOf(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.text(STATE)
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
  )
}

t.test('the counts of all workers are added up, and each is told once', async (t) => {
  const metrics = createMetrics({ id: 'edge-1', version: '1.0.0', clock: clockOf(() => 61_000) })
  const [one, two] = [counter(), counter()]
  for (let count = 0; count < 3; count++) one.count(request())
  two.count(request())
  two.count(request({ status: 502, failureCode: 'upstream_refused', upstreamMs: -1, ms: 700 }))
  two.count(request({ tenantId: '', decision: 'refuse', reason: 'host_unknown', status: 404 }))
  two.count(request({ decision: 'sign_in', reason: 'no_session', status: 302, isCut: true }))
  two.countRefusedHead('bad_host')
  const report = (from: typeof one): WorkerReport => ({ counts: from.take(), gauges: GAUGES })
  metrics.absorb(1, report(one))
  metrics.absorb(2, report(two))
  metrics.absorb(1, report(one)) // nothing new
  const samples = await samplesOf(metrics)
  const requests = (labels: string) => samples.get(`gateway_requests_total{${labels}}`)
  t.equal(requests('tenant="acme",decision="forward",reason="session",status="2xx"'), '4')
  t.equal(requests('tenant="acme",decision="forward",reason="session",status="5xx"'), '1')
  t.equal(requests('tenant="",decision="refuse",reason="host_unknown",status="4xx"'), '1')
  t.equal(requests('tenant="acme",decision="sign_in",reason="no_session",status="3xx"'), '1')
  t.equal(samples.get('gateway_upstream_errors_total{code="upstream_refused"}'), '1')
  t.equal(samples.get('gateway_refused_heads_total{code="bad_host"}'), '1')
  t.equal(samples.get('gateway_requests_cut_total'), '1')
  t.equal(samples.get('gateway_response_bytes_total'), '700')
  const bucket = (le: string) =>
    samples.get(`gateway_request_duration_seconds_bucket{answered_by="application",le="${le}"}`)
  t.equal(bucket('0.0025'), '0')
  t.equal(bucket('0.005'), '4')
  t.equal(bucket('0.5'), '4')
  t.equal(bucket('1'), '5')
  t.equal(bucket('+Inf'), '5')
  t.equal(samples.get('gateway_request_duration_seconds_sum{answered_by="application"}'), '0.712')
  t.equal(samples.get('gateway_upstream_first_byte_seconds_count'), '6')
  t.equal(samples.get('gateway_connections{worker="2"}'), '5')
  t.equal(samples.get('gateway_upstream_connections{state="busy"}'), '2')
  t.equal(samples.get('gateway_snapshot_revision'), '7')
  t.equal(samples.get('gateway_snapshot_age_seconds'), '60')
  t.equal(samples.get('gateway_tenants_rejected'), '1')
  t.equal(samples.get('gateway_link_connected'), '1')
})

t.test('the longest delay between two scrapes is shown, whoever asked in between', async (t) => {
  const metrics = createMetrics({ id: 'edge-1', version: '1.0.0', clock: clockOf(() => 0) })
  const report = (loopLagMs: number) => ({
    counts: counter().take(),
    gauges: { ...GAUGES, loopLagMs },
  })
  for (const loopLagMs of [3, 80, 5]) metrics.absorb(1, report(loopLagMs))
  const lag = async () =>
    (await samplesOf(metrics)).get('gateway_event_loop_lag_seconds{worker="1"}')
  t.equal(await lag(), '0.08')
  metrics.absorb(1, report(4))
  t.equal(await lag(), '0.004', 'since it was last asked for')
})

t.test('the control plane is told of decisions about tenants, and of nothing else', async (t) => {
  const counted = counter()
  for (const status of [200, 200, 502]) counted.count(request({ status }))
  counted.count(request({ decision: 'refuse', reason: 'sealed', status: 404 }))
  counted.count(request({ tenantId: 'beta', decision: 'sign_in', reason: 'idle', status: 302 }))
  for (const change of [
    { tenantId: '', decision: 'refuse', reason: 'host_unknown' },
    { tenantId: OTHER_TENANTS },
    { decision: 'service', reason: '' },
    { decision: 'probe', reason: 'probe' },
  ])
    counted.count(request(change))
  t.strictSame(decisionCounts(counted.take().requests), [
    ['acme', 'refuse', 'sealed', 1],
    ['acme', 'forward', 'session', 3],
    ['beta', 'sign_in', 'idle', 1],
  ])
})

t.test('every decision and reason has its own series, and they are few', async (t) => {
  const counted = counter()
  for (const { decision, reason } of OUTCOMES) counted.count(request({ decision, reason }))
  const slots = counted.take().requests.map(([, outcome]) => outcome)
  t.same(slots, [...OUTCOMES.keys()])
  counted.count(request({ reason: 'something that does not exist' }))
  t.same(counted.take().requests, [['acme', 0, 2, 1]])
})

t.test('tenants beyond the limit are counted together', async (t) => {
  const counted = counter()
  for (let index = 0; index < LIMITS.countedTenantsMax; index++)
    counted.count(request({ tenantId: `tenant-${index}` }))
  counted.count(request({ tenantId: 'tenant-0' }))
  counted.count(request({ tenantId: 'one-too-many' }))
  const rows = counted.take().requests
  t.equal(rows.length, LIMITS.countedTenantsMax + 1)
  t.strictSame([rows[0]?.[0], rows[0]?.[3]], ['tenant-0', 2])
  t.equal(rows.at(-1)?.[0], OTHER_TENANTS)

  const metrics = createMetrics({ id: 'edge-1', version: '1.0.0', clock: clockOf(() => 0) })
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < LIMITS.metricTenantsMax; index++)
      counted.count(request({ tenantId: `round-${round}-${index}` }))
    metrics.absorb(1, { counts: counted.take(), gauges: GAUGES })
  }
  const names = [...(await samplesOf(metrics)).keys()].filter((name) =>
    name.startsWith('gateway_requests_total'),
  )
  t.ok(names.length <= LIMITS.metricTenantsMax, `${names.length}`)
  t.ok(names.some((name) => name.includes(OTHER_TENANTS)))
})

function fakeWorker(answer: boolean) {
  let listener: (message: unknown) => void = () => {}
  let close = () => {}
  let asked = 0
  const report = { counts: counter().take(), gauges: GAUGES }
  const worker: ReportingWorker = {
    send() {
      asked++
      if (answer) setImmediate(() => listener({ channel: 'telemetry', type: 'report', report }))
    },
    onMessage: (given) => void (listener = given),
    onClose: (given) => void (close = given),
  }
  return { worker, asked: () => asked, die: () => close() }
}

t.test(
  'askers at once share one round; nobody waits for a worker that is gone or hangs',
  async (t) => {
    const absorbed: number[] = []
    const gatherer = createGatherer({ absorb: (slot) => absorbed.push(slot), answerMsMax: 50 })
    await gatherer.gather()
    const quick = fakeWorker(true)
    gatherer.attach(1, quick.worker)
    await Promise.all([gatherer.gather(), gatherer.gather(), gatherer.gather()])
    t.equal(quick.asked(), 1)
    t.same(absorbed, [1])
    const hung = fakeWorker(false)
    gatherer.attach(2, hung.worker)
    await gatherer.gather()
    t.same(absorbed, [1, 1], 'the other is there all the same')
    const round = gatherer.gather()
    hung.die()
    await round
    await gatherer.gather()
    t.equal(hung.asked(), 2)
    gatherer.close()
  },
)
