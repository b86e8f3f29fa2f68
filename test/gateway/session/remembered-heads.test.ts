/** A session is remembered for as long as it is used, the heads of its requests are not. */
// apart: measures the heap of its process
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { HOST, startEdge, USER_AGENT } from '../../support/edge-world.ts'
import { RawClient, startOrigin } from '../../support/wire.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const SESSIONS = 400
const LONG = 12_000
const UNBOUND = { session_binding: 'off' } as const

const KINDS: Readonly<Record<string, (at: number) => readonly string[]>> = {
  'where a proxy names the client': (at) => [
    `User-Agent: ${USER_AGENT}`,
    `X-Forwarded-For: 203.0.113.${100 + (at % 100)}`,
    `X-Fill: ${'x'.repeat(LONG)}`,
  ],
  'where its browser has a long name': () => [`User-Agent: ${USER_AGENT}${'x'.repeat(LONG)}`],
}

for (const [name, linesOf] of Object.entries(KINDS))
  t.test(`a remembered session holds no head, ${name}`, async (t) => {
    const origin = await startOrigin(t, (_request, response) => response.end('ok'))
    const edge = await startEdge(
      t,
      origin.url,
      UNBOUND,
      {},
      {
        trustedProxies: ['127.0.0.1'],
      },
    )
    const ask = async (sid: string, at: number) => {
      const client = new RawClient(edge.port)
      const cookie = `Cookie: ${edge.session({ sid, sub: sid })}`
      const lines = [`Host: ${HOST}`, cookie, ...linesOf(at), '\r\n']
      client.send(`GET / HTTP/1.1\r\n${lines.join('\r\n')}`)
      const answer = await client.answer()
      client.close()
      return answer?.status
    }
    const used = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    for (let at = 0; at < 50; at++) t.equal(await ask(`before-${at}`, at), 200)
    origin.seen.length = edge.lines.length = 0
    const before = used()
    for (let at = 0; at < SESSIONS; at++) await ask(`one-${at}`, at)
    origin.seen.length = edge.lines.length = 0
    const each = (used() - before) / SESSIONS
    t.ok(each < LONG / 2, `${Math.round(each)} bytes of a session`)
  })

t.test('a browser with a long name is bound by it, and not by the one before', async (t) => {
  const origin = await startOrigin(t)
  const edge = await startEdge(t, origin.url, { session_binding: 'step_up' })
  const cookie = edge.session()
  const ask = async (userAgent: string) => {
    const client = new RawClient(edge.port)
    t.teardown(() => client.close())
    client.send(
      `GET / HTTP/1.1\r\nHost: ${HOST}\r\nCookie: ${cookie}\r\nUser-Agent: ${userAgent}\r\n\r\n`,
    )
    return (await client.answer())?.status
  }
  const long = 'x'.repeat(1000)
  t.equal(await ask(USER_AGENT), 200)
  t.equal(await ask(`${USER_AGENT} ${long}`), 200, 'the same one, which says more')
  t.equal(await ask(''), 401)
  t.equal(await ask(`curl/8.1 ${long}`), 401)
  t.equal(await ask(`${USER_AGENT} ${long}`), 200)
})
