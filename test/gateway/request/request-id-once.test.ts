/** Every answer of the edge names its request once, by the id that the log has: never the application's. */
import t from 'tap'
import { startEdge } from '../../support/edge-world.ts'
import { ask, startSecureWire } from '../../support/secure-wire.ts'
import { RawClient, startRawOrigin } from '../../support/wire.ts'

const THEIRS = 'X-Request-Id: theirs\r\nx-request-id: again\r\n'
const idsIn = (head: string) =>
  head
    .split('\r\n')
    .filter((line) => /^x-request-id:/i.test(line))
    .map((line) => line.slice(line.indexOf(':') + 2))

async function askPage(port: number, path: string, lines = '') {
  const client = new RawClient(port)
  client.send(
    `GET ${path} HTTP/1.1\r\nHost: app.localhost\r\nAccept: text/html\r\nSec-Fetch-Mode: navigate\r\n${lines}\r\n`,
  )
  const answer = await client.answer('GET')
  client.close()
  return answer
}

async function startNaming(test: Parameters<typeof startRawOrigin>[0]) {
  return startRawOrigin(test, (socket) => {
    socket.on('data', (chunk) => {
      const path = chunk.toString().split(' ')[1]
      if (path === '/chunks')
        socket.write(
          `HTTP/1.1 200 OK\r\n${THEIRS}Trailer: X-Request-Id\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
        )
      else if (path === '/cut') socket.destroy()
      else socket.write(`HTTP/1.1 200 OK\r\n${THEIRS}Content-Length: 2\r\n\r\nok`)
    })
  })
}

t.test('over HTTP/1.1', async (t) => {
  const origin = await startNaming(t)
  const edge = await startEdge(t, origin.url, { protection: 'pass-through' })
  for (const path of ['/', '/chunks', '/cut', '/service/login']) {
    const { head = '' } = (await askPage(edge.port, path)) ?? {}
    t.equal(idsIn(head).length, 1, `${path}: ${head}`)
    t.notMatch(head, /theirs|again/, path)
  }
})

t.test(
  'an application that is gone tells strangers nothing of sessions, in their language',
  async (t) => {
    const origin = await startNaming(t)
    const edge = await startEdge(t, origin.url, { protection: 'pass-through' })
    const german = await askPage(edge.port, '/cut', 'Accept-Language: de-CH, en;q=0.5\r\n')
    t.equal(german?.status, 502)
    t.match(german?.body.toString(), /<html lang="de">[^]*Die Anwendung antwortet nicht/)
    const english = (await askPage(edge.port, '/cut'))?.body.toString() ?? ''
    t.match(english, /<html lang="en">[^]*The application is not responding[^]*upstream_reset/)
    t.notMatch(english, /sign|session/i)
  },
)

t.test('over HTTP/2', async (t) => {
  const origin = await startNaming(t)
  const wire = await startSecureWire(t, origin.url)
  const client = wire.http2Client()
  t.teardown(() => client.destroy())
  for (const path of ['/', '/chunks', '/cut'])
    t.equal((await ask(client, { ':path': path })).headers['x-request-id'], 'r-1', path)
})
