/** What Node's parser is given at once: few heads, whole bodies, and nothing of who is cut. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { parseInSlices } from '../../../control-plane/listener/parsed-in-slices.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { REALM, startListener } from './served.ts'

type Scope = Parameters<typeof startListener>[0]

const TINY = 'GET / HTTP/1.1\r\n\r\n'
const EXPECTING = 'GET / HTTP/1.1\r\nExpect: x\r\n\r\n'
const FIRST = `GET ${REALM} HTTP/1.1\r\nHost: a\r\n\r\n`
const LAST = 'GET /last HTTP/1.1\r\nConnection: close\r\n\r\n'

function open(t: Scope, port: number, text: string | Buffer): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined).write(text)
  return socket
}

async function read(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => void (text += bytes.toString('latin1')))
  await new Promise((resolve) => socket.once('close', resolve).once('end', () => socket.end()))
  return text
}

/** Node's server with nothing of ours but the slices. */
async function startSliced(t: Scope, handle: Parameters<typeof startListener>[1]) {
  const server = createServer({ requireHostHeader: false })
  server.on('request', (request, response) => void handle(request, response))
  server.on('connection', (socket: Socket) => parseInSlices(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

for (const [name, head] of [
  ['heads', TINY],
  ['heads with an expectation', EXPECTING],
] as const) {
  t.test(`3000 ${name} in one write are few requests, and then the end`, async (t) => {
    let handled = 0
    const { port, server } = await startListener(t, () => void handled++)
    let seen = 0
    for (const event of ['request', 'checkExpectation']) server.on(event, () => void seen++)
    const taken = once(server, 'connection') as Promise<[Socket]>
    open(t, port, FIRST + head.repeat(3000))
    const [socket] = await taken
    await new Promise((resolve) => socket.once('close', resolve))
    t.ok(seen < 40, `${seen} requests`)
    t.equal(handled, 1)
    t.equal(LIMITS.parsedSliceBytesMin, 256)
  })
}

t.test('an expectation waits for the answers in front of it, and has its line', async (t) => {
  const { port, lines } = await startListener(t, (_request, response) => {
    setImmediate(() => response.end('first'))
  })
  const text = await read(open(t, port, FIRST + EXPECTING))
  t.match(text, /^HTTP\/1.1 200 [^]*first[^]*HTTP\/1.1 400 [^]*x-request-id: [^]*request_invalid/i)
  t.match(lines, [{ status: 200 }, { status: 400, path: '/' }])
})

t.test('requests of one segment are answered in their order, with their bodies', async (t) => {
  const got: string[] = []
  const port = await startSliced(t, async (request, response) => {
    got.push(`${request.url} ${(await bodyOf(request)).toString()}`)
    response.end()
  })
  const body = '\r\n\r\n'.repeat(400)
  const post = (path: string, fields: string, bytes: string) =>
    `POST ${path} HTTP/1.1\r\n${fields}\r\n\r\n${bytes}`
  const sized = post('/sized', `Content-Length: ${body.length}`, body)
  const length = body.length.toString(16)
  const chunks = `${length}\r\n${body}\r\n`.repeat(2)
  const chunked = post('/chunked', 'Transfer-Encoding: chunked', `${chunks}0\r\n\r\n`)
  const answers = await read(open(t, port, sized + chunked + TINY.repeat(40) + LAST))
  t.equal(answers.match(/HTTP\/1.1 200 /g)?.length, 43)
  t.same(got.toSorted().slice(-3), [`/chunked ${body}${body}`, '/last ', `/sized ${body}`])
})

t.test('a body goes in the pieces that it came in', async (t) => {
  const sent = Buffer.alloc(4 * 1024 * 1024, 'x')
  let pieces = 0
  let bytes = 0
  const port = await startSliced(t, (request, response) => {
    request.on('data', (piece: Buffer) => {
      pieces++
      bytes += piece.length
    })
    request.on('end', () => response.end())
  })
  const head = `POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: ${sent.length}\r\n\r\n`
  t.match(await read(open(t, port, Buffer.concat([Buffer.from(head), sent]))), /^HTTP\/1.1 200/)
  t.equal(bytes, sent.length)
  t.ok(pieces < sent.length / 1024, `${pieces} pieces`)
})

t.test('who reads a body late loses nothing of it, nor of what is behind it', async (t) => {
  const sent = Buffer.alloc(1024 * 1024, 'abc\r\n\r\n')
  let got: Buffer | undefined
  const port = await startSliced(t, async (request, response) => {
    if (request.method === 'POST') {
      await new Promise((resolve) => setImmediate(resolve))
      const parts: Buffer[] = []
      for await (const part of request) {
        parts.push(part as Buffer)
        await new Promise((resolve) => setImmediate(resolve))
      }
      got = Buffer.concat(parts)
    }
    response.end(request.url)
  })
  const head = Buffer.from(`POST / HTTP/1.1\r\nContent-Length: ${sent.length}\r\n\r\n`)
  const text = await read(open(t, port, Buffer.concat([head, sent, Buffer.from(LAST)])))
  t.ok(got?.equals(sent))
  t.match(text, /\/last$/)
})

t.test('answers that nobody reads pause the requests behind them, and none is lost', async (t) => {
  let seen = 0
  const port = await startSliced(t, (_request, response) => {
    seen++
    response.end(Buffer.alloc(64 * 1024, 'x'))
  })
  const text = await read(open(t, port, TINY.repeat(300) + LAST))
  t.equal(seen, 301)
  t.equal(text.match(/HTTP\/1.1 200 /g)?.length, 301)
})

for (const [name, text, status] of [
  ['what is no request', `x\r\n\r\n${'y'.repeat(300)}\r\n\r\n`.repeat(20), 400],
  ['a tunnel', `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${TINY.repeat(1000)}`, 405],
  [
    'a tunnel whose body is on its way',
    `CONNECT x:1 HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${TINY.repeat(1000)}`,
    405,
  ],
  [
    'a head whose lines end without a return',
    `GET / HTTP/1.1\nHost: x\n\n${TINY.repeat(100)}`,
    400,
  ],
] as const) {
  t.test(`${name} has one answer, and nothing behind it is a request`, async (t) => {
    let seen = 0
    const { port, server } = await startListener(t, () => undefined)
    server.on('request', () => void seen++)
    const answers = await read(open(t, port, text))
    t.match(answers, new RegExp(`^HTTP/1.1 ${status} `))
    t.equal(answers.match(/HTTP\/1.1 /g)?.length, 1)
    t.equal(seen, 0)
  })
}
