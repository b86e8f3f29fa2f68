/** The upstream as any wire can use it: decoded chunks out, chunks made of what is written. */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import t, { type Test } from 'tap'
import type {
  ResponseSink,
  UpstreamFailure,
  UpstreamRequest,
} from '../../../gateway/wire/upstream-call.ts'
import type { ResponseHead } from '../../../gateway/wire/response-head.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import { startOrigin, startRawOrigin } from '../../support/wire.ts'

class Recorder implements ResponseSink {
  readonly wantsRawChunks = false
  readonly informational: number[] = []
  head: ResponseHead | null = null
  body = ''
  trailers = ''
  failure: UpstreamFailure | null = null
  drains = 0
  readEnds = 0
  readonly over: Promise<void>
  #end!: () => void
  constructor() {
    this.over = new Promise((resolve) => (this.#end = resolve))
  }
  onInformational(status: number): void {
    this.informational.push(status)
  }
  onHead(head: ResponseHead): void {
    this.head = head
  }
  onData(buffer: Buffer, from: number, to: number): void {
    this.body += buffer.toString('latin1', from, to)
  }
  onText(text: string): void {
    this.body += text
  }
  onReadEnd(): void {
    this.readEnds++
  }
  onEnd(trailers: string): void {
    this.trailers = trailers
    this.#end()
  }
  onError(failure: UpstreamFailure): void {
    this.failure = failure
    this.#end()
  }
  onDrain(): void {
    this.drains++
  }
}

const REQUEST: UpstreamRequest = {
  method: 'POST',
  target: '/a',
  lines: 'Host: app.test\r\n',
  bodyLength: -1,
  hasLength: false,
  firstBody: '',
  isBodyWhole: false,
  isRawChunked: false,
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** How often the kernel is called by any socket from here on. */
function countWrites(t: Test) {
  const writes = { count: 0 }
  const prototype = Socket.prototype as unknown as { _writeGeneric(...given: unknown[]): unknown }
  const { _writeGeneric: write } = prototype
  t.teardown(() => (prototype._writeGeneric = write))
  prototype._writeGeneric = function (...given) {
    writes.count++
    return write.apply(this, given)
  }
  return writes
}

const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 }

function upstreamTo(t: Parameters<typeof startOrigin>[0], origin: string) {
  const upstream = createUpstream({ origin, timeouts })
  t.teardown(() => upstream.close())
  return upstream
}

t.test('what is written becomes chunks, with trailers behind them', async (t) => {
  const origin = await startOrigin(t)
  const upstream = upstreamTo(t, origin.url)
  const sink = new Recorder()
  const call = upstream.request(REQUEST, sink)
  call.write(Buffer.from('hel'))
  call.write(Buffer.alloc(0))
  call.write(Buffer.from('lo'))
  call.end('X-Sum: 1\r\n')
  await sink.over
  t.match(origin.seen, [{ method: 'POST', target: '/a', trailers: ['X-Sum', '1'] }])
  t.equal(origin.seen[0]?.body.toString(), 'hello')
  t.match(sink, { head: { status: 200 }, body: 'ok', failure: null })
  t.match(upstream.stats(), { idle: 1 })
})

t.test('small pieces of one turn of the event loop are one write, in their order', async (t) => {
  const origin = await startOrigin(t)
  const upstream = upstreamTo(t, origin.url)
  const sink = new Recorder()
  const call = upstream.request({ ...REQUEST, firstBody: '1\r\n-\r\n' }, sink)
  while (origin.begun() === 0) await turn()
  const writes = countWrites(t)
  const large = 'y'.repeat(5000)
  for (let at = 0; at < 500; at++) call.write(Buffer.from(`${at % 10}`))
  call.write(Buffer.from(large))
  for (let at = 0; at < 500; at++) call.write(Buffer.from(`${at % 10}`))
  await turn()
  t.ok(writes.count <= 4, `${writes.count} writes for 1001 pieces`)
  call.end()
  await sink.over
  t.equal(
    origin.seen[0]?.body.toString(),
    `-${'0123456789'.repeat(50)}${large}${'0123456789'.repeat(50)}`,
  )
})

t.test(
  'those of an answer are handed on together, once a turn, however many there are',
  async (t) => {
    const [application, gateway] = duplexPair()
    const same = () => gateway
    const socket = Object.assign(gateway, {
      setNoDelay: same,
      setTimeout: same,
      unref: same,
      ref: same,
    })
    const upstream = createUpstream({
      origin: 'http://app.test',
      timeouts,
      way: {
        open: (opening) => process.nextTick(() => opening.onOpened(socket as unknown as Socket)),
        isCrowded: () => false,
        hasRoomFor: () => true,
        roomNow: () => () => true,
      },
    })
    t.teardown(() => upstream.close())
    const sink = new Recorder()
    const get = { ...REQUEST, method: 'GET', bodyLength: 0, isBodyWhole: true }
    upstream.request(get, sink)
    await once(application, 'data')
    application.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
    await turn()
    for (let at = 0; at < 999; at++) application.write('x')
    let turns = 0
    for (; sink.body.length < 999; turns++) await turn()
    t.ok(sink.readEnds <= turns + 2, `${sink.readEnds} writes in ${turns} turns`)
    t.ok(turns < 100)
    application.write('x')
    await sink.over
    t.equal(sink.body, 'x'.repeat(1000))
  },
)

t.test('chunks come decoded, trailers by themselves', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
          '3;a\r\nhel\r\n2\r\nlo\r\n0\r\nGrpc-Status: 0\r\n\r\n',
      ),
    )
  })
  const sink = new Recorder()
  upstreamTo(t, origin.url).request(
    { ...REQUEST, method: 'GET', bodyLength: 0, isBodyWhole: true },
    sink,
  )
  await sink.over
  t.match(sink, { informational: [103], body: 'hello', trailers: 'Grpc-Status: 0\r\n' })
})

