/** Who sends many requests at once gets one answer after the other, and never a queue of ours. */
import t from 'tap'
import { until } from '../../support/fleet.ts'
import { RawClient, startOrigin, startRawOrigin, startWire } from '../../support/wire.ts'

const get = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Fill: ${'x'.repeat(400)}\r\n\r\n`

t.test('of a pipeline one request at a time reaches the application', async (t) => {
  let atOnce = 0
  let most = 0
  const origin = await startOrigin(t, (_request, response) => {
    most = Math.max(most, ++atOnce)
    setImmediate(() => {
      atOnce--
      response.end('ok')
    })
  })
  const wire = await startWire(t, origin.url)
  const client = new RawClient(wire.port)
  t.teardown(() => client.close())
  client.send(Array.from({ length: 500 }, (_item, at) => get(`/${at}`)).join(''))
  for (let at = 0; at < 500; at++) await client.answer()
  t.equal(most, 1)
  t.same(
    origin.seen.map(({ target }) => target),
    Array.from({ length: 500 }, (_item, at) => `/${at}`),
  )
  t.equal(wire.upstream.stats().connects, 1)
})

t.test(
  'while one request is not answered, the rest of the pipeline stays with its sender',
  async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.resume())
    const { port } = await startWire(t, origin.url)
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(get('/held'))
    await until(() => origin.sockets.size === 1)
    const megabyte = Buffer.from(get('/more').repeat(2300))
    for (let count = 0; count < 64; count++) client.socket.write(megabyte)
    let left = -1
    for (let same = 0; same < 20; same = client.socket.writableLength === left ? same + 1 : 0) {
      left = client.socket.writableLength
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.ok(left > 32 * megabyte.length, `${left >> 20} of 64 MiB are still the client's`)
    t.equal(origin.sockets.size, 1)
  },
)

t.test('who reads no answers gets no further ones', async (t) => {
  const requests = 8000
  const body = 'y'.repeat(5000)
  const origin = await startOrigin(t, (_request, response) => response.end(body))
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.socket.pause()
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
  let seen = -1
  for (let same = 0; same < 20; same = origin.seen.length === seen ? same + 1 : 0) {
    seen = origin.seen.length
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.ok(seen < requests / 2, `${seen} of ${requests} were asked of the application`)
  let received = 0
  client.socket.removeAllListeners('data')
  client.socket.on('data', (chunk: Buffer) => (received += chunk.length))
  client.socket.resume()
  await until(() => origin.seen.length === requests && received > requests * body.length)
  t.pass('and all of them when it reads again')
})
