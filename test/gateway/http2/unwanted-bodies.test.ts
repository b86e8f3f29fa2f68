/** Bodies that have their answer before they are whole: read on for a while, and then reset in order. */
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { until } from '../../support/fleet.ts'
import { END_HEADERS, fields, frame, FrameClient, TYPE } from '../../support/http2-frames.ts'
import { answerOf, HOST, startSecureWire } from '../../support/secure-wire.ts'
import { clockOf } from '../../support/clocks.ts'

const MIB = 1 << 20
const POST = { ':method': 'POST', ':path': '/' }
const REFUSED = { status: 401, headerLines: [], body: 'who are you?' }
const FIELDS = fields([
  [':method', 'POST'],
  [':scheme', 'https'],
  [':authority', HOST],
  [':path', '/'],
  ['content-length', '1000000000'],
])
const NO_ERROR = Buffer.alloc(4)

async function startRefusing(t: Test) {
  let nowMs = 1_000_000
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock: clockOf(() => nowMs),
    sweepMs: 2 ** 30,
    limits: { http2UploadsPerAddressMax: 1 },
    timeouts: { headMs: 60_000, idleMs: 60_000, keepAliveMs: 60_000 },
    decide: (exchange) => exchange.respond(REFUSED),
  })
  const pass = (ms: number) => {
    nowMs += ms
    wire.deadlines.sweep()
  }
  /** A request whose body has begun, and its answer. */
  const begin = async (id = 1) => {
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.request(id, FIELDS, END_HEADERS)
    client.send(frame(TYPE.data, 0, id, Buffer.alloc(1000)))
    await client.until(({ type, flags }) => type === TYPE.data && (flags & 1) === 1)
    return client
  }
  const inFlight = () => {
    let count = 0
    wire.http2.eachInFlight(() => count++)
    return count
  }
  return { wire, pass, begin, inFlight }
}

const isReset = ({ type }: { type: number }) => type === TYPE.reset

t.test('one connection bears any number of them', async (t) => {
  const { wire } = await startRefusing(t)
  const session = wire.http2Client()
  // Node's client holds 10 MB of what is not sent, and forgets none of what was reset.
  for (let round = 0; round < 6; round++) {
    const stream = session.request({ ':authority': HOST, ...POST })
    const answer = await answerOf(stream, Buffer.alloc(8 * MIB))
    t.match(answer, { status: 401, rstCode: 0 }, `round ${round}`)
    t.equal(answer.body.toString(), 'who are you?')
  }
  t.equal(wire.outcomes.filter(({ isCut }) => isCut).length, 0)
})

t.test('a sender that stops is reset without blame, and one that goes on later', async (t) => {
  const { pass, begin, inFlight, wire } = await startRefusing(t)
  const client = await begin()
  pass(LIMITS.unwantedBodySilentMsMax - 1)
  t.equal(inFlight(), 1)
  pass(1)
  const reset = await client.until(isReset)
  t.same(reset?.payload, NO_ERROR)
  await until(() => inFlight() === 0)

  const second = await begin()
  for (let passedMs = 0; passedMs < LIMITS.unwantedBodyMsMax; passedMs += 4000) {
    t.notOk(second.frames.some(isReset), `after ${passedMs} ms`)
    second.send(frame(TYPE.data, 0, 1, Buffer.alloc(1000)))
    await second.settled()
    pass(4000)
  }
  t.same((await second.until(isReset))?.payload, NO_ERROR)
  await until(() => inFlight() === 0)
  t.same(
    wire.outcomes.map(({ status, isCut }) => [status, isCut]),
    [
      [401, false],
      [401, false],
    ],
  )
})

t.test('so many bytes are read', async (t) => {
  const { wire, inFlight } = await startRefusing(t)
  const session = wire.http2Client()
  const stream = session.request({ ':authority': HOST, ...POST })
  stream.on('error', () => undefined).resume()
  let sent = 0
  const write = (): unknown =>
    stream.write(Buffer.alloc(MIB), (error) => {
      if (error) return
      sent += MIB
      write()
    })
  write()
  await new Promise<void>((resolve) => stream.once('close', () => resolve()))
  t.equal(stream.rstCode, 0)
  t.ok(sent >= LIMITS.unwantedBodyBytesMax - MIB, `${sent / MIB} MiB`)
  t.ok(sent <= LIMITS.unwantedBodyBytesMax + 2 * MIB, `${sent / MIB} MiB`)
  await until(() => inFlight() === 0)
})

t.test(
  'no application waits for them, so they are none of the uploads of an address',
  async (t) => {
    const { begin, inFlight } = await startRefusing(t)
    await begin()
    await begin()
    t.equal(inFlight(), 2)
  },
)

t.test('no stop waits for them', async (t) => {
  const { wire, begin } = await startRefusing(t)
  const client = await begin()
  const drained = wire.http2.drain()
  t.same((await client.until(isReset))?.payload, NO_ERROR)
  client.socket.end()
  await drained
})
