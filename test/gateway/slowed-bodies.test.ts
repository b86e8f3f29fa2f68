/**
 * Whoever is not read for a while, because its site has spent what it may, is not late with what it
 * sends; and an application does not wait for it for ever. On both protocols.
 */
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Deadlines } from '../../gateway/wire/deadlines.ts'
import { LIMITS } from '../../shared/limits.ts'
import { END_HEADERS, fields, frame, FrameClient, TYPE } from '../support/http2-frames.ts'
import { HOST, startSecureWire } from '../support/secure-wire.ts'
import { startWire } from '../support/wire.ts'
import { clockOf } from '../support/clocks.ts'

const IDLE_MS = 60_000
const timeouts = { headMs: IDLE_MS, idleMs: IDLE_MS, keepAliveMs: IDLE_MS }
/** What is beyond it is earned when the test says so. */
const budget = { burst: 5, perSecond: 1 }

interface Upload {
  readonly free: number
  /** So many small pieces. */
  send(pieces: number): void
  /** By 408: nobody else answers. */
  readonly isAnswered: () => boolean
  readonly isSlowed: () => boolean
  /** A while of the event loop. */
  settled(): Promise<unknown>
}

function startClock() {
  let nowMs = 1_800_000_000_000
  return { clock: clockOf(() => nowMs), pass: (ms: number) => void (nowMs += ms) }
}

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n'

async function openHttp1(t: Test, { clock }: ReturnType<typeof startClock>, head = HEAD) {
  const deadlines = new Deadlines(clock, 2 ** 30)
  const { server } = await startWire(t, 'http://127.0.0.1:1', {
    clock,
    deadlines,
    timeouts,
    limits: { smallReads: budget },
    decide: (exchange) => void exchange.readBody(1 << 20).catch(() => undefined),
  })
  const [near, far] = duplexPair()
  t.teardown(() => near.destroy())
  const same = () => far
  const socket = Object.assign(far, { setNoDelay: same, setTimeout: same }) as unknown as Socket
  server.accept(socket, { peerAddress: '192.0.2.7' })
  let answer = ''
  near.on('data', (piece) => (answer += String(piece)))
  far.emit('data', Buffer.from(head))
  const upload: Upload = {
    free: LIMITS.smallReadsFree,
    isSlowed: () => far.isPaused(),
    send(pieces) {
      for (; pieces > 0; pieces--) far.emit('data', Buffer.from('x'))
    },
    isAnswered: () => answer !== '',
    async settled() {
      for (let count = 0; count < 5; count++) await turn()
    },
  }
  return { upload, deadlines }
}

async function openHttp2(t: Test, { clock }: ReturnType<typeof startClock>) {
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    clock,
    timeouts,
    sweepMs: 2 ** 30,
    limits: { http2SmallDataFrames: budget },
    decide: (exchange) => void exchange.readBody(1 << 20).catch(() => undefined),
  })
  const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
  await client.settled()
  const head = { ':method': 'POST', ':scheme': 'https', ':authority': HOST, ':path': '/' }
  client.request(1, fields(Object.entries(head)), END_HEADERS)
  await client.settled()
  const hasAnswer = () => client.frames.some(({ type }) => type === TYPE.headers)
  // Its sender pays at its turn.
  const left = () => wire.addresses.siteOf('127.0.0.1').smallDataFrames!.leftAt(clock.nowMs())
  const upload: Upload = {
    free: LIMITS.http2SmallDataFramesFree,
    isSlowed: () => left() < 1 || left() === budget.burst,
    send: (pieces) =>
      void client.send(...Array<Buffer>(pieces).fill(frame(TYPE.data, 0, 1, Buffer.from('x')))),
    isAnswered: hasAnswer,
    async settled() {
      for (let count = 0; count < 3; count++) await client.settled()
    },
  }
  return { upload, deadlines: wire.deadlines }
}

for (const [name, open] of Object.entries({ 'HTTP/1.1': openHttp1, 'HTTP/2': openHttp2 })) {
  t.test(
    `${name}: a body that we do not read is not late, nor waited for without end`,
    async (t) => {
      const time = startClock()
      const { upload, deadlines } = await open(t, time)
      const pass = async (ms: number) => {
        time.pass(ms)
        deadlines.sweep()
        await upload.settled()
      }
      // the clock stands still but for these steps, in which less is earned than it owes
      upload.send(upload.free + budget.burst + 1000)
      await upload.settled()
      await pass(IDLE_MS + 1)
      await pass(IDLE_MS + 1)
      t.notOk(upload.isAnswered())
      await pass(LIMITS.throttledMsMax)
      t.ok(upload.isAnswered())
    },
  )

  t.test(`${name}: and its time begins when it is read again`, async (t) => {
    const time = startClock()
    const { upload, deadlines } = await open(t, time)
    upload.send(upload.free + budget.burst + 1)
    await upload.settled()
    t.ok(upload.isSlowed())
    time.pass(IDLE_MS * 2)
    deadlines.sweep()
    while (upload.isSlowed()) await turn()
    time.pass(IDLE_MS - 1)
    deadlines.sweep()
    await upload.settled()
    t.notOk(upload.isAnswered())
    time.pass(2)
    deadlines.sweep()
    await upload.settled()
    t.ok(upload.isAnswered())
  })
}

t.test('HTTP/1.1: what comes behind a last answer is slowed down as well', async (t) => {
  const time = startClock()
  const { upload, deadlines } = await openHttp1(t, time, 'none\r\n\r\n')
  await upload.settled()
  t.ok(upload.isAnswered())
  upload.send(upload.free + budget.burst)
  t.notOk(upload.isSlowed())
  upload.send(10)
  t.ok(upload.isSlowed())
  while (upload.isSlowed()) {
    time.pass(100)
    await turn()
  }
  deadlines.sweep()
  t.notOk(upload.isSlowed(), 'and read on')
})
