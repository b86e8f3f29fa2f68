/** Frames of a WebSocket in pieces: over TLS each record comes by itself. */
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createDeadlines } from '../../../gateway/http1/deadlines.ts'
import { SmallReads } from '../../../gateway/http1/small-reads.ts'
import { Tunnel } from '../../../gateway/upgrade/tunnel.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'

function asSocket(t: Test, stream: ReturnType<typeof duplexPair>[0]) {
  t.teardown(() => stream.destroy())
  const same = () => stream
  const destroySoon = () => stream.end()
  return Object.assign(stream, { setTimeout: same, destroySoon }) as unknown as Socket
}

function openTunnel(t: Test, budget: number) {
  const deadlines = createDeadlines(systemClock)
  t.teardown(() => deadlines.close())
  const tunnel = new Tunnel({ deadlines, nowMs: () => systemClock.nowMs(), idleMs: 5000 })
  t.teardown(() => void tunnel.destroy())
  const [, client] = duplexPair()
  const [, upstream] = duplexPair()
  let left = budget
  const reads = new SmallReads({ spendSmallRead: () => left-- > 0 }, '192.0.2.7')
  const taken = { socket: asSocket(t, client), leftover: Buffer.alloc(0), reads }
  tunnel.attach(taken, asSocket(t, upstream), '')
  const passed: Buffer[] = []
  tunnel.on('data', (chunk: Buffer) => passed.push(chunk))
  return { tunnel, passed, send: (piece: Buffer) => client.emit('data', piece) }
}

/** A masked text frame. */
function frameOf(text: string): Buffer {
  const length = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 255])
  return Buffer.concat([length, Buffer.alloc(4), Buffer.from(text)])
}

t.test('what comes in pieces in one turn goes on together, in its order', async (t) => {
  const { passed, send } = openTunnel(t, Infinity)
  await turn()
  const sent = Buffer.concat([frameOf('a'.repeat(1000)), frameOf('b'.repeat(900))])
  for (let at = 0; at < 1500; at++) send(sent.subarray(at, at + 1))
  send(sent.subarray(1500))
  await turn()
  t.ok(Buffer.concat(passed).equals(sent))
  t.ok(passed.length <= 3, `${passed.length} pieces went on for 1501`)
})

t.test('whole frames are as small as they like; pieces of them have a budget', async (t) => {
  const budget = 10
  const { tunnel, passed, send } = openTunnel(t, budget)
  await turn()
  const whole = frameOf('x'.repeat(10))
  const frames = 5 * LIMITS.smallReadsFree
  for (let count = 0; count < frames; count++) send(whole)
  await turn()
  t.equal(Buffer.concat(passed).length, frames * whole.length)
  const large = frameOf('y'.repeat(1000))
  for (let at = 0; at < LIMITS.smallReadsFree + budget; at++) send(large.subarray(at, at + 1))
  t.equal(tunnel.destroyed, false)
  send(large.subarray(0, 1))
  t.equal(tunnel.destroyed, true)
})

t.test('what has come before the end goes on before it', async (t) => {
  const { tunnel, passed, send } = openTunnel(t, Infinity)
  await turn()
  const whole = frameOf('bye')
  send(whole)
  tunnel.cut({ code: 1001, reason: 'going away' })
  await turn()
  t.ok(Buffer.concat(passed).subarray(0, whole.length).equals(whole))
  t.ok(Buffer.concat(passed).length > whole.length, 'and our close frame behind it')
})
