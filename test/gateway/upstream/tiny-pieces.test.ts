/** An application that answers in pieces of one byte costs no more than what it sends. */
import { duplexPair } from 'node:stream'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import type { UpstreamRequest } from '../../../gateway/wire/upstream-call.ts'
import { certificateFor } from '../../support/certificate.ts'
import { listening } from '../../support/wire.ts'

const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 }

/** A request, and how often somebody has looked for its answer: each look asks for its method. */
function countedRequest() {
  const request = {
    looks: 0,
    get method() {
      request.looks++
      return 'GET'
    },
    target: '/',
    lines: 'Host: a\r\n',
    bodyLength: 0,
    hasLength: false,
    firstBody: '',
    isBodyWhole: true,
    isRawChunked: false,
  } satisfies UpstreamRequest & { looks: number }
  return request
}

function recorder() {
  const over = Promise.withResolvers<void>()
  const seen = { status: 0, body: '', trailers: '', failure: '', flushes: 0, over: over.promise }
  return Object.assign(seen, {
    wantsRawChunks: false,
    onInformational: () => undefined,
    onHead: (head: { status: number }) => void (seen.status = head.status),
    onData: (buffer: Buffer, from: number, to: number) =>
      void (seen.body += buffer.toString('latin1', from, to)),
    onText: (text: string) => void (seen.body += text),
    onReadEnd: () => void seen.flushes++,
    onEnd(trailers: string) {
      seen.trailers = trailers
      over.resolve()
    },
    onError({ code }: { code: string }) {
      seen.failure = code
      over.resolve()
    },
    onDrain: () => undefined,
  })
}

const FIELDS = Array.from({ length: 100 }, (_item, at) => `X-Field-${at}: ${at}\r\n`).join('')

t.test('a head in TLS records of one byte is looked at a few times, and taken', async (t) => {
  const pair = certificateFor('localhost')
  const answer = async (socket: TLSSocket, text: string) => {
    // A write that waits for another one would share its record.
    for (const byte of text) await new Promise((written) => socket.write(byte, written))
  }
  let text = ''
  const server = createTlsServer(pair, (socket) => {
    socket.on('error', () => undefined).on('data', () => void answer(socket, text))
  })
  const port = await listening(server)
  const upstream = createUpstream({ origin: `https://localhost:${port}`, timeouts, ca: pair.cert })
  t.teardown(async () => {
    await upstream.close()
    server.close()
  })
  const ask = async (answered: string) => {
    text = answered
    const [request, sink] = [countedRequest(), recorder()]
    upstream.request(request, sink)
    await sink.over
    return { ...sink, looks: request.looks }
  }
  const early = `HTTP/1.1 103 Early\r\n${FIELDS}\r\n`
  const whole = await ask(`${early}HTTP/1.1 200 OK\r\n${FIELDS}Content-Length: 2\r\n\r\nok`)
  t.match(whole, { status: 200, body: 'ok', failure: '' })
  t.ok(whole.looks < 15, `${whole.looks} looks`)
  t.equal(upstream.stats().idle, 1, 'the connection stays')
  for (const [name, wrong] of [
    ['a line that is none', `HTTP/1.1 200 OK\r\n${FIELDS}no field\r\n\r\n`],
    ['lines that end otherwise', `HTTP/1.1 200 OK\r\n${FIELDS}A: b\n\n`],
    ['another protocol', 'HTTP/2.0 is spoken here\r\n'],
  ] as const)
    t.match(await ask(wrong), { status: 0, failure: 'upstream_invalid' }, name)
})

t.test('small pieces of one turn of the event loop are handed on together', async (t) => {
  const [near, far] = duplexPair()
  const socket = Object.assign(far, { setNoDelay: () => far }) as unknown as Socket
  const upstream = createUpstream({
    origin: 'http://application.internal',
    timeouts,
    way: {
      open: (opening) => void setImmediate(() => opening.onOpened(socket)),
      isCrowded: () => false,
      hasRoomFor: () => true,
      roomNow: () => () => true,
    },
  })
  t.teardown(async () => {
    near.destroy()
    await upstream.close()
  })
  const sink = recorder()
  upstream.request(countedRequest(), sink)
  await new Promise((asked) => near.once('data', asked))
  /** Each is one read, as a TLS record is. */
  const read = (text: string) => void socket.emit('data', Buffer.from(text))
  read('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (const byte of '3e8\r\n' + 'x'.repeat(1000)) read(byte)
  await turn()
  t.ok(sink.flushes <= 2, `${sink.flushes} flushes`)
  t.equal(sink.body.length, 1000)
  const before = sink.flushes
  read('\r\n1\r\ny')
  await turn()
  t.equal(sink.flushes, before + 1, 'and nothing waits for what comes later')
  for (const byte of '\r\n0\r\nX-Sum: 1\r\n\r\n') read(byte)
  await sink.over
  t.match(sink, { trailers: 'X-Sum: 1\r\n', failure: '' })
})
