/** Spans for a collector: what they hold, how many there are, and that nothing waits for them. */
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { createTraceExport } from '../../../gateway/telemetry/trace-export.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createTestLog } from '../../support/fleet.ts'
import { attributesOf, startCollector } from '../../support/collector.ts'
import { listening } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const FROM_OUTSIDE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OUR_OWN = '00-11111111111111111111111111111111-2222222222222222-00'

function start(t: Test, endpoint: string, sample = 1, random = Math.random) {
  const { log, lines } = createTestLog()
  let nowMs = 1_700_000_000_000
  const clock = clockOf(() => nowMs)
  const world = { endpoint, sample, gatewayId: 'edge-1', clock, log, random, everyMs: 1_000_000 }
  const traces = createTraceExport(world)
  t.teardown(() => traces.close())
  const add = (traceparent = OUR_OWN, given = '', more: object = {}) =>
    traces.add(
      {
        traceparent,
        head: { method: 'GET', host: 'app.example.com', traceparent: given },
        path: '/work',
        query: 'token=secret',
        tenant: { tenantId: 'acme' },
        requestId: 'r1',
        clientAddress: '192.0.2.1',
        decision: 'forward',
        reason: '',
      } as never,
      { status: 200, bytes: 1, isCut: false, failure: null, ...more },
      12.5,
    )
  return { traces, add, lines, pass: (ms: number) => void (nowMs += ms) }
}

t.test('a span says what a request was, and never its query', async (t) => {
  const { endpoint, spans, bodies, asked } = await startCollector(t)
  const { traces, add } = start(t, endpoint)
  add()
  add(FROM_OUTSIDE, FROM_OUTSIDE, { status: 502, failure: { code: 'upstream_refused' } })
  await traces.flush()
  t.same(asked, ['POST /v1/traces application/json'])
  const [own, joined] = spans()
  t.match(own, {
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    name: 'GET',
    kind: 2,
    startTimeUnixNano: '1699999999987500000',
    endTimeUnixNano: '1700000000000000000',
    status: {},
  })
  t.equal(own?.parentSpanId, undefined, 'what we have started has nobody above it')
  t.match(joined, {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    spanId: /^[0-9a-f]{16}$/,
    status: { code: 2 },
  })
  t.not(joined?.spanId, joined?.parentSpanId)
  t.same(attributesOf(own!), {
    'http.request.method': 'GET',
    'server.address': 'app.example.com',
    'url.path': '/work',
    'http.response.status_code': '200',
    'client.address': '192.0.2.1',
    tenant_id: 'acme',
    request_id: 'r1',
    decision: 'forward',
  })
  t.match(attributesOf(joined!), { 'error.type': 'upstream_refused' })
  t.notMatch(JSON.stringify(bodies), 'secret')
})

t.test(
  'how many there are is chance and a rate, whatever requests say of themselves',
  async (t) => {
    const { endpoint, spans } = await startCollector(t)
    let turn = 0
    const { traces, add } = start(t, endpoint, 0.25, () => (turn++ % 4) / 4)
    for (let count = 0; count < 40; count++) add(FROM_OUTSIDE, FROM_OUTSIDE)
    await traces.flush()
    t.equal(spans().length, 10)

    const all = start(t, endpoint)
    for (let count = 0; count < 5000; count++) all.add(FROM_OUTSIDE, FROM_OUTSIDE)
    await all.traces.flush()
    t.equal(spans().length, 10 + LIMITS.traceSpansPerSecondMax)
    t.equal(all.traces.dropped(), 5000 - LIMITS.traceSpansPerSecondMax)
    all.pass(1000)
    all.add()
    await all.traces.flush()
    t.equal(spans().length, 11 + LIMITS.traceSpansPerSecondMax, 'the next second has its own')
  },
)

