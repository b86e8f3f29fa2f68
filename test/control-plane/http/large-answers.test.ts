/** Large answers that anybody may ask for: who reads slowly holds a turn of their address, and no more. */
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { Hono } from 'hono'
import t from 'tap'
import { createAssets } from '../../../control-plane/console/assets.ts'
import type { ApiEnv } from '../../../control-plane/http/context.ts'
import { answerError } from '../../../control-plane/api/answers.ts'
import {
  createLargeAnswers,
  type LargeAnswerLimits,
} from '../../../control-plane/http/large-answers.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startApi } from '../../support/api.ts'
import { startListener } from '../listener/served.ts'

const GET = 'GET /package HTTP/1.1\r\nHost: a\r\n\r\n'
/** The operating system takes all of the small one off our hands, and not of the other. */
const SMALL = Buffer.alloc(128 * 1024, 'x')
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'x')

async function start(
  t: Parameters<typeof startListener>[0],
  bytes: Buffer,
  limits: Partial<LargeAnswerLimits> = {},
) {
  const send = createLargeAnswers(limits)
  const app = new Hono<ApiEnv>()
  let asked = 0
  app.onError(answerError({ error: () => undefined } as never))
  app.get('/package', (c) => {
    asked++
    return send(c, bytes, { 'Content-Type': 'application/gzip' })
  })
  const { port, server } = await startListener(t, () => undefined, { app: app })
  return {
    server,
    asked: () => asked,
    /** Asks, and reads nothing. */
    async reader(): Promise<Socket> {
      const before = asked
      const socket = connect(port, '127.0.0.1')
      t.teardown(() => socket.destroy())
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.write(GET)
      while (asked === before) await new Promise(setImmediate)
      return socket
    },
  }
}

async function read(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes: Buffer) => void (text += bytes.toString('latin1')))
  await once(socket, 'close')
  return text
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

t.test('all who read share the bytes', async (t) => {
  const send = createLargeAnswers()
  const app = new Hono<ApiEnv>()
  app.get('/package', (c) => send(c, LARGE, { 'Content-Type': 'application/gzip' }))
  const answer = await app.request('/package')
  t.equal(answer.headers.get('content-length'), String(LARGE.length))
  t.equal(answer.headers.get('connection'), null)
  let total = 0
  for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
    t.equal(piece.buffer, LARGE.buffer)
    total += piece.length
  }
  t.equal(total, LARGE.length)
})

t.test('an answer that was read is whole, and ends its connection', async (t) => {
  const { reader } = await start(t, SMALL)
  const text = await read(await reader())
  t.match(text, /^HTTP\/1.1 200 .*connection: close/is)
  t.equal(text.length - text.indexOf('\r\n\r\n') - 4, SMALL.length)
})

for (const [what, bytes] of [
  ['that waits for its reader', LARGE],
  ['that the system has taken whole', SMALL],
] as const)
  t.test(`an answer ${what} keeps its turn until it was read`, async (t) => {
    const { reader, server } = await start(t, bytes, { perAddressMax: 2 })
    const [first, second, third] = [await reader(), await reader(), await reader()]
    await turns(100)
    t.equal(first.bytesRead + second.bytesRead > 0, true)
    t.equal(third.bytesRead, 0, 'the third waits')
    t.match(await read(first), /^HTTP\/1.1 200 /)
    await once(third, 'readable')
    t.match(String(third.read(20)), /^HTTP\/1.1 200 /)
    for (const socket of [second, third]) socket.destroy()
    const open = () => new Promise<number>((done) => server.getConnections((_, n) => done(n)))
    while ((await open()) > 0) await turns(1)
    t.match(await read(await reader()), /^HTTP\/1.1 200 /, 'and who has gone holds none')
  })

t.test('who waits too long is asked to come back', async (t) => {
  const { reader } = await start(t, LARGE, { perAddressMax: 1, waitMs: 20 })
  await reader()
  const waiting = await reader()
  const [head] = (await once(waiting, 'data')) as [Buffer]
  t.match(head.toString(), /^HTTP\/1.1 503 [^]*retry-after: 10[^]*"unavailable"/i)
  t.equal(LIMITS.largeAnswersPerAddressMax, 16)
  t.ok(LIMITS.largeAnswerWaitMsMax <= 30_000)
})

t.test('documents that are the same for all are one buffer, whoever reads them', async (t) => {
  const { app, services } = await startApi(t)
  const { style = '' } = await createAssets(services).urls()
  for (const [path, accept] of [
    ['/api/v1/contract', 'application/json'],
    ['/api/v1/events', 'application/json'],
    ['/api/v1/events', 'text/html'],
    [style, 'text/css'],
  ] as const) {
    const first = async () => {
      const answer = await app.request(path, { headers: { accept } })
      t.equal(answer.status, 200)
      t.match(answer.headers.get('content-type'), accept)
      const [value] = await Array.fromAsync(answer.body as ReadableStream<Uint8Array>)
      t.equal(Number(answer.headers.get('content-length')), value?.length)
      return value?.buffer
    }
    t.equal(await first(), await first(), `${path} as ${accept}`)
  }
})
