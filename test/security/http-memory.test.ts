/** Memory does not grow with what passes through, nor with who stops reading. */
// apart: measures the heap of its process
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { RawClient, startRawOrigin, startWire } from '../support/wire.ts'

const MIB = 1 << 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in buffers and in the heap that somebody still holds. */
const usedBytes = () => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** An origin that sends this much as fast as it is taken. */
async function startSpring(t: Parameters<typeof startRawOrigin>[0], bytes: number) {
  const chunk = Buffer.alloc(MIB / 4)
  let sent = 0
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
      const pour = () => {
        while (sent < bytes) {
          sent += chunk.length
          if (!socket.write(chunk)) return
        }
      }
      socket.on('drain', pour)
      pour()
    })
  })
  return { ...origin, sent: () => sent }
}

t.test('64 MiB to a slow reader pass at flat memory', async (t) => {
  const origin = await startSpring(t, 64 * MIB)
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  let received = 0
  let peak = 0
  const before = usedBytes()
  client.socket.removeAllListeners('data')
  const whole = new Promise<void>((resolve) => {
    client.socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received % (8 * MIB) < chunk.length) peak = Math.max(peak, usedBytes())
      // Slower than the origin: a turn of the loop for every piece.
      client.socket.pause()
      setImmediate(() => client.socket.resume())
      if (received > 64 * MIB) resolve()
    })
  })
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await whole
  t.ok(peak - before < 16 * MIB, `${((peak - before) / MIB).toFixed(1)} MiB more at the peak`)
})

t.test('a reader that stalls holds a few buffers, not the response', async (t) => {
  const origin = await startSpring(t, 1024 * MIB)
  const { port } = await startWire(t, origin.url)
  const client = new RawClient(port)
  t.teardown(() => client.close())
  client.socket.pause()
  const before = usedBytes()
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  for (let last = -1; last !== origin.sent() || last === 0;) {
    last = origin.sent()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // The origin's own queue (a quarter MiB) and both clients live in this process as well.
  t.ok(usedBytes() - before < 2 * MIB, `${((usedBytes() - before) / MIB).toFixed(2)} MiB more`)
  t.ok(origin.sent() < 64 * MIB, `the origin was held at ${origin.sent() / MIB} MiB`)
})
