/** Frames of a WebSocket in pieces: over TLS each record comes by itself. */
import type { Socket } from 'node:net'
import { Duplex, duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Deadlines } from '../../../gateway/wire/deadlines.ts'
import { SmallReads } from '../../../gateway/wire/small-reads.ts'
import type { Budget } from '../../../gateway/wire/budget.ts'
import { Throttle } from '../../../gateway/wire/throttle.ts'
import { Tunnel } from '../../../gateway/upgrade/tunnel.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'

function asSocket(t: Test, stream: Duplex) {
  t.teardown(() => stream.destroy())
  const same = () => stream
  const destroySoon = () => stream.end()
  return Object.assign(stream, {
    setTimeout: same,
    setKeepAlive: same,
    destroySoon,
  }) as unknown as Socket
}

const UNLIMITED: Budget = { burst: Infinity, perSecond: 0 }

interface Budgets {
  readonly smallReads?: Budget
  readonly smallFrames?: Budget
}

function openTunnel(
  t: Test,
  { smallReads = UNLIMITED, smallFrames = UNLIMITED }: Budgets = {},
  [, upstream]: Duplex[] = duplexPair(),
) {
  const clock = { ms: 0, nowMs: () => clock.ms, steadyMs: () => clock.ms }
  const deadlines = new Deadlines(systemClock)
  t.teardown(() => deadlines.close())
  const tunnel = new Tunnel({ deadlines, clock: systemClock, idleMs: 5000 })
  t.teardown(() => void tunnel.destroy())
  const [, client] = duplexPair()
  const [ofReads, ofFrames] = [new Throttle(smallReads, clock), new Throttle(smallFrames, clock)]
  const told: string[] = []
  const world = {
    smallReadsOf: () => ofReads,
    smallFramesOf: () => ofFrames,
    tellSmallReads: (address: string) => void told.push(address),
  }
  const reads = new SmallReads(world, '192.0.2.7', () => undefined)
  const taken = { socket: asSocket(t, client), leftover: Buffer.alloc(0), reads, open: () => 0 }
  tunnel.attach(taken, asSocket(t, upstream!), '')
  const passed: Buffer[] = []
  tunnel.on('data', (chunk: Buffer) => passed.push(chunk))
  const send = (piece: Buffer) => client.emit('data', piece)
  return { tunnel, reads, passed, send, client, clock, told }
}

/** An application that takes what it is given when it is told to. */
function startSlowApplication() {
  const taken: Buffer[] = []
  const waiting: (() => void)[] = []
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      taken.push(chunk)
      waiting.push(done)
    },
  })
  const takeAll = async () => {
    for (; waiting.length > 0; await turn()) waiting.shift()!()
  }
  return { stream, taken, takeAll }
}

/** A masked text frame. */
function frameOf(text: string): Buffer {
  const length = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 255])
  return Buffer.concat([length, Buffer.alloc(4), Buffer.from(text)])
}

t.test('what comes in pieces in one turn goes on together, in its order', async (t) => {
  const { passed, send } = openTunnel(t)
  await turn()
  const sent = Buffer.concat([frameOf('a'.repeat(1000)), frameOf('b'.repeat(900))])
  for (let at = 0; at < 1500; at++) send(sent.subarray(at, at + 1))
  send(sent.subarray(1500))
  await turn()
  t.ok(Buffer.concat(passed).equals(sent))
  t.ok(passed.length <= 3, `${passed.length} pieces went on for 1501`)
})

t.test(
  'whoever sends frames in tiny pieces is slowed down, and ended for more than can wait',
  async (t) => {
    const smallReads = { burst: 10, perSecond: 10_000 }
    const { tunnel, reads, send, client, clock, told } = openTunnel(t, { smallReads })
    await turn()
    const large = frameOf('y'.repeat(60_000))
    const free = LIMITS.smallReadsFree + smallReads.burst
    for (let at = 0; at < free; at++) send(large.subarray(at, at + 1))
    t.notOk(client.isPaused())
    send(large.subarray(0, 1))
    t.ok(client.isPaused(), 'it waits')
    for (let round = 0; round < 20; round++) {
      clock.ms += LIMITS.throttledMsMax / 10
      while (reads.isWaiting) {
        clock.ms++
        await turn()
      }
      for (let at = 0; at < 30; at++) send(large.subarray(0, 1))
      t.same([client.isPaused(), tunnel.destroyed, told], [true, false, []])
    }
    for (let at = 0; at < LIMITS.throttledOwedMax && !tunnel.destroyed; at++)
      send(large.subarray(0, 1))
    t.same([tunnel.destroyed, told], [true, ['192.0.2.7']])
  },
)

