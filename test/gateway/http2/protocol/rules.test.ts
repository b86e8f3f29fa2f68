/** Frames that no client may send, and how each ends: its connection, or its stream alone. */
import t from 'tap'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  FrameClient,
  requestFields,
  TYPE,
  uint32,
} from '../../../support/http2-frames.ts'
import { HOST, startSecureWire } from '../../../support/secure-wire.ts'
import { startRawOrigin } from '../../../support/wire.ts'

const PROTOCOL = 1
const FLOW_CONTROL = 3
const STREAM_CLOSED = 5
const FRAME_SIZE = 6
const COMPRESSION = 9
const CALM = 11
const PADDED = 8
const PRIORITY = 0x20
const ACK = 1

const none = Buffer.alloc(0)
const setting = (name: number, value: number) =>
  Buffer.concat([Buffer.from([0, name]), uint32(value)])
const whole = requestFields(HOST)
const open = frame(TYPE.headers, END_HEADERS, 1, whole)
const ended = frame(TYPE.headers, END_HEADERS | END_STREAM, 1, whole)
const third = frame(TYPE.headers, END_HEADERS, 3, whole)
const headers = (block: Buffer, flags = END_HEADERS | END_STREAM) =>
  frame(TYPE.headers, flags, 1, block)

/** What is sent behind the preface, and the code of the GOAWAY. */
const ENDS_CONNECTION: Readonly<Record<string, readonly [number, ...Buffer[]]>> = {
  'a frame longer than we take': [FRAME_SIZE, frame(TYPE.ping, 0, 0, Buffer.alloc(16_385))],
  'DATA of no stream': [PROTOCOL, frame(TYPE.data, 0, 0, none)],
  'DATA of a stream that never was': [PROTOCOL, frame(TYPE.data, 0, 1, none)],
  'padding longer than its frame': [PROTOCOL, open, frame(TYPE.data, PADDED, 1, Buffer.from([9]))],
  'padding without a length': [FRAME_SIZE, open, frame(TYPE.data, PADDED, 1, none)],
  'HEADERS of no stream': [PROTOCOL, frame(TYPE.headers, END_HEADERS, 0, whole)],
  'HEADERS of an even stream': [PROTOCOL, frame(TYPE.headers, END_HEADERS, 2, whole)],
  'HEADERS of a stream that was passed over': [STREAM_CLOSED, third, ended],
  'HEADERS padded beyond their end': [
    PROTOCOL,
    headers(Buffer.concat([Buffer.from([200]), whole]), END_HEADERS | PADDED),
  ],
  'HEADERS too short for their priority': [FRAME_SIZE, headers(none, END_HEADERS | PRIORITY)],
  'PRIORITY of no stream': [PROTOCOL, frame(TYPE.priority, 0, 0, Buffer.alloc(5))],
  'PRIORITY of four bytes': [FRAME_SIZE, frame(TYPE.priority, 0, 1, Buffer.alloc(4))],
  'RST_STREAM of no stream': [PROTOCOL, frame(TYPE.reset, 0, 0, uint32(8))],
  'RST_STREAM of a stream that never was': [PROTOCOL, frame(TYPE.reset, 0, 1, uint32(8))],
  'RST_STREAM of a stream of ours': [PROTOCOL, third, frame(TYPE.reset, 0, 2, uint32(8))],
  'RST_STREAM of five bytes': [FRAME_SIZE, open, frame(TYPE.reset, 0, 1, Buffer.alloc(5))],
  'SETTINGS of a stream': [PROTOCOL, frame(TYPE.settings, 0, 1, none)],
  'half a setting': [FRAME_SIZE, frame(TYPE.settings, 0, 0, Buffer.alloc(5))],
  'an acknowledgement that says something': [
    FRAME_SIZE,
    frame(TYPE.settings, ACK, 0, setting(4, 1)),
  ],
  'acknowledgements beyond what we said': [
    PROTOCOL,
    frame(TYPE.settings, ACK, 0, none),
    frame(TYPE.settings, ACK, 0, none),
  ],
  'a push that is neither on nor off': [PROTOCOL, frame(TYPE.settings, 0, 0, setting(2, 2))],
  'a window of 2 GiB': [FLOW_CONTROL, frame(TYPE.settings, 0, 0, setting(4, 2 ** 31))],
  'frames smaller than they must be taken': [PROTOCOL, frame(TYPE.settings, 0, 0, setting(5, 9))],
  'more settings than there are': [CALM, frame(TYPE.settings, 0, 0, Buffer.alloc(33 * 6))],
  'PUSH_PROMISE from a client': [PROTOCOL, frame(TYPE.push, END_HEADERS, 1, uint32(2))],
  'PING of a stream': [PROTOCOL, frame(TYPE.ping, 0, 1, Buffer.alloc(8))],
  'PING of seven bytes': [FRAME_SIZE, frame(TYPE.ping, 0, 0, Buffer.alloc(7))],
  'an answer to a PING that we never sent': [PROTOCOL, frame(TYPE.ping, ACK, 0, Buffer.alloc(8))],
  'GOAWAY of a stream': [PROTOCOL, frame(TYPE.goaway, 0, 1, Buffer.alloc(8))],
  'GOAWAY of seven bytes': [FRAME_SIZE, frame(TYPE.goaway, 0, 0, Buffer.alloc(7))],
  'WINDOW_UPDATE of three bytes': [FRAME_SIZE, frame(TYPE.windowUpdate, 0, 0, Buffer.alloc(3))],
  'WINDOW_UPDATE of nothing': [PROTOCOL, frame(TYPE.windowUpdate, 0, 0, uint32(0))],
  'WINDOW_UPDATE of a stream that never was': [PROTOCOL, frame(TYPE.windowUpdate, 0, 1, uint32(1))],
  'WINDOW_UPDATE of a stream of ours': [PROTOCOL, third, frame(TYPE.windowUpdate, 0, 2, uint32(1))],
  'DATA of a stream of ours': [PROTOCOL, third, frame(TYPE.data, 0, 2, none)],
  'a window of the connection beyond 2 GiB': [
    FLOW_CONTROL,
    frame(TYPE.windowUpdate, 0, 0, uint32(2 ** 31 - 1)),
  ],
  'CONTINUATION of nothing': [PROTOCOL, frame(TYPE.continuation, END_HEADERS, 1, none)],
  'another frame within a block': [PROTOCOL, headers(whole, 0), frame(TYPE.settings, 0, 0, none)],
  'CONTINUATION of another stream': [
    PROTOCOL,
    headers(whole, 0),
    frame(TYPE.continuation, END_HEADERS, 3, none),
  ],
  'a block in too many pieces': [
    CALM,
    headers(whole, 0),
    ...Array.from({ length: LIMITS.http2BlockFramesMax }, () =>
      frame(TYPE.continuation, 0, 1, none),
    ),
  ],
  'an index that is in no table': [COMPRESSION, headers(Buffer.from([0x80 | 70]))],
  'the index zero': [COMPRESSION, headers(Buffer.from([0x80]))],
  'a number that never ends': [
    COMPRESSION,
    headers(Buffer.from([0xff, 255, 255, 255, 255, 255, 1])),
  ],
  'a text beyond its block': [COMPRESSION, headers(Buffer.from([0, 1, 0x61, 9, 0x62]))],
  'a table larger than ours': [COMPRESSION, headers(Buffer.from([0x3f, 0xe2, 0x1f]))],
  'a table that changes behind a field': [COMPRESSION, headers(Buffer.from([0x82, 0x20]))],
  'Huffman code that ends in zeroes': [COMPRESSION, headers(Buffer.from([0, 1, 0x61, 0x81, 0]))],
  'Huffman code with an end of string': [
    COMPRESSION,
    headers(Buffer.from([0, 1, 0x61, 0x84, 255, 255, 255, 255])),
  ],
  'Huffman code padded with a byte': [COMPRESSION, headers(Buffer.from([0, 1, 0x61, 0x81, 255]))],
}