t.test('a pause holds the response, a resume lets it go on', async (t) => {
  const bytes = 16 << 20
  const origin = await startOrigin(t, (_request, response) => response.end(Buffer.alloc(bytes)))
  const upstream = upstreamTo(t, origin.url)
  const sink = new Recorder()
  let received = 0
  let isPaused = false
  let isHeld = true
  sink.onData = (_buffer, from, to) => {
    if (isPaused) isHeld = false
    received += to - from
    call.pause()
    isPaused = true
    setImmediate(() => {
      isPaused = false
      call.resume()
    })
  }
  const call = upstream.request(
    { ...REQUEST, method: 'GET', bodyLength: 0, isBodyWhole: true },
    sink,
  )
  await sink.over
  t.equal(received, bytes)
  t.ok(isHeld, 'nothing came while it was held')
})

t.test('an abort closes the connection, and the sink hears nothing more', async (t) => {
  const origin = await startRawOrigin(t, (socket) => socket.resume())
  const upstream = upstreamTo(t, origin.url)
  const sink = new Recorder()
  const call = upstream.request(
    { ...REQUEST, method: 'GET', bodyLength: 0, isBodyWhole: true },
    sink,
  )
  while (origin.sockets.size === 0) await turn()
  call.abort()
  while (origin.sockets.size > 0) await turn()
  t.equal(sink.failure, null)
  t.equal(upstream.stats().sockets, 0)
  call.abort()
})

for (const [name, answer] of [
  [
    'with a length',
    'HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much',
  ],
  ['until the end', 'HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\ntoo much'],
] as const)
  t.test(`an origin that answers and hangs up while we write is heard: ${name}`, async (t) => {
    const gone = Promise.withResolvers<void>()
    const origin = await startRawOrigin(t, (socket) => {
      socket.once('data', () => {
        // What comes behind its end is answered by a reset, and our next write fails.
        socket.end(answer, () => socket.destroy())
        socket.once('close', () => gone.resolve())
      })
    })
    const upstream = upstreamTo(t, origin.url)
    const sink = new Recorder()
    const call = upstream.request({ ...REQUEST, firstBody: '1\r\nx\r\n' }, sink)
    call.pause()
    await gone.promise
    call.write(Buffer.from('resets'))
    // a turn of the event loop: the reset has come, and nothing has been read yet
    await turn()
    call.write(Buffer.from('fails'))
    await turn()
    call.write(Buffer.from('is nobody’s'))
    call.resume()
    await sink.over
    t.match(sink, { head: { status: 413 }, body: 'too much', failure: null })
    t.equal(upstream.stats().sockets, 0, 'it serves nobody else')
  })

t.test('an origin that hangs up while we write, and says nothing, is a failure', async (t) => {
  const gone = Promise.withResolvers<void>()
  const origin = await startRawOrigin(t, (socket) => {
    socket.once('data', () => {
      socket.resetAndDestroy()
      socket.once('close', () => gone.resolve())
    })
  })
  const sink = new Recorder()
  const call = upstreamTo(t, origin.url).request({ ...REQUEST, firstBody: '1\r\nx\r\n' }, sink)
  call.pause()
  await gone.promise
  await turn()
  call.write(Buffer.from('fails'))
  call.resume()
  await sink.over
  t.match(sink.failure, { code: 'upstream_reset' })
})
