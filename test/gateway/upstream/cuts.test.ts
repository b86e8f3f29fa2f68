/** Whatever breaks in the middle of a message is never taken for whole, and nobody else notices. */
import t from 'tap'
import { askEveryCut, startCutOrigin } from '../../support/cut-answers.ts'
import { ask, startSecureWire } from '../../support/secure-wire.ts'
import { RawClient, startRawOrigin, startWire } from '../../support/wire.ts'

t.test(
  'an answer that breaks at any byte is a 502 or a cut over HTTP/1, and the pool goes on',
  async (t) => {
    const origin = await startCutOrigin(t)
    const wire = await startWire(t, origin.url)
    let client = new RawClient(wire.port)
    t.teardown(() => client.close())
    const counts = await askEveryCut(origin, async (path) => {
      client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      const answer = await client.answer()
      if (answer?.isWhole === true) return answer
      client.close()
      client = new RawClient(wire.port)
      return answer
    })
    t.same(counts.wrong, [])
    t.ok(counts.refused > 0 && counts.cut > 0)
    client.close()
    await wire.upstream.close()
    t.equal(wire.upstream.stats().sockets, 0, 'no connection is left behind')
  },
)

t.test(
  'an answer that breaks at any byte is a 502 or a reset over HTTP/2, and the pool goes on',
  async (t) => {
    const origin = await startCutOrigin(t)
    const wire = await startSecureWire(t, origin.url)
    const session = wire.http2Client()
    const counts = await askEveryCut(origin, async (path) => {
      const { status, rstCode } = await ask(session, { ':path': path })
      return { status, isWhole: rstCode === 0 }
    })
    t.same(counts.wrong, [])
    t.ok(counts.refused > 0 && counts.cut > 0)
    t.notOk(session.closed, 'one connection for all of them')
    t.same(wire.abuses, [], 'what the application breaks is not the client’s fault')
  },
)

const REQUESTS = {
  'content-length': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  'a longer body': `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`,
  chunked:
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: a\r\n\r\n',
} as const

t.test(
  'a request that breaks at any byte never reaches the application as a whole one',
  async (t) => {
    const requests: string[] = []
    const origin = await startRawOrigin(t, (socket) => {
      const at = requests.push('') - 1
      socket.on('data', (chunk: Buffer) => {
        requests[at] += chunk.toString('latin1')
        if (isWhole(requests[at]!)) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const wire = await startWire(t, origin.url)
    for (const [name, request] of Object.entries(REQUESTS))
      for (const ending of ['end', 'reset'] as const) {
        const step = request.length > 1000 ? 997 : 1
        for (let bytes = 0; bytes < request.length; bytes += step) {
          const client = new RawClient(wire.port)
          await new Promise((resolve) => client.socket.once('connect', resolve))
          client.socket.write(request.slice(0, bytes), 'latin1', () => {
            if (ending === 'end') client.socket.end()
            else setImmediate(() => client.socket.resetAndDestroy())
          })
          const answer = ending === 'end' ? await client.answer() : await client.closed
          if (answer?.status === 200) t.fail(`${name}, ${ending} at ${bytes}: answered`)
          client.close()
          while (wire.server.connections() > 0) await new Promise((next) => setImmediate(next))
        }
      }
    t.same(requests.filter(isWhole), [])
    const client = new RawClient(wire.port)
    client.send(REQUESTS.chunked)
    t.match(await client.answer(), { status: 200 }, 'and the next whole one is answered')
    client.close()
  },
)

function isWhole(request: string): boolean {
  const [head = '', body = ''] = request.split(/\r\n\r\n(.*)/s)
  if (!request.includes('\r\n\r\n')) return false
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (length !== undefined) return body.length >= Number(length)
  return /^0\r\n(?:.*\r\n)?\r\n$/ms.test(body.slice(body.lastIndexOf('\r\n0\r\n') + 2))
}