/** What is sent, and the code of the RST_STREAM; the connection goes on. */
const ENDS_STREAM: Readonly<Record<string, readonly [number, ...Buffer[]]>> = {
  'DATA behind the end': [STREAM_CLOSED, ended, frame(TYPE.data, 0, 1, Buffer.from('x'))],
  'HEADERS behind the end': [STREAM_CLOSED, ended, ended],
  'trailers that are not the end': [PROTOCOL, open, frame(TYPE.headers, END_HEADERS, 1, none)],
  'a trailer that is a pseudo-header': [PROTOCOL, open, headers(field(':path', '/'))],
  'a trailer in capitals': [PROTOCOL, open, headers(field('X-A', 'b'))],
  'a trailer with a line end': [PROTOCOL, open, headers(field('x-a', 'b\r\nc: d'))],
  'more body than was said': [
    PROTOCOL,
    headers(requestFields(HOST, '/', [['content-length', '1']]), END_HEADERS),
    frame(TYPE.data, 0, 1, Buffer.from('xx')),
  ],
  'less body than was said': [
    PROTOCOL,
    headers(requestFields(HOST, '/', [['content-length', '3']]), END_HEADERS),
    frame(TYPE.data, END_STREAM, 1, Buffer.from('xx')),
  ],
  'a length where nothing follows': [
    PROTOCOL,
    headers(requestFields(HOST, '/', [['content-length', '1']])),
  ],
  'two lengths': [
    PROTOCOL,
    headers(
      requestFields(HOST, '/', [
        ['content-length', '1'],
        ['content-length', '1'],
      ]),
      END_HEADERS,
    ),
  ],
  'a stream that depends on itself': [
    PROTOCOL,
    headers(Buffer.concat([uint32(1), Buffer.from([9]), whole]), END_HEADERS | PRIORITY),
  ],
  'a WINDOW_UPDATE of nothing': [PROTOCOL, open, frame(TYPE.windowUpdate, 0, 1, uint32(0))],
  'a window beyond 2 GiB': [
    FLOW_CONTROL,
    open,
    frame(TYPE.windowUpdate, 0, 1, uint32(2 ** 31 - 1)),
  ],
  'more body than its window': [
    FLOW_CONTROL,
    open,
    ...Array.from({ length: 5 }, () => frame(TYPE.data, 0, 1, Buffer.alloc(16_384))),
  ],
}

