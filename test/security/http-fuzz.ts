/**
 * Differential fuzzing. Whatever the codec forwards, Node's own parser at the origin must read as
 * exactly as many requests as were decided on, each with the same method, target, host and body;
 * whatever answer it passes on, Node's client parser must read as that one answer.
 *
 *   node test/security/http-fuzz.ts [seconds] [seed]
 */
import { readFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { Socket } from 'node:net'
import { createHttp1Server } from '../../gateway/http1/server.ts'
import type { Exchange } from '../../gateway/wire/exchange.ts'
import { createUpstreamRuntime } from '../../gateway/upstream/runtime.ts'
import { createUpstream } from '../../gateway/upstream/upstream.ts'
import { listening } from '../support/wire.ts'
import { mutate, mutator, pick } from './mutations.ts'
import type { Random } from './mutations.ts'
import { rawListener } from '../support/raw-listener.ts'

export interface FuzzReport {
  cases: number
  forwarded: number
  refused: number
  readonly disagreements: { why: string; seed: number; raw: string }[]
}

interface Until {
  readonly seed: number
  readonly cases?: number
  readonly durationMs?: number
}

const fixtures = new URL('../fixtures/http-cases.json', import.meta.url)
const { cases: samples } = JSON.parse(readFileSync(fixtures, 'utf8')) as {
  cases: { side: string; raw: string }[]
}
const rawOf = (side: string): string[] =>
  samples.filter((item) => item.side === side && item.raw.length < 8000).map((item) => item.raw)

const TIMEOUTS = { connectMs: 2000, firstByteMs: 300, idleMs: 300 }
const OWN = 'X-Service-User'

interface Seen {
  method: string
  target: string
  host: string
  own: string[]
  foreign: string[]
  body: string
}

function seenOf(request: IncomingMessage, body: string): Seen {
  const own: string[] = []
  const foreign: string[] = []
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index]!
    if (name === OWN) own.push(request.rawHeaders[index + 1]!)
    else if (/^x[^a-z0-9]service[^a-z0-9]|^(?:connection|upgrade|keep-alive)$/i.test(name))
      foreign.push(name)
  }
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    host: request.headers.host ?? '',
    own,
    foreign,
    body,
  }
}

export async function fuzzRequests(until: Until): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, forwarded: 0, refused: 0, disagreements: [] }
  let seen: Seen[] = []
  let parserErrors: string[] = []
  const origin = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      seen.push(seenOf(request, Buffer.concat(chunks).toString('latin1')))
      response.end('ok')
    })
  })
  origin.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ECONNRESET' && error.code !== 'HPE_INVALID_EOF_STATE')
      parserErrors.push(error.code ?? String(error))
    socket.destroy()
  })
  const runtime = createUpstreamRuntime({ sweepMs: 20 })
  const upstream = createUpstream({
    origin: `http://127.0.0.1:${await listening(origin)}`,
    timeouts: TIMEOUTS,
    runtime,
  })
  let decided: Exchange[] = []
  let whole = 0
  const server = createHttp1Server({
    timeouts: { headMs: 300, idleMs: 300, keepAliveMs: 300 },
    deadlines: runtime.deadlines,
    limits: { connectionsPerAddressMax: 10_000 },
    handle: (exchange) => {
      decided.push(exchange)
      exchange.forward({
        upstream,
        requestLines: `Host: ${exchange.head.authority}\r\n${OWN}: ada\r\n`,
        responseLines: '',
        isPrivate: false,
        privateCookieLine: '',
      })
    },
    onExchangeEnd: (_exchange, outcome) => {
      if (outcome.status === 200 && !outcome.isCut) whole++
    },
  })
  const listener = rawListener(server.accept)
  const port = await listening(listener)
  const bases = [...rawOf('request'), ...REQUESTS]
  for (const seed of seeds(until)) {
    const random = mutator(seed)
    const raw = mutate(random, pick(random, bases))
    seen = []
    parserErrors = []
    decided = []
    whole = 0
    await deliver(port, raw, random)
    report.cases++
    if (seen.length > 0) report.forwarded++
    else report.refused++
    for (const why of judge(decided, whole, seen, parserErrors, raw))
      report.disagreements.push({ why, seed, raw })
  }
  listener.close()
  server.close()
  await upstream.close()
  runtime.close()
  origin.closeAllConnections()
  origin.close()
  return report
}

function* judge(
  decided: readonly Exchange[],
  whole: number,
  seen: readonly Seen[],
  parserErrors: readonly string[],
  raw: string,
): Generator<string> {
  for (const code of parserErrors) yield `the origin's parser failed: ${code}`
  if (seen.length > decided.length) yield `${decided.length} decided, ${seen.length} arrived`
  if (whole > seen.length) yield `${whole} answered, ${seen.length} arrived`
  // Node gives a method or two a meaning of its own; each decided request is judged by position.
  for (const [index, request] of seen.entries()) {
    const head = decided[index]?.head
    if (head === undefined) break
    if (request.method !== head.method) yield `method ${head.method} read as ${request.method}`
    if (request.target !== head.target) yield `target ${head.target} read as ${request.target}`
    if (request.host !== head.authority) yield `host ${head.authority} read as ${request.host}`
    if (request.own.join() !== 'ada') yield `identity read as ${request.own.join()}`
    if (request.foreign.length > 0) yield `${request.foreign.join()} arrived`
  }
  const body = seen[0]?.body ?? ''
  if (body !== '' && !containsInOrder(raw, body)) yield `a body that was not sent: ${body}`
}

