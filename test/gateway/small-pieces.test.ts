/** Programs that stream a body line by line: each piece is a TLS record, or a frame, of its own. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { HOST, startSecureWire } from '../support/secure-wire.ts'
import { startOrigin } from '../support/wire.ts'

const CHUNKS = 10_000
const LINE = `${'x'.repeat(39)}\n`
/** A turn of the loop below earns ten: far less than a read brings. */
const LIMITED = { burst: 3000, perSecond: 10_000 }

t.test('10,000 chunks of 40 bytes, four TLS records each, arrive whole', async (t) => {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const origin = await startOrigin(t)
  const limits = { smallReads: LIMITED }
  const wire = await startSecureWire(t, origin.url, { clock, limits, sweepMs: 2 ** 30 })
  const client = wire.tls()
  let answer = ''
  client.on('data', (piece) => (answer += String(piece)))
  const write = (piece: string) => new Promise((done) => void client.write(piece, done))
  const send = async () => {
    await write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    // As python-requests did until 2.32.
    for (let at = 0; at < CHUNKS; at++)
      for (const piece of ['28', '\r\n', LINE, '\r\n']) await write(piece)
    await write('0\r\n\r\n')
  }
  const sending = send()
  while (!answer.includes('\r\n\r\n') && !client.destroyed) {
    clock.ms++
    await turn()
  }
  t.match(answer, /^HTTP\/1\.1 200 /)
  await sending
  t.ok(origin.seen[0]?.body.toString() === LINE.repeat(CHUNKS), 'whole')
  t.same(wire.abuses, [])
})

t.test('10,000 DATA frames of 40 bytes arrive whole', async (t) => {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const origin = await startOrigin(t)
  const limits = { http2SmallDataFrames: { burst: 2500, perSecond: 200 } }
  const wire = await startSecureWire(t, origin.url, { clock, limits, sweepMs: 2 ** 30 })
  const session = wire.http2Client()
  const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': HOST })
  let status = 0
  stream.on('response', (headers) => (status = Number(headers[':status'])))
  stream.on('error', () => undefined)
  stream.resume()
  let isOver = false
  stream.on('close', () => (isOver = true))
  const send = async () => {
    for (let at = 0; at < CHUNKS && !isOver; at++)
      await new Promise<void>((done) => {
        stream.write(LINE, () => done())
        stream.once('close', done)
      })
    stream.end()
  }
  stream.setMaxListeners(CHUNKS + 9)
  const sending = send()
  while (!isOver) {
    clock.ms++
    await turn()
  }
  t.same([status, stream.rstCode], [200, 0])
  await sending
  t.ok(origin.seen[0]?.body.toString() === LINE.repeat(CHUNKS), 'whole')
  t.same(wire.abuses, [])
})
