/** What is timed, what of it becomes spans, and that nobody outside has a say in which. */
import t, { type Test } from 'tap'
import { createTracing } from '../../../control-plane/tracing/tracing.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { attributesOf, startCollector } from '../../support/collector.ts'
import { createTestLog } from '../../support/fleet.ts'
import { clockOf } from '../../support/clocks.ts'

const FROM_OUTSIDE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

async function start(t: Test, sample = 1, random = Math.random) {
  const collector = await startCollector(t)
  const { log, lines } = createTestLog()
  let nowMs = 1_700_000_000_000
  const clock = clockOf(() => nowMs)
  const settings = { endpoint: collector.endpoint, sample }
  const world = { settings, instanceId: 'auth-1', clock, log, random, everyMs: 1_000_000 }
  const tracing = createTracing(world)
  t.teardown(() => tracing.close())
  const sent = async () => {
    await tracing.flush()
    return collector.spans()
  }
  return { ...collector, tracing, sent, lines, pass: (ms: number) => void (nowMs += ms) }
}

t.test('what is done within a request is part of its trace', async (t) => {
  const { tracing, sent, bodies, asked } = await start(t)
  const request = tracing.request('request', { attributes: { 'http.request.method': 'POST' } })
  await request.run(async () => {
    await tracing.span('change', {}, async (span) => {
      span.set('waited_ms', 1.4)
      await tracing.span('inner', {}, () => Promise.resolve())
    })
    tracing.note('http.route', '/api/:id')
  })
  request.end(false)
  const [inner, change, server] = await sent()
  t.same(asked, ['POST /v1/traces application/json'])
  t.match(server, { name: 'POST /api/:id', kind: 2, status: {} })
  t.equal(server!.parentSpanId, undefined)
  t.match(change, { name: 'change', kind: 1, parentSpanId: server!.spanId })
  t.same(attributesOf(change!), { waited_ms: '1' })
  t.match(inner, { parentSpanId: change!.spanId, traceId: server!.traceId })
  t.equal(change!.traceId, server!.traceId)
  t.match(attributesOf(bodies[0]!.resourceSpans[0]!.resource), {
    'service.name': 'sign-in-protection-control-plane',
    'service.instance.id': 'auth-1',
  })
})

t.test(
  'who says that it is sampled has its trace joined, and no more of it exported',
  async (t) => {
    let turn = 0
    const { tracing, sent } = await start(t, 0.25, () => (turn++ % 4) / 4)
    for (let count = 0; count < 40; count++) {
      const request = tracing.request('request', {}, FROM_OUTSIDE)
      await request.run(() => tracing.span('change', {}, () => Promise.resolve()))
      request.end(false)
    }
    const spans = await sent()
    t.equal(spans.length, 20, 'ten requests with what they are made of')
    for (const { traceId } of spans) t.equal(traceId, '0af7651916cd43dd8448eb211c80319c')
    const servers = spans.filter(({ kind }) => kind === 2)
    for (const { parentSpanId } of servers) t.equal(parentSpanId, 'b7ad6b7169203331')
  },
)

t.test('what is no traceparent is nobody', async (t) => {
  const { tracing, sent } = await start(t)
  for (const given of ['', 'x', FROM_OUTSIDE.toUpperCase(), `${FROM_OUTSIDE}, ${FROM_OUTSIDE}`])
    tracing.request('request', {}, given).end(false)
  for (const { parentSpanId, traceId } of await sent()) {
    t.equal(parentSpanId, undefined)
    t.match(traceId, /^[0-9a-f]{32}$/)
    t.not(traceId, '0af7651916cd43dd8448eb211c80319c')
  }
})

t.test('how many there are has a bound, in a second and in a trace', async (t) => {
  const { tracing, sent, pass } = await start(t)
  const request = tracing.request('request', {})
  await request.run(async () => {
    for (let count = 0; count < 200; count++) await tracing.span('change', {}, async () => {})
  })
  request.end(false)
  t.equal((await sent()).length, LIMITS.traceSpansPerTraceMax)
  for (let count = 0; count < 500; count++) tracing.request('request', {}, FROM_OUTSIDE).end(false)
  const all = LIMITS.traceSpansPerTraceMax + LIMITS.traceSpansPerSecondMax - 1
  t.equal((await sent()).length, all, 'of which the first was one')
  t.equal(tracing.dropped(), 500 - LIMITS.traceSpansPerSecondMax + 1)
  pass(1000)
  tracing.request('request', {}).end(false)
  t.equal((await sent()).length, all + 1)
})

