/** What passes through borrowed and spare buffers arrives as it was sent, however slow its reader. */
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import type { Exchange } from '../../../gateway/wire/exchange.ts'
import { RawClient, startRawOrigin, startWire } from '../../support/wire.ts'

const BYTES = 16 << 20

t.test('uploads side by side to applications that read in fits arrive byte by byte', async (t) => {
  const hashes = new Map<string, string>()
  const origin = await startRawOrigin(t, (socket) => {
    const hash = createHash('sha256')
    let name = ''
    let left = BYTES
    socket.on('data', (chunk: Buffer) => {
      if (name === '') {
        const head = chunk.toString('latin1').split('\r\n\r\n', 1)[0] ?? ''
        name = head.split(' ', 2)[1] ?? ''
        chunk = chunk.subarray(head.length + 4)
      }
      hash.update(chunk)
      left -= chunk.length
      if (left === 0) {
        hashes.set(name, hash.digest('hex'))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      }
      // Now and then nothing is taken for a while, so that the kernel's buffers fill up.
      if (chunk[0]! % 4 !== 0) return
      socket.pause()
      setTimeout(() => socket.resume(), chunk[0]! % 16)
    })
  })
  const { port } = await startWire(t, origin.url)
  const uploads = ['/a', '/b', '/c'].map(async (target) => {
    const body = randomBytes(BYTES)
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(`POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${BYTES}\r\n\r\n`)
    client.send(body)
    t.match(await client.answer('POST'), { status: 200 })
    t.equal(hashes.get(target), createHash('sha256').update(body).digest('hex'), target)
  })
  await Promise.all(uploads)
})

t.test(
  'an upload that is refused while its application is not keeping up is read to its end',
  async (t) => {
    let isRead = () => {}
    const stuck = new Promise<void>((resolve) => (isRead = resolve))
    const call = {
      write: () => (isRead(), false),
      writeBorrowed: () => (isRead(), false),
      writeText: () => false,
      end: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      abort: () => undefined,
    }
    const exchanges: Exchange[] = []
    const { port } = await startWire(t, 'http://127.0.0.1:1', {
      decide(exchange, wire) {
        exchanges.push(exchange)
        if (exchanges.length > 1)
          return exchange.respond({ status: 204, headerLines: [], body: '' })
        const plan = wire.plan(exchange)
        exchange.forward({ ...plan, upstream: { ...plan.upstream, request: () => call } })
      },
    })
    const client = new RawClient(port)
    t.teardown(() => client.close())
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n${'a'.repeat(40_000)}`)
    await stuck
    t.equal(exchanges[0]!.recall?.(), true)
    exchanges[0]!.respond({ status: 401, headerLines: [], body: '' })
    client.send(`${'a'.repeat(40_000)}GET / HTTP/1.1\r\nHost: a\r\n\r\n`)
    t.match(await client.answer('POST'), { status: 401 })
    t.match(await client.answer('GET'), { status: 204 }, 'and the connection lives on')
  },
)
