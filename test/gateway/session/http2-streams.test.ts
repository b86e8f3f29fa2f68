/** What was allowed once is asked again while it lasts: over HTTP/2, one stream at a time. */
import { constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { createServer, type IncomingMessage } from 'node:http'
import t from 'tap'
import { HOST } from '../../support/edge-world.ts'
import { until } from '../../support/fleet.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { answerOf, ask } from '../../support/secure-wire.ts'
import { listening } from '../../support/wire.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

/** `/events` and `/download` never end, `/wait` never begins. */
async function startStreams(t: Teardown) {
  const waiting: IncomingMessage[] = []
  let aborted = 0
  const server = createServer((request, response) => {
    response.on('error', () => undefined).on('close', () => aborted++)
    request.on('error', () => undefined).resume()
    if (request.url === '/health') return void response.end('ok')
    if (request.url === '/wait') return void waiting.push(request)
    if (request.url === '/events') response.writeHead(200, { 'content-type': 'text/event-stream' })
    else response.writeHead(200, { 'content-length': 1e9 })
    response.write('data: 1\n\n')
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${await listening(server)}`, waiting, aborted: () => aborted }
}

interface Open {
  readonly stream: ClientHttp2Stream
  readonly answer: ReturnType<typeof answerOf>
}

/** Settles when the first bytes are here. */
async function open(session: ClientHttp2Session, headers: Record<string, string>): Promise<Open> {
  const stream = session.request({ ':authority': HOST, ...headers })
  const answer = answerOf(stream)
  await new Promise((resolve) => stream.once('data', resolve).once('close', resolve))
  return { stream, answer }
}

/** Whatever was to happen to an open stream has happened: another one was judged in the same pass. */
async function judged(
  edge: Awaited<ReturnType<typeof startSecureEdge>>,
  session: ClientHttp2Session,
) {
  const sid = `sentinel-${Math.random()}`
  const sentinel = await open(session, edge.headersOf('/events', { sid }))
  edge.revoke({ sids: { [sid]: edge.nowSeconds() + 1 } })
  await sentinel.answer
}

const { NGHTTP2_NO_ERROR } = constants

t.test(
  'a revocation resets the streams of the session, and no others of the connection',
  async (t) => {
    const application = await startStreams(t)
    const edge = await startSecureEdge(t, application.url)
    const session = await edge.http2()
    const events = await open(session, edge.headersOf('/events'))
    const download = await open(session, edge.headersOf('/download'))
    const other = await open(session, edge.headersOf('/events', { sid: 'sid-2', sub: 'bob' }))
    edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
    for (const { answer } of [events, download]) {
      const { status, rstCode } = await answer
      t.equal(status, 200)
      t.not(rstCode, NGHTTP2_NO_ERROR, 'it does not look whole')
    }
    await judged(edge, session)
    t.notOk(other.stream.closed, 'another session goes on')
    await until(() => application.aborted() >= 2)
    t.match(
      await ask(session, { ':path': '/health', ':authority': HOST }),
      { status: 200 },
      'and so does the connection',
    )
    await until(
      () =>
        edge.lines.filter(({ reason, cut }) => reason === 'revoked' && cut === true).length >= 2,
    )
  },
)

t.test('a stream that is still waiting for its answer gets a 401 instead', async (t) => {
  const application = await startStreams(t)
  const edge = await startSecureEdge(t, application.url)
  const session = await edge.http2()
  const asked = ask(session, edge.headersOf('/wait'))
  const uploading = session.request(
    {
      ...edge.headersOf('/wait'),
      ':method': 'POST',
      'content-length': '100000',
    },
    { endStream: false },
  )
  const uploaded = answerOf(uploading)
  uploading.write('a'.repeat(20_000))
  await until(() => application.waiting.length === 2)
  edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
  for (const answer of [await asked, await uploaded]) {
    t.equal(answer.status, 401)
    t.match(JSON.parse(answer.body.toString()), { reason: 'revoked' })
  }
  await until(() => application.aborted() === 2)
  t.match(await ask(session, { ':path': '/health', ':authority': HOST }), { status: 200 })
})

t.test(
  'a small body that is still on its way is not sent on for a session that is over',
  async (t) => {
    const application = await startStreams(t)
    const edge = await startSecureEdge(t, application.url)
    const session = await edge.http2()
    const stream = session.request(
      { ...edge.headersOf('/wait'), ':method': 'POST', 'content-length': '10' },
      { endStream: false },
    )
    const answer = answerOf(stream)
    stream.write('half ')
    await judged(edge, session)
    edge.revoke({ sids: { 'sid-1': edge.nowSeconds() + 1 } })
    await new Promise((resolve) => stream.once('response', resolve))
    stream.end('whole')
    t.match(await answer, { status: 401, rstCode: NGHTTP2_NO_ERROR })
    t.match(await ask(session, { ':path': '/health', ':authority': HOST }), { status: 200 })
    t.equal(application.waiting.length, 0)
  },
)

t.test(
  'idleness ends an event stream, and no download; the end of the session ends both',
  async (t) => {
    const application = await startStreams(t)
    const edge = await startSecureEdge(t, application.url, { change: { idle_seconds: 50 } })
    const session = await edge.http2()
    const events = await open(session, edge.headersOf('/events'))
    const download = await open(session, edge.headersOf('/download'))
    edge.pass(51)
    t.not((await events.answer).rstCode, NGHTTP2_NO_ERROR)
    await judged(edge, session)
    t.notOk(download.stream.closed)
    edge.pass(3600)
    t.not((await download.answer).rstCode, NGHTTP2_NO_ERROR)
  },
)

t.test(
  'binding that is switched on ends the streams of those who have moved, and no others',
  async (t) => {
    const application = await startStreams(t)
    for (const session_binding of ['step_up', 'terminate'] as const) {
      const edge = await startSecureEdge(t, application.url)
      const session = await edge.http2()
      const stayed = await open(session, edge.headersOf('/events', { sid: 'stayed' }))
      const moved = await open(session, {
        ...edge.headersOf('/events', { sid: 'moved' }),
        'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36',
      })
      await judged(edge, session)
      t.notOk(moved.stream.closed, 'nobody asks before')
      edge.put({ session_binding })
      t.not((await moved.answer).rstCode, NGHTTP2_NO_ERROR, session_binding)
      await judged(edge, session)
      t.notOk(stayed.stream.closed)
      await until(() => edge.lines.some(({ reason }) => reason === 'binding_step_up'))
    }
  },
)

t.test('what happens to its tenant happens to a stream', async (t) => {
  const application = await startStreams(t)
  const edge = await startSecureEdge(t, application.url)
  const session = await edge.http2()
  const sealed = await open(session, edge.headersOf('/events'))
  edge.put({ name: 'Another name' })
  await judged(edge, session)
  t.notOk(sealed.stream.closed)
  edge.put({ sealed: ['/events'] })
  t.not((await sealed.answer).rstCode, NGHTTP2_NO_ERROR, 'its path is sealed')
  const suspended = await open(session, edge.headersOf('/download'))
  edge.put({ status: 'suspended' })
  t.not((await suspended.answer).rstCode, NGHTTP2_NO_ERROR)
})
