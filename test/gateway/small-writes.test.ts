/** Whoever is written to by somebody who sends in records of a byte is written to once a turn. */
import { Duplex, duplexPair } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { splice } from '../../gateway/connectors/splice.ts'
import { Tunnel } from '../../gateway/upgrade/tunnel.ts'
import { Deadlines } from '../../gateway/wire/deadlines.ts'
import { gatherInTurn } from '../../gateway/wire/write-turns.ts'
import { systemClock } from '../../shared/clock.ts'
import { clockOf } from '../support/clocks.ts'

/** Counts as a socket does: what waits together is one write. */
function countedSocket(t: Test) {
  const seen = { writes: 0, text: '' }
  const take = (pieces: readonly { chunk: Buffer }[], done: () => void) => {
    seen.writes++
    for (const { chunk } of pieces) seen.text += chunk.toString('latin1')
    done()
  }
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => take([{ chunk }], done),
    writev: take,
  })
  t.teardown(() => stream.destroy())
  const same = () => stream
  const socket = Object.assign(stream, { setTimeout: same, setKeepAlive: same, destroySoon: same })
  return { socket: socket as unknown as Socket, seen }
}

const BYTES = 'abcdefghij'.repeat(100)

t.test('an application behind a WebSocket', async (t) => {
  const deadlines = new Deadlines(systemClock)
  t.teardown(() => deadlines.close())
  const tunnel = new Tunnel({ deadlines, clock: clockOf(() => 0), idleMs: 5000 })
  t.teardown(() => void tunnel.destroy())
  const { socket, seen } = countedSocket(t)
  const reads = {
    isWaiting: false,
    count: () => true,
    countWhole: () => undefined,
    leave: () => undefined,
    onGoOn: () => undefined,
  }
  const [, upstream] = duplexPair()
  const same = () => upstream
  const stubs = { setTimeout: same, setKeepAlive: same, destroySoon: same }
  const application = Object.assign(upstream, stubs)
  const taken = { socket, leftover: Buffer.alloc(0), reads, open: () => 0 }
  tunnel.attach(taken, application as unknown as Socket, '')
  tunnel.write('the head, which is said by somebody else')
  for (const byte of BYTES) tunnel.write(byte)
  await turn()
  t.equal(seen.text, BYTES)
  t.ok(seen.writes <= 2, `${seen.writes} writes`)
  const before = seen.writes
  tunnel.write('x'.repeat(1000))
  t.equal(seen.writes, before + 1, 'and what is large goes at once')
  tunnel.write('the last word')
  tunnel.destroy()
  t.match(seen.text, /the last word$/, 'nothing is lost at the end')
})

t.test('a connector, for another gateway', async (t) => {
  const [guest, connector] = [countedSocket(t), countedSocket(t)]
  splice(guest.socket, connector.socket)
  for (const byte of BYTES) connector.socket.emit('data', Buffer.from(byte))
  for (const byte of BYTES) guest.socket.emit('data', Buffer.from(byte))
  await turn()
  for (const { seen } of [guest, connector]) {
    t.equal(seen.text, BYTES)
    t.ok(seen.writes <= 2, `${seen.writes} writes`)
  }
})

t.test('what is large takes along what waits, in its order', (t) => {
  const { socket, seen } = countedSocket(t)
  for (const piece of ['a', 'b', 'c'.repeat(1000)]) {
    gatherInTurn(socket, piece.length)
    socket.write(piece)
  }
  t.equal(seen.text, `ab${'c'.repeat(1000)}`)
  t.end()
})