t.test('what is done behind an answer is a trace of its own', async (t) => {
  const { tracing, sent } = await start(t)
  const answered = Promise.withResolvers<void>()
  const request = tracing.request('request', {})
  const later = request.run(async () => {
    await answered.promise
    await tracing.span('outgoing', {}, () => tracing.span('change', {}, () => Promise.resolve()))
  })
  request.end(false)
  answered.resolve()
  await later
  const [server, change, outgoing] = await sent()
  t.not(outgoing!.traceId, server!.traceId)
  t.equal(outgoing!.parentSpanId, undefined)
  t.match(change, { traceId: outgoing!.traceId, parentSpanId: outgoing!.spanId })
})

t.test('what was not chosen has no parts that are', async (t) => {
  let turn = 0
  const { tracing, sent } = await start(t, 0.5, () => (turn++ === 0 ? 0.9 : 0))
  const request = tracing.request('request', {})
  await request.run(() => tracing.span('change', {}, () => Promise.resolve()))
  request.end(false)
  t.same(await sent(), [])
})

t.test('what is done behind the answer of one that was not chosen may be', async (t) => {
  let turn = 0
  const { tracing, sent } = await start(t, 0.5, () => (turn++ === 0 ? 0.9 : 0))
  const answered = Promise.withResolvers<void>()
  const request = tracing.request('request', {})
  const later = request.run(async () => {
    await answered.promise
    await tracing.span('outgoing', {}, () => tracing.span('change', {}, () => Promise.resolve()))
  })
  request.end(false)
  answered.resolve()
  await later
  t.same(
    (await sent()).map(({ name }) => name),
    ['change', 'outgoing'],
  )
})

t.test('what goes on behind a job that was not chosen may be, too', async (t) => {
  let turn = 0
  const { tracing, sent } = await start(t, 0.5, () => (turn++ === 0 ? 0.9 : 0))
  const done = Promise.withResolvers<void>()
  let later = Promise.resolve()
  await tracing.span('job', {}, async () => {
    later = done.promise.then(() => tracing.span('outgoing', {}, () => Promise.resolve()))
    await tracing.span('change', {}, () => Promise.resolve())
  })
  done.resolve()
  await later
  t.same(
    (await sent()).map(({ name }) => name),
    ['outgoing'],
  )
})

t.test('a failure says what kind it is, and nothing that was asked', async (t) => {
  const { tracing, sent, bodies } = await start(t)
  const secret = 'ada@example.test'
  for (const [error, type] of [
    [new Refusal('tenant_not_found'), 'tenant_not_found'],
    [Object.assign(new Error(`no ${secret}`), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [Object.assign(new Error(secret), { code: secret }), 'error'],
    [new TypeError(secret), 'TypeError'],
    [secret, 'undefined'],
  ] as const) {
    await t.rejects(tracing.span('job', {}, () => Promise.reject(error as Error)))
    const span = (await sent()).at(-1)
    t.same([span!.status, attributesOf(span!)], [{ code: 2 }, { 'error.type': type }])
  }
  t.notMatch(JSON.stringify(bodies), 'ada@')
})

t.test(
  'everything is timed for the figures, and without a collector nothing else happens',
  async (t) => {
    const { log } = createTestLog()
    const clock = clockOf(() => 1)
    const tracing = createTracing({ settings: null, instanceId: '', clock, log })
    const told: string[] = []
    tracing.onTimed(({ name, attributes, isFailed }) =>
      told.push(`${name} ${String(attributes['job'])} ${isFailed}`),
    )
    await tracing.span('job', { attributes: { job: 'mails' } }, () => Promise.resolve())
    await t.rejects(
      tracing.span('job', { attributes: { job: 'rates' } }, () => Promise.reject(new Error('no'))),
    )
    const request = tracing.request('request', {}, FROM_OUTSIDE)
    request.run(() => tracing.note('http.route', '/'))
    request.end(false)
    t.same(told, ['job mails false', 'job rates true', 'request undefined false'])
    t.equal(tracing.dropped(), 0)
  },
)

t.test('a collector that is slow, away or full holds nobody up', async (t) => {
  for (const answer of [
    { status: 200, isSilent: true },
    { status: 503 },
    { status: 429, retryAfter: '60' },
  ]) {
    const { endpoint } = await startCollector(t, () => answer)
    const { log } = createTestLog()
    const settings = { endpoint, sample: 1 }
    let nowMs = 0
    const clock = clockOf(() => nowMs)
    const tracing = createTracing({ settings, instanceId: '', clock, log, everyMs: 1_000_000 })
    const total = 3000
    let done = 0
    void tracing.flush()
    for (let count = 0; count < total; count++) {
      if (count % LIMITS.traceSpansPerSecondMax === 0) {
        nowMs += 1000
        void tracing.flush()
      }
      done += await tracing.span('job', {}, () => Promise.resolve(1))
    }
    t.equal(done, total)
    await tracing.close()
    t.equal(tracing.dropped(), total, 'none was taken, and all are counted')
  }
})
