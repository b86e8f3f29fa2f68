/** The real program over TLS, as a browser speaks to it: its own clock, its own workers. */
import { once } from 'node:events'
import { connect } from 'node:http2'
import t from 'tap'
import { LIVE_HOST, startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'
import { createTestAuthority } from '../support/test-certificates.ts'
import { startOrigin } from '../support/wire.ts'

t.test('streams of HTTP/2 are answered, side by side and one after the other', async (t) => {
  const { url: origin } = await startOrigin(t, (request, response, { body }) => {
    response.end(request.method === 'POST' ? body : `this is ${request.url}`)
  })
  const authority = createTestAuthority(t)
  const port = await freePort()
  const gateway = await startLiveGateway(t, {
    origin,
    config: `  tls_listen: 127.0.0.1:${port}`,
    tenant: { certificates: [authority.issue(LIVE_HOST)] },
  })
  const [, cookie = ''] = /^Cookie: (.*)$/m.exec(gateway.head('/')) ?? []
  const session = connect(`https://127.0.0.1:${port}`, {
    ca: authority.caPem,
    servername: LIVE_HOST,
  })
  t.teardown(() => session.destroy())
  await once(session, 'connect')

  async function ask(headers: Record<string, string>, body?: string) {
    const stream = session.request({ ':authority': LIVE_HOST, ...headers })
    stream.setEncoding('utf8').end(body)
    const [answer] = (await once(stream, 'response')) as [{ ':status'?: number }]
    let text = ''
    for await (const piece of stream) text += String(piece)
    return { status: answer[':status'], text }
  }
  const own = { cookie: cookie.trim() }
  for (let round = 0; round < 2; round++) {
    const paths = ['/a', '/b', '/c']
    const answers = await Promise.all(paths.map((path) => ask({ ':path': path, ...own })))
    t.same(
      answers,
      paths.map((path) => ({ status: 200, text: `this is ${path}` })),
    )
  }
  const upload = 'x'.repeat(100_000)
  t.same(await ask({ ':path': '/up', ':method': 'POST', ...own }, upload), {
    status: 200,
    text: upload,
  })
  t.equal((await ask({ ':path': '/a', accept: 'application/json' })).status, 401)
})
