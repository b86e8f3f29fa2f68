/** Whose turn it is to send: each stream that waits stands in the queue once. */
import t from 'tap'
import type { FrameWriter } from '../../../../gateway/http2/protocol/frame-writer.ts'
import { SendQueue } from '../../../../gateway/http2/protocol/send-queue.ts'
import { ServerStream } from '../../../../gateway/http2/protocol/stream.ts'
import type { StreamConnection } from '../../../../gateway/http2/protocol/stream.ts'

const ROUNDS = 500

function startQueue() {
  const sent: number[] = []
  let text = ''
  const writer = {
    isBlocked: false,
    data(id: number, body: Buffer, from: number, to: number) {
      sent.push(id)
      if (to - from <= 4096) text += body.toString('latin1', from, to)
    },
  }
  const queue = new SendQueue(writer as unknown as FrameWriter)
  let looks = 0
  class Watched extends ServerStream {
    override get hasSomethingToSend(): boolean {
      looks++
      return super.hasSomethingToSend
    }
  }
  const connection = {
    wantsToSend(stream: ServerStream) {
      queue.add(stream)
      queue.pump()
    },
    onOver: () => undefined,
  } as unknown as StreamConnection
  const request = { isWhole: true, isHead: false, length: -1 }
  const begin = (id: number, send = 2 ** 30) =>
    new Watched(connection, id, request, { send, receive: 0 })
  const open = (id: number) => {
    const stream = begin(id)
    stream.write(Buffer.alloc(1 << 20))
    return stream
  }
  return { queue, writer, sent, begin, open, looks: () => looks, text: () => text }
}

t.test('a window that opens byte by byte costs the same each time', (t) => {
  const { queue, sent, open, looks } = startQueue()
  open(1)
  const before = [sent.length, looks()] as const
  for (let round = 0; round < ROUNDS; round++) {
    queue.widen(1)
    queue.pump()
  }
  t.equal(sent.length - before[0], ROUNDS, 'a frame for each')
  t.ok(looks() - before[1] <= 10 * ROUNDS, `${looks() - before[1]} looks at it`)
  t.end()
})

t.test('who has had much does not have more turns than the others', (t) => {
  const { queue, writer, sent, open } = startQueue()
  open(1)
  for (let round = 0; round < ROUNDS; round++) {
    queue.widen(1)
    queue.pump()
  }
  open(3)
  sent.length = 0
  queue.widen(64 * 1024)
  queue.pump()
  t.same(sent, [1, 3, 1, 3])
  writer.isBlocked = true
  queue.widen(64 * 1024)
  queue.pump()
  t.equal(sent.length, 4, 'the socket has enough')
  writer.isBlocked = false
  queue.pump()
  t.same(sent.slice(4), [1, 3, 1, 3], 'and they go on where they were')
  t.end()
})

t.test('small pieces that wait become large frames, in their order', (t) => {
  const { queue, sent, begin, text } = startQueue()
  const stream = begin(1, 5)
  let done = 0
  const onDone = () => void done++
  let written = ''
  for (let at = 0; at < 20_000; at++) {
    const piece = String(at)
    written += piece
    stream.write(Buffer.from(piece), onDone)
    if (at === 100) stream.widen(7)
  }
  t.ok(stream.writableLength > 80_000)
  stream.widen(200_000)
  queue.widen(200_000)
  queue.add(stream)
  queue.pump()
  t.equal(text(), written)
  t.equal(stream.writableLength, 0)
  t.ok(sent.length < 100, `${sent.length} frames`)
  t.ok(done > 0 && done < 100)
  t.end()
})

t.test('an end goes through a window that its client has taken back', (t) => {
  const { queue, writer, begin } = startQueue()
  const given: [number, number, boolean][] = []
  writer.data = (_id: number, _body: Buffer, from: number, to: number, isEnd?: boolean) =>
    void given.push([from, to, isEnd === true])
  const stream = begin(1, 10)
  stream.write(Buffer.alloc(10))
  writer.isBlocked = true
  let isTold = false
  stream.end(Buffer.alloc(0), null, () => (isTold = true))
  stream.widen(-20)
  writer.isBlocked = false
  queue.pump()
  t.same(given, [
    [0, 10, false],
    [0, 0, true],
  ])
  t.ok(isTold)
  t.end()
})