t.test('a collector that is away costs nothing but its spans', async (t) => {
  let status = 503
  const { endpoint, spans } = await startCollector(t, () => ({ status }))
  const { traces, add, lines, pass } = start(t, endpoint)
  for (let second = 0; second < 60; second++) {
    for (let count = 0; count < LIMITS.traceSpansPerSecondMax; count++) add()
    pass(1000)
  }
  t.equal(traces.dropped(), 60 * LIMITS.traceSpansPerSecondMax - LIMITS.traceSpansHeldMax)
  await traces.flush()
  add()
  await traces.flush()
  t.equal(lines.filter(({ msg }) => msg === 'traces are lost').length, 1, 'said once')
  status = 200
  await traces.flush()
  t.ok(spans().length > 0)
  t.equal(lines.filter(({ msg }) => msg.includes('takes traces again')).length, 1)
})

t.test('a collector that says when is asked again then, and not before', async (t) => {
  for (const [status, retryAfter, waitMs] of [
    [429, '30', 30_000],
    [503, 'Tue, 14 Nov 2023 22:13:50 GMT', 30_000],
    [429, '86400', 5 * 60_000],
  ] as const) {
    let answer: { status: number; retryAfter?: string } = { status, retryAfter }
    const { endpoint, spans, asked } = await startCollector(t, () => answer)
    const { traces, add, pass, lines } = start(t, endpoint)
    add()
    await traces.flush()
    answer = { status: 200 }
    add()
    pass(waitMs - 1)
    await traces.flush()
    t.equal(asked.length, 1, 'it was asked to wait')
    pass(1)
    await traces.flush()
    t.equal(spans().length, 2)
    t.equal(traces.dropped(), 0)
    t.equal(lines.filter(({ msg }) => msg === 'traces have to wait').length, 1)
  }
})

t.test(
  'what waits for a collector is bounded, and what is left at the end is counted',
  async (t) => {
    const { endpoint, asked } = await startCollector(t, () => ({ status: 429, retryAfter: '3600' }))
    const { traces, add, pass } = start(t, endpoint)
    for (let second = 0; second < 60; second++) {
      for (let count = 0; count < LIMITS.traceSpansPerSecondMax; count++) add()
      await traces.flush()
      pass(1000)
    }
    t.equal(asked.length, 1)
    t.equal(traces.dropped(), 60 * LIMITS.traceSpansPerSecondMax - LIMITS.traceSpansHeldMax)
    await traces.close()
    t.equal(traces.dropped(), 60 * LIMITS.traceSpansPerSecondMax)
  },
)

t.test('what is lost behind what had to wait is said, too', async (t) => {
  let answer: { status: number; retryAfter?: string } = { status: 503, retryAfter: '1' }
  const { endpoint } = await startCollector(t, () => answer)
  const { traces, add, lines, pass } = start(t, endpoint)
  const told = () => lines.map(({ msg }) => msg)
  add()
  await traces.flush()
  pass(1000)
  answer = { status: 500 }
  for (let count = 0; count < 3; count++) {
    add()
    await traces.flush()
  }
  t.same(told(), ['traces have to wait', 'traces are lost'])
  answer = { status: 503, retryAfter: '1' }
  add()
  await traces.flush()
  answer = { status: 200 }
  pass(1000)
  await traces.flush()
  t.same(told().slice(2), ['the collector takes traces again'])
})

t.test('an answer that says nothing of when loses what was sent, and no more', async (t) => {
  for (const answer of [
    { status: 429 },
    { status: 400, retryAfter: '1' },
    { status: 503, retryAfter: 'soon' },
  ]) {
    const { endpoint, asked } = await startCollector(t, () => answer)
    const { traces, add } = start(t, endpoint)
    add()
    await traces.flush()
    t.equal(traces.dropped(), 1)
    add()
    await traces.flush()
    t.equal(asked.length, 2, 'the next ones are tried at once')
  }
})

t.test('a redirect is not followed: spans go where the operator said', async (t) => {
  const other = await startCollector(t)
  const server = createServer((_request, response) =>
    response.writeHead(307, { location: `${other.endpoint}/v1/traces` }).end(),
  )
  const port = await listening(server)
  t.teardown(() => server.close())
  const { traces, add } = start(t, `http://127.0.0.1:${port}`)
  add()
  await traces.flush()
  t.same(other.asked, [])
  t.equal(traces.dropped(), 1)
})
