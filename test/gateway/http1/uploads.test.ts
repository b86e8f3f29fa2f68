/** What passes through borrowed and spare buffers arrives as it was sent, however slow its reader. */
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
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