t.test('what ends the connection says why', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url)
  for (const [name, [code, ...frames]] of Object.entries(ENDS_CONNECTION)) {
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.send(...frames)
    await client.closed
    t.equal(client.goawayCode(), code, name)
  }
})

t.test('what ends a stream leaves its connection', async (t) => {
  // An application that reads nothing: what is sent stays in the window.
  const origin = await startRawOrigin(t, (socket) => void socket.pause())
  const wire = await startSecureWire(t, origin.url, { decide: () => undefined })
  for (const [name, [code, ...frames]] of Object.entries(ENDS_STREAM)) {
    const client = new FrameClient(wire.tls({ ALPNProtocols: ['h2'] }))
    client.send(...frames)
    t.equal(await client.settled(), 'open', name)
    t.equal(client.resetCode(1), code, name)
    client.socket.destroy()
  }
})

t.test('whoever says something else first, or nothing of HTTP/2, is no client', async (t) => {
  const origin = await startRawOrigin(t, () => undefined)
  const wire = await startSecureWire(t, origin.url)
  for (const first of [
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r',
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n......',
    Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      frame(TYPE.ping, 0, 0, Buffer.alloc(8)),
    ]),
  ]) {
    const socket = wire.tls({ ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined).resume()
    socket.write(first)
    await new Promise((resolve) => socket.once('close', resolve))
    t.pass(`${first.length} bytes`)
  }
})
