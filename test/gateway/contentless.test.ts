/**
 * Answers that have no content whatever they bring along (RFC 9110 sections 9.3.2, 15.2, 15.3.5,
 * 15.3.6 and 15.4.5), on both protocols. What a client takes for the next answer must not begin here.
 */
import t from 'tap'
import { ask, startSecureWire } from '../support/secure-wire.ts'
import { startRawOrigin, startWire, talk } from '../support/wire.ts'

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine'

/** What follows a head, by how it is announced. */
const BODIES = {
  nothing: '\r\n',
  'a length of zero': 'Content-Length: 0\r\n\r\n',
  'a length': `Content-Length: ${EVIL.length}\r\n\r\n${EVIL}`,
  chunks: `Transfer-Encoding: chunked\r\n\r\n${EVIL.length.toString(16)}\r\n${EVIL}\r\n0\r\n\r\n`,
  'no announcement': `\r\n${EVIL}`,
} as const

const HEADS = {
  '204': { head: 'HTTP/1.1 204 No Content\r\n', method: 'GET', status: 204 },
  '205': { head: 'HTTP/1.1 205 Reset Content\r\n', method: 'GET', status: 205 },
  '304': { head: 'HTTP/1.1 304 Not Modified\r\n', method: 'GET', status: 304 },
  'HEAD of 200': { head: 'HTTP/1.1 200 OK\r\n', method: 'HEAD', status: 200 },
  'HEAD of 205': { head: 'HTTP/1.1 205 Reset Content\r\n', method: 'HEAD', status: 205 },
  'HEAD of 404': { head: 'HTTP/1.1 404 Not Found\r\n', method: 'HEAD', status: 404 },
} as const

for (const [name, { head, method, status }] of Object.entries(HEADS)) {
  for (const [announced, body] of Object.entries(BODIES)) {
    t.test(
      `${name} with ${announced}: a clean end, and the next answer is the next one`,
      async (t) => {
        const origin = await startRawOrigin(t, (socket) => {
          socket.on('data', (chunk) =>
            socket.write(chunk.toString().includes(' /odd ') ? head + body : FINE),
          )
        })
        const secure = await startSecureWire(t, origin.url)
        const client = secure.http2Client()
        const odd = await ask(client, { ':path': '/odd', ':method': method })
        t.match(odd, { status, rstCode: 0, body: Buffer.alloc(0) })
        t.match(await ask(client, { ':path': '/' }), { status: 200, body: Buffer.from('fine') })
        t.same(secure.errors, [])
        t.match(secure.outcomes, [{ isCut: false }, { isCut: false }])

        const { port } = await startWire(t, origin.url)
        const requests = `${method} /odd HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`
        const [first, second] = await talk(t, port, requests, [method, 'GET'])
        t.match(first, { status, body: Buffer.alloc(0) })
        if (status === 205) t.match(first!.head, /^content-length: 0$/im)
        t.match(second, { status: 200, body: Buffer.from('fine') })
      },
    )
  }
}

for (const status of [204, 205])
  t.test(`${status} whose body comes late: nobody gets its connection again`, async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.on('data', () =>
        socket.write(`HTTP/1.1 ${status} Odd\r\nContent-Length: ${EVIL.length}\r\n\r\n`),
      )
    })
    const { port, upstream } = await startWire(t, origin.url)
    t.match(await talk(t, port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'), [{ status }])
    t.equal(upstream.stats().idle, 0)
  })
