/** A client has to take its answer; what it sends meanwhile is no sign that it does. */
import type { Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { certificateFor } from '../../support/certificate.ts'
import { listening, RawClient, startRawOrigin, startWire } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const IDLE_MS = 60_000
const SECOND_MS = 1000
const MIB = 1 << 20
const ANSWER_BYTES = 256 * MIB
const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
const tick = () => new Promise((next) => setImmediate(next))
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const CHUNK = `100\r\n${'x'.repeat(256)}\r\n`

/** The application answers at once, and takes whatever comes. */
async function start(t: Test) {
  const page = Buffer.alloc(MIB)
  let received = 0
  const origin = await startRawOrigin(t, (socket) => {
    socket.on('data', (chunk: Buffer) => (received += chunk.length))
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${ANSWER_BYTES}\r\n\r\n`)
      for (let left = ANSWER_BYTES; left > 0; left -= MIB) socket.write(page)
    })
  })
  let nowMs = 1_800_000_000_000
  const clock = clockOf(() => nowMs)
  const deadlines = new Deadlines(clock, 2 ** 30)
  const wire = await startWire(t, origin.url, { clock, deadlines, timeouts })
  t.teardown(() => deadlines.close())
  const pass = (ms: number) => {
    nowMs += ms
    deadlines.sweep()
  }
  return { wire, pass, received: () => received }
}

async function connectTlsTo(t: Test, accept: (socket: Socket) => void) {
  const pair = certificateFor('app.test')
  const front = createTlsServer(pair, accept)
  const port = await listening(front)
  t.teardown(() => front.close())
  const options = { port, host: '127.0.0.1', servername: 'app.test', ca: pair.cert }
  return connectTls(options)
}

for (const isSecure of [false, true])
  t.test(`who only sends is cut, ${isSecure ? 'over TLS' : 'in the clear'}`, async (t) => {
    const { wire, pass, received } = await start(t)
    const socket = isSecure
      ? await connectTlsTo(t, (accepted) => wire.server.accept(accepted, { isSecure }))
      : new RawClient(wire.port).socket
    socket.on('error', () => undefined).pause()
    t.teardown(() => socket.destroy())
    socket.write(HEAD)
    // till neither the kernels nor the wire take any more of the answer
    for (let before = -1; before !== received();) {
      before = received()
      socket.write(CHUNK)
      while (received() === before) await tick()
      for (let turn = 0; turn < 200; turn++) await tick()
      if (received() > 20 * CHUNK.length) break
    }
    for (let passedMs = 0; passedMs < 3 * IDLE_MS; passedMs += SECOND_MS) {
      if (wire.outcomes.length > 0) break
      const before = received()
      socket.write(CHUNK)
      while (received() === before) await tick()
      pass(SECOND_MS)
    }
    t.match(wire.outcomes, [{ status: 200, isCut: true }])
  })

t.test('who takes a little over each idle time is not, until it takes nothing', async (t) => {
  const { wire, pass } = await start(t)
  const { socket } = new RawClient(wire.port)
  t.teardown(() => socket.destroy())
  let taken = 0
  socket.removeAllListeners('data').on('data', (chunk: Buffer) => (taken += chunk.length))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  for (let round = 0; round < 5; round++) {
    const before = taken
    socket.resume()
    // more than both kernels hold
    while (taken < before + 24 * MIB) await tick()
    socket.pause()
    for (let turn = 0; turn < 200; turn++) await tick()
    pass(IDLE_MS - 1)
    t.same(wire.outcomes, [], `round ${round}`)
  }
  for (let round = 0; round < 3; round++) {
    for (let turn = 0; turn < 200; turn++) await tick()
    pass(IDLE_MS)
  }
  t.match(wire.outcomes, [{ status: 200, isCut: true }])
  t.equal(LIMITS.progressBytesPerSecondMin, 240)
})
