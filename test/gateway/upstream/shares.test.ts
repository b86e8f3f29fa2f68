/** One application, many clients: none of them has all of its connections, or of the queue. */
import t, { type Test } from 'tap'
import type { ResponseSink } from '../../../gateway/wire/upstream-call.ts'
import { createUpstreamRuntime } from '../../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import type { UpstreamOptions } from '../../../gateway/upstream/upstream.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startOrigin } from '../../support/wire.ts'

const tick = () => new Promise((next) => setImmediate(next))

async function start(t: Test, limits: UpstreamOptions['limits']) {
  /** Who is being served, in order; each is answered when the test says so. */
  const served: { who: string; answer: () => void }[] = []
  const origin = await startOrigin(t, (request, response) => {
    served.push({ who: request.url!.slice(1), answer: () => response.end('ok') })
  })
  const runtime = createUpstreamRuntime({})
  const upstream = createUpstream({
    origin: origin.url,
    runtime,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    isExempt: (address) => address === '10.0.0.1',
    limits: limits ?? {},
  })
  const failed: string[] = []
  t.teardown(() => runtime.close())
  const ask = (client: string, who = client) =>
    upstream.request(
      {
        method: 'GET',
        target: `/${who}`,
        client,
        lines: 'Host: a\r\n',
        bodyLength: 0,
        hasLength: false,
        firstBody: '',
        isBodyWhole: true,
        isRawChunked: false,
      },
      sink((code) => failed.push(`${who} ${code}`)),
    )
  const until = async (count: number) => {
    while (served.length < count) await tick()
    for (let turn = 0; turn < 20; turn++) await tick()
    return served.map(({ who }) => who)
  }
  return { upstream, ask, served, failed, until }
}

const ignore = () => undefined
const sink = (onFailure: (code: string) => void): ResponseSink => ({
  wantsRawChunks: false,
  onInformational: ignore,
  onHead: ignore,
  onData: ignore,
  onText: ignore,
  onReadEnd: ignore,
  onEnd: ignore,
  onError: ({ code }) => onFailure(code),
  onDrain: ignore,
})

t.test('one client has its share, and whoever comes next is served at once', async (t) => {
  const { ask, until, upstream } = await start(t, {
    upstreamSocketsMax: 4,
    upstreamSocketsPerClientMax: 2,
  })
  for (let count = 0; count < 5; count++) ask('192.0.2.1', 'eve')
  ask('192.0.2.2', 'ada')
  t.same((await until(3)).sort(), ['ada', 'eve', 'eve'])
  t.match(upstream.stats(), { sockets: 3, waiting: 3 })
})

t.test('a place that is given back goes to the clients in turn', async (t) => {
  const { ask, until, served } = await start(t, {
    upstreamSocketsMax: 2,
    upstreamSocketsPerClientMax: 1,
  })
  for (const who of ['eve', 'eve', 'eve']) ask('192.0.2.1', who)
  ask('192.0.2.2', 'ada')
  ask('192.0.2.2', 'ada')
  ask('192.0.2.3', 'bob')
  t.same((await until(2)).sort(), ['ada', 'eve'])
  for (let at = 0; at < 4; at++) {
    served[at]!.answer()
    await until(at + 3)
  }
  const order = served.map(({ who }) => who)
  t.ok(order.indexOf('bob') < order.lastIndexOf('eve'), 'bob waits for nobody’s third')
  t.same((await until(6)).sort(), ['ada', 'ada', 'bob', 'eve', 'eve', 'eve'])
})

t.test('one client has its share of the queue as well', async (t) => {
  const { ask, until, failed, upstream } = await start(t, {
    upstreamSocketsMax: 2,
    upstreamSocketsPerClientMax: 1,
    upstreamWaitingPerClientMax: 2,
    upstreamWaitingMax: 4,
  })
  for (let count = 0; count < 5; count++) ask('192.0.2.1', 'eve')
  for (let count = 0; count < 3; count++) ask('192.0.2.2', 'ada')
  await until(2)
  t.same(failed, ['eve upstream_busy', 'eve upstream_busy'])
  t.match(upstream.stats(), { waiting: 4 })
})

t.test('each has half of what the others leave, so there is room for one more', async (t) => {
  const { ask, until, upstream } = await start(t, {
    upstreamSocketsMax: 64,
    upstreamSocketsPerClientMax: 32,
  })
  for (const [at, sockets] of [32, 48, 56].entries()) {
    for (let count = 0; count < 64; count++) ask(`192.0.2.${at}`, 'eve')
    t.match(upstream.stats(), { sockets }, 'half of the rest')
  }
  ask('192.0.2.99', 'ada')
  t.ok((await until(57)).includes('ada'))
})

