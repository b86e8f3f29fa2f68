import t from 'tap'
import { closeFrame, FrameTracker } from '../../../gateway/upgrade/frames.ts'

const TEXT = 1
const PING = 9
const CLOSE = 8

function frame(opcode: number, length: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0
  const header =
    length < 126
      ? [0x80 | opcode, mask | length]
      : length < 65_536
        ? [0x80 | opcode, mask | 126, length >> 8, length & 255]
        : [
            0x80 | opcode,
            mask | 127,
            0,
            0,
            0,
            0,
            ...[24, 16, 8, 0].map((by) => (length >> by) & 255),
          ]
  return Buffer.concat([Buffer.from(header), Buffer.alloc(length + (isMasked ? 4 : 0), 0xff)])
}

t.test('the end of a frame is found however it is cut into pieces', async (t) => {
  for (const isMasked of [false, true])
    for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
      const bytes = frame(TEXT, length, isMasked)
      for (const piece of [1, 2, 3, 7, 4096, bytes.length]) {
        if (piece < 8 && length > 1000) continue
        const frames = new FrameTracker()
        for (let at = 0; at < bytes.length; at += piece) {
          t.equal(frames.isAtBoundary, at === 0, `${length} bytes, cut at ${at}`)
          frames.scan(bytes.subarray(at, at + piece))
        }
        t.ok(frames.isAtBoundary, `${length} bytes in pieces of ${piece}`)
      }
    }
})

t.test('messages count as activity, pings and pongs do not', async (t) => {
  const frames = new FrameTracker()
  t.equal(frames.scan(frame(PING, 10, true)), false)
  t.equal(frames.scan(frame(TEXT, 10, true)), true)
  t.equal(frames.scan(Buffer.concat([frame(PING, 3, true), frame(0, 3, true)])), true)
  const long = frame(TEXT, 1000, true)
  frames.scan(long.subarray(0, 10))
  t.equal(frames.scan(long.subarray(10, 20)), true, 'each part of a long message')
  frames.scan(long.subarray(20))
  t.equal(frames.scan(frame(PING + 1, 0, true)), false)
})

t.test('a close frame is the last one', async (t) => {
  const frames = new FrameTracker()
  frames.scan(frame(TEXT, 5, false))
  t.equal(frames.hasClosed, false)
  frames.scan(frame(CLOSE, 2, false))
  t.equal(frames.hasClosed, true)
})

t.test('a close frame of ours is one to its reader', async (t) => {
  for (const isMasked of [false, true]) {
    const bytes = closeFrame(1008, 'session ended', isMasked)
    const frames = new FrameTracker()
    frames.scan(bytes)
    t.ok(frames.isAtBoundary && frames.hasClosed)
    t.equal((bytes[1]! & 0x80) !== 0, isMasked)
    const payload = bytes.subarray(isMasked ? 6 : 2)
    t.equal(payload.readUInt16BE(), 1008)
    t.equal(payload.subarray(2).toString(), 'session ended')
  }
})
