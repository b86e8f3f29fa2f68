import t from 'tap'
import { createTraceStarter, keptTracestate } from '../../../gateway/request/trace.ts'
import { isTraceparent, traceIdOf } from '../../../shared/trace-context.ts'
import { isRequestId } from '../../../gateway/request/request-ids.ts'
import { startEdge } from '../../support/edge-world.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

const VALID = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

t.test('only what the recommendation allows is a traceparent', async (t) => {
  for (const text of [
    VALID,
    VALID.replace(/01$/, 'ff'),
    VALID.replace(/^00/, '01'),
    `${VALID.replace(/^00/, 'cc')}-what-the-future-brings`,
  ])
    t.ok(isTraceparent(text), text)
  for (const text of [
    '',
    VALID.toUpperCase(),
    VALID.replace(/^00/, 'ff'),
    `${VALID}-more`,
    `${VALID} `,
    ` ${VALID}`,
    `${VALID}, ${VALID}`,
    VALID.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    VALID.replace('00f067aa0ba902b7', '0'.repeat(16)),
    VALID.slice(1),
    VALID.replace('-01', '-1'),
    VALID.replaceAll('-', '_'),
    `${VALID.replace(/^00/, 'cc')}.more`,
    `${VALID.replace(/^00/, 'cc')}-${'x'.repeat(129)}`,
    '00-1-2-01',
  ])
    t.notOk(isTraceparent(text), text)
})

t.test('a started trace is valid, unique and says whether we keep a line of it', async (t) => {
  const start = createTraceStarter()
  const seen = new Set<string>()
  for (let count = 0; count < 2000; count++) {
    const traceparent = start(count % 2 === 0)
    if (!isTraceparent(traceparent)) t.fail(traceparent)
    t.match(traceparent, count % 2 === 0 ? /-01$/ : /-00$/)
    seen.add(traceIdOf(traceparent))
  }
  t.equal(seen.size, 2000)
})

t.test('a tracestate goes on up to its limit and without control characters', async (t) => {
  t.equal(keptTracestate('congo=t61rcWkgMzE'), 'congo=t61rcWkgMzE')
  t.equal(keptTracestate('x'.repeat(512)).length, 512)
  t.equal(keptTracestate('x'.repeat(513)), '')
  t.equal(keptTracestate('a=\x01'), '')
})

t.test('a request id from outside holds nothing that would need escaping', async (t) => {
  for (const id of [
    'a',
    'x'.repeat(128),
    '018f3c9e-7a7b-7c3d-8e1f-aabbccddeeff',
    'Root=1-67/a+b@c:~',
  ])
    t.ok(isRequestId(id), id)
  for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'a,b', 'a\\b', '\u00e4', 'a\r\nb'])
    t.notOk(isRequestId(id), id)
})

async function ask(port: number, lines: string) {
  const client = new RawClient(port)
  client.send(`GET /health HTTP/1.1\r\nHost: app.localhost\r\n${lines}\r\n`)
  const answer = await client.answer()
  client.close()
  return answer?.head ?? ''
}

/** The values of a header, whatever its case, as the application got it. */
const valuesOf = (rawHeaders: readonly string[], name: string) =>
  rawHeaders.filter(
    (_value, index) => rawHeaders[index - 1]?.toLowerCase() === name && index % 2 === 1,
  )

t.test('a valid parent goes on with its state, any other is replaced without', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url)
  await ask(edge.port, `traceparent: ${VALID}\r\ntracestate: congo=1\r\ntracestate: rojo=2\r\n`)
  await ask(edge.port, `TraceParent: ${VALID}x\r\nTraceState: congo=1\r\n`)
  await ask(edge.port, `traceparent: ${VALID}\r\ntraceparent: ${VALID}\r\ntracestate: congo=1\r\n`)
  await ask(edge.port, 'tracestate: congo=1\r\n')
  const [kept, ...started] = origin.seen.map(({ rawHeaders }) => ({
    parent: valuesOf(rawHeaders, 'traceparent'),
    state: valuesOf(rawHeaders, 'tracestate'),
  }))
  t.same(kept, { parent: [VALID], state: ['congo=1, rojo=2'] })
  t.equal(started.length, 3)
  for (const { parent, state } of started) {
    t.equal(parent.length, 1)
    t.ok(isTraceparent(parent[0] ?? '') && !parent[0]?.includes('4bf92f'))
    t.same(state, [])
  }
})

t.test("a client's request id is never believed, and never stands beside ours", async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url)
  for (const spelling of ['X-Request-Id', 'x-request-id', 'X_Request_Id', 'X.Request.Id'])
    t.notMatch(await ask(edge.port, `${spelling}: forged\r\n`), 'forged', spelling)
  for (const { rawHeaders } of origin.seen) {
    t.equal(valuesOf(rawHeaders, 'x-request-id').length, 1)
    t.notMatch(rawHeaders.join('\n'), /forged|x[_.]request/i)
  }
})

t.test("a trusted proxy's request id is kept where it is one", async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url, {}, {}, { trustedProxies: ['127.0.0.1'] })
  t.match(await ask(edge.port, 'X-Request-Id: abc-123\r\n'), 'X-Request-Id: abc-123')
  t.notMatch(await ask(edge.port, 'X-Request-Id: "quoted"\r\n'), 'quoted')
  t.notMatch(await ask(edge.port, 'X-Request-Id: one\r\nX-Request-Id: two\r\n'), /one|two/)
  const ids = origin.seen.map(({ rawHeaders }) => valuesOf(rawHeaders, 'x-request-id'))
  t.same(ids[0], ['abc-123'])
  for (const id of ids) t.equal(id.length, 1)
})