t.test('where little is left, whoever comes has a few as long as there are some', async (t) => {
  const few = LIMITS.upstreamShareMin
  const { ask, until, upstream } = await start(t, {
    upstreamSocketsMax: 2 * few,
    upstreamSocketsPerClientMax: few,
  })
  for (const who of ['eve', 'ada']) {
    const address = who === 'eve' ? '192.0.2.1' : '192.0.2.2'
    for (let count = 0; count < 2 * few; count++) ask(address, who)
  }
  await until(2 * few)
  t.match(upstream.stats(), { sockets: 2 * few, waiting: 2 * few })
})

t.test('the queue is shared in the same way', async (t) => {
  const { ask, failed, upstream } = await start(t, {
    upstreamSocketsMax: 0,
    upstreamSocketsPerClientMax: 0,
    upstreamWaitingPerClientMax: 32,
    upstreamWaitingMax: 64,
  })
  for (let at = 0; at < 3; at++)
    for (let count = 0; count < 64; count++) ask(`192.0.2.${at}`, 'eve')
  ask('192.0.2.99', 'ada')
  await tick()
  t.match(upstream.stats(), { waiting: 57 })
  t.notOk(failed.includes('ada upstream_busy'))
})

t.test('whoever has a /48 of IPv6 has no more than with one address of IPv4', async (t) => {
  const { ask, until, upstream } = await start(t, {
    upstreamSocketsMax: 8,
    upstreamSocketsPerClientMax: 2,
  })
  for (let count = 0; count < 4; count++) ask(`2001:db8:7:${count}ff::1`, 'eve')
  ask('2001:db8:8::1', 'ada')
  t.same((await until(3)).sort(), ['ada', 'eve', 'eve'])
  t.match(upstream.stats(), { sockets: 3, waiting: 2 })
})

t.test('a network of IPv6 is one client; a balancer is as many as there are', async (t) => {
  const { ask, until, upstream } = await start(t, {
    upstreamSocketsMax: 8,
    upstreamSocketsPerClientMax: 2,
  })
  for (let count = 0; count < 4; count++) ask(`2001:db8:0:1::${count}`, 'eve')
  await until(2)
  t.match(upstream.stats(), { sockets: 2, waiting: 2 })
  for (let count = 0; count < 3; count++) ask('10.0.0.1', 'balancer')
  for (let count = 0; count < 3; count++) ask('', 'probe')
  t.equal((await until(8)).length, 8)
})

t.test('whoever gives up frees its place for the next of its own', async (t) => {
  const { ask, until } = await start(t, { upstreamSocketsMax: 4, upstreamSocketsPerClientMax: 1 })
  const first = ask('192.0.2.1', 'first')
  const second = ask('192.0.2.1', 'second')
  ask('192.0.2.1', 'third')
  t.same(await until(1), ['first'])
  second.abort()
  first.abort()
  t.same(await until(2), ['first', 'third'])
})

t.test('no client can have all, and an office behind one address has enough', (t) => {
  t.ok(LIMITS.upstreamSocketsPerClientMax * 2 <= LIMITS.upstreamSocketsMax)
  t.ok(LIMITS.upstreamWaitingPerClientMax * 2 <= LIMITS.upstreamWaitingMax)
  t.ok(LIMITS.upstreamSocketsPerClientMax >= LIMITS.connectionsPerAddressMax)
  t.ok(LIMITS.webSocketsPerClientMax * 2 <= LIMITS.webSocketsPerTenantMax)
  t.end()
})

t.test('a body that comes while its request waits is not lost', async (t) => {
  const bodies: string[] = []
  const waiting: (() => void)[] = []
  const origin = await startOrigin(t, (_request, response, { target, body }) => {
    bodies.push(`${target} ${body.toString()}`)
    if (target === '/first') waiting.push(() => response.end('ok'))
    else response.end('ok')
  })
  const runtime = createUpstreamRuntime({})
  const upstream = createUpstream({
    origin: origin.url,
    runtime,
    timeouts: { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 },
    limits: { upstreamSocketsMax: 1 },
  })
  t.teardown(() => runtime.close())
  const request = { target: '/first', lines: 'Host: a\r\n', hasLength: false, firstBody: '' }
  const failed: string[] = []
  const bodiless = { ...request, bodyLength: 0, isBodyWhole: true, isRawChunked: false }
  const failing = sink((code) => failed.push(code))
  for (const [bodyLength, target] of [
    [9, '/known'],
    [-1, '/unknown'],
  ] as const) {
    upstream.request({ ...bodiless, method: 'GET' }, failing)
    while (waiting.length === 0) await tick()
    let drained = 0
    const upload = { ...bodiless, method: 'POST', target, bodyLength, isBodyWhole: false }
    const call = upstream.request(upload, { ...failing, onDrain: () => drained++ })
    t.match(upstream.stats(), { waiting: 1 })
    t.equal(call.write(Buffer.from('one')), false, 'the client waits')
    call.write(Buffer.from('two'))
    waiting.shift()!()
    while (drained === 0) await tick()
    call.write(Buffer.from('end'))
    call.end()
    while (!bodies.at(-1)!.startsWith(target)) await tick()
    t.equal(bodies.at(-1), `${target} onetwoend`)
  }
  t.same(failed, [])
})