/** Chunks are cut out of the text, so the body is a subsequence of what was sent. */
function containsInOrder(raw: string, body: string): boolean {
  let at = 0
  for (const char of body) {
    at = raw.indexOf(char, at) + 1
    if (at === 0) return false
  }
  return true
}

function* seeds({ seed, cases = Infinity, durationMs = Infinity }: Until): Generator<number> {
  const endMs = performance.now() + durationMs
  for (let index = 0; index < cases && performance.now() < endMs; index++) yield seed + index
}

/** In one to four pieces; over when every answer is in, the gateway closes, or it falls silent. */
async function deliver(port: number, raw: string, random: Random): Promise<void> {
  const bytes = Buffer.from(raw, 'latin1')
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.resume()
  const cuts = Array.from({ length: random(4) }, () => random(bytes.length + 1))
  let at = 0
  for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
    if (cut === at) continue
    socket.write(bytes.subarray(at, cut))
    at = cut
    await new Promise((resolve) => setImmediate(resolve))
  }
  // FIN tells the gateway that no more will come: it answers what is whole, and closes.
  socket.end()
  await closed
}

export async function fuzzResponses(until: Until): Promise<FuzzReport> {
  const report: FuzzReport = { cases: 0, forwarded: 0, refused: 0, disagreements: [] }
  let raw = ''
  let random: Random = mutator(0)
  const sockets = new Set<Socket>()
  const origin = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    socket.on('data', () => {
      const bytes = Buffer.from(raw, 'latin1')
      const cut = random(bytes.length + 1)
      socket.write(bytes.subarray(0, cut))
      setImmediate(() => socket.end(bytes.subarray(cut)))
    })
  })
  const runtime = createUpstreamRuntime({ sweepMs: 20 })
  const upstream = createUpstream({
    origin: `http://127.0.0.1:${await listening(origin)}`,
    timeouts: TIMEOUTS,
    runtime,
  })
  const server = createHttp1Server({
    timeouts: { headMs: 1000, idleMs: 1000, keepAliveMs: 1000 },
    deadlines: runtime.deadlines,
    handle: (exchange) =>
      exchange.forward({
        upstream,
        requestLines: 'Host: a\r\n',
        responseLines: 'X-Request-Id: 1\r\n',
        isPrivate: true,
        privateCookieLine: 'Set-Cookie: service_seen=1\r\n',
      }),
  })
  const listener = rawListener(server.accept)
  const port = await listening(listener)
  const bases = [...rawOf('response').filter((item) => item !== ''), ...RESPONSES]
  for (const seed of seeds(until)) {
    random = mutator(seed)
    raw = mutate(random, pick(random, bases))
    const why = await read(port)
    report.cases++
    if (why === 'answered') report.forwarded++
    else if (why === 'refused') report.refused++
    else report.disagreements.push({ why, seed, raw })
  }
  listener.close()
  server.close()
  for (const socket of sockets) socket.destroy()
  await upstream.close()
  runtime.close()
  origin.close()
  return report
}

const isSession = (line: string): boolean => /^[\s=]*service_session\s*(?:[=;]|$)/.test(line)

/** One GET with Node's client, which must find one valid answer, ours or the origin's, or a cut. */
function read(port: number): Promise<string> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', agent: false }, (response) => {
      const { headers } = response
      response.resume()
      response.on('error', () => resolve('refused'))
      response.on('end', () => {
        if (headers['x-request-id'] !== '1') resolve('our own line is missing')
        else if (headers['set-cookie']?.some(isSession))
          resolve('a session cookie of the application passed')
        else resolve(response.statusCode! >= 500 ? 'refused' : 'answered')
      })
    })
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'ECONNRESET' ? 'refused' : `the client's parser failed: ${error.code}`,
      ),
    )
  })
}

const REQUESTS = [
  'POST /health/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x="a;b"\r\nabc\r\n00a\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n',
  'PUT /a?b=c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\nConnection: keep-alive, X-A\r\nX-A: b\r\nTE: trailers\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET http://a.b:80/x?y HTTP/1.1\r\nHost: a.b\r\nAccept: */*\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: for=1\r\nX_Service_User: b\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\nGET /admin HTTP/1.1\r\nHost: b\r\nX: 12345678',
]
const RESPONSES = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\nSet-Cookie: service_session=x\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5;a=b\r\nhello\r\n00\r\nX-T: 1\r\n\r\n',
  'HTTP/1.0 200 OK\r\nCache-Control: public\r\n\r\nuntil the end',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close, x-a\r\nX-A: b\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nDate: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n',
]

if (import.meta.main) {
  const durationMs = (Number(process.argv[2] ?? 60) * 1000) / 2
  const seed = Number(process.argv[3] ?? Date.now())
  for (const fuzz of [fuzzRequests, fuzzResponses]) {
    const report = await fuzz({ seed, durationMs })
    const { cases, forwarded, refused, disagreements } = report
    console.log(`${fuzz.name}: ${cases} cases, ${forwarded} forwarded, ${refused} refused`)
    for (const item of disagreements.slice(0, 20)) console.log(JSON.stringify(item))
    console.log(`${disagreements.length} disagreements`)
    if (disagreements.length > 0) process.exitCode = 1
  }
}
