import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { TLSSocket } from 'node:tls'
import t from 'tap'
import { SpareBuffer } from '../../../gateway/wire/client-writer.ts'

const BYTES = 64 * 1024

/** A socket that is done with what it was given when `sent` is called. */
function slowSocket(socket: Socket) {
  let waiting = 0
  const callbacks: ((error?: Error) => void)[] = []
  Object.defineProperty(socket, 'writableLength', { get: () => waiting })
  socket.write = ((piece: Buffer, callback?: (error?: Error) => void) => {
    waiting += piece.length
    if (callback) callbacks.push(callback)
    return false
  }) as typeof socket.write
  const sent = (error?: Error) => {
    waiting = 0
    callbacks.shift()?.(error)
  }
  return { socket, sent }
}

const secure = () => slowSocket(new TLSSocket(new PassThrough()))

t.test('over TLS a buffer comes back when its bytes are sent, and not before', (t) => {
  const spare = new SpareBuffer(BYTES)
  const { socket, sent } = secure()
  const first = spare.take(BYTES)
  t.equal(spare.write(socket, first, BYTES), false)
  const second = spare.take(BYTES)
  t.not(second, first)
  spare.write(socket, second, BYTES)
  sent()
  t.equal(spare.take(1), first)
  sent(new Error('reset'))
  t.not(spare.take(1), second, 'who broke keeps it')
  const left = spare.take(1)
  spare.write(socket, left, BYTES)
  socket.destroy()
  sent()
  t.not(spare.take(1), left, 'and who has left')
  const { socket: other, sent: sentAll } = secure()
  const many = new Set(Array.from({ length: 40 }, () => spare.take(1)))
  for (const one of many) spare.write(other, one, 1)
  for (let count = 0; count < many.size; count++) sentAll()
  const kept = Array.from({ length: 40 }, () => many.has(spare.take(1)))
  t.equal(kept.filter(Boolean).length, 32, 'as many as are kept')
  t.end()
})

t.test('in the clear it comes back at once where the kernel has taken all, or is lost', (t) => {
  const spare = new SpareBuffer(BYTES)
  const { socket } = slowSocket(new Socket())
  const lost = spare.take(BYTES)
  spare.write(socket, lost, BYTES)
  t.not(spare.take(1), lost)
  const quick = new Socket()
  quick.write = () => true
  const taken = spare.take(1)
  t.equal(spare.write(quick, taken, 1), true)
  t.equal(spare.take(1), taken)
  const larger = spare.take(BYTES + 1)
  t.equal(larger.length, BYTES + 1)
  spare.write(quick, larger, 1)
  t.equal(spare.take(1).length, BYTES)
  t.end()
})