t.test('whole frames have a larger budget, and nobody is ended for them', async (t) => {
  const smallFrames = { burst: 100, perSecond: 100_000 }
  const smallReads = { burst: 0, perSecond: 0 }
  const { tunnel, passed, send, client, clock, told } = openTunnel(t, { smallReads, smallFrames })
  await turn()
  const whole = frameOf('x'.repeat(10))
  for (let count = 0; count < smallFrames.burst; count++) send(whole)
  t.notOk(client.isPaused())
  let sent = smallFrames.burst
  for (let round = 0; round < 100; round++) {
    for (let count = 0; count < 5; count++, sent++) send(whole)
    t.ok(client.isPaused(), 'it waits')
    clock.ms += LIMITS.throttledMsMax / 50
    while (client.isPaused()) {
      clock.ms++
      await turn()
    }
    for (let count = 0; count < smallFrames.burst; count++, sent++) send(whole)
  }
  await turn()
  t.equal(Buffer.concat(passed).length, sent * whole.length)
  t.same([tunnel.destroyed, told], [false, []])
  t.ok(LIMITS.smallFrames.burst > LIMITS.smallReads.burst)
})

t.test('a tunnel that waits for its application is not read when it may be', async (t) => {
  const smallFrames = { burst: 1, perSecond: 1000 }
  const { tunnel, reads, send, client, clock } = openTunnel(t, { smallFrames })
  await turn()
  tunnel.pause()
  send(frameOf('x'))
  send(frameOf('x'))
  while (tunnel.readableLength < tunnel.readableHighWaterMark) send(frameOf('y'.repeat(9000)))
  clock.ms += 1000
  while (reads.isWaiting) await turn()
  t.ok(client.isPaused(), 'its turn has come, but not that of its application')
  tunnel.resume()
  while (client.isPaused()) await turn()
  t.notOk(tunnel.destroyed)
})

t.test('what is only dropped is slowed down as well', async (t) => {
  const smallFrames = { burst: 100, perSecond: 100_000 }
  const { tunnel, passed, send, client, clock, told } = openTunnel(t, { smallFrames })
  await turn()
  tunnel.pause()
  while (tunnel.readableLength < tunnel.readableHighWaterMark) send(frameOf('y'.repeat(9000)))
  tunnel.cut({ code: 1001, reason: 'going away' })
  t.notOk(client.isPaused(), 'what comes is read, though the application takes nothing')
  for (let count = 0; count <= smallFrames.burst; count++) send(frameOf('x'))
  t.ok(client.isPaused(), 'it waits')
  clock.ms += 1000
  while (client.isPaused()) await turn()
  t.notOk(tunnel.destroyed)
  t.same([passed, told], [[], []])
})

t.test('what has come before the end goes on before it', async (t) => {
  const { tunnel, passed, send } = openTunnel(t)
  await turn()
  const whole = frameOf('bye')
  send(whole)
  tunnel.cut({ code: 1001, reason: 'going away' })
  await turn()
  t.ok(Buffer.concat(passed).subarray(0, whole.length).equals(whole))
  t.ok(Buffer.concat(passed).length > whole.length, 'and our close frame behind it')
})

t.test('pieces that the application does not take are no buffer each', async (t) => {
  const { stream, taken, takeAll } = startSlowApplication()
  const { tunnel, send } = openTunnel(t, {}, [stream, stream])
  tunnel.pipe(stream)
  const sent = frameOf('0123456789'.repeat(2000))
  for (let at = 0; at < sent.length - 1; at += 5) {
    send(sent.subarray(at, Math.min(at + 5, sent.length - 1)))
    await turn()
  }
  t.equal(taken.length, 1, 'it is at the first')
  const { writableLength } = stream
  t.ok(writableLength > 3 * 4096, `${writableLength} bytes wait for it`)
  await takeAll()
  const pieces = taken.filter(({ length }) => length > 0)
  t.ok(pieces.length < 9, `${pieces.length} pieces`)
  t.ok(Buffer.concat(taken).equals(sent.subarray(0, -1)), 'all of it, in its order')
  send(sent.subarray(-1))
  await turn()
  t.ok(Buffer.concat(taken).equals(sent), 'then each goes on at once')
})

t.test('what the application has not taken comes before the end', async (t) => {
  const { stream, taken, takeAll } = startSlowApplication()
  const { tunnel, send, client } = openTunnel(t, {}, [stream, stream])
  tunnel.pipe(stream)
  const sent = frameOf('bye')
  for (const byte of sent) {
    send(Buffer.from([byte]))
    await turn()
  }
  client.emit('end')
  await takeAll()
  t.ok(Buffer.concat(taken).equals(sent))
  t.ok(stream.writableFinished)
})
