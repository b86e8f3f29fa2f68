/**
 * The gateway's reader of HTTP/1.1 against Node's own (llhttp, strict) on the very same bytes: as if a
 * balancer in front, or whoever reads the wire beside us, were the other one. Whatever the gateway
 * takes for a request, llhttp must take for the same request, and end it at the same byte.
 *
 *   node test/security/strict-reading.ts [seconds] [seed]
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { duplexPair } from 'node:stream'
import { parseRequestHead } from '../../gateway/http1/request-head.ts'
import { RequestBody } from '../../gateway/http1/request-body.ts'
import { ParsedHead } from '../../gateway/wire/parsed-head.ts'
import { LIMITS } from '../../shared/limits.ts'
import { mutate, mutator, pick } from './mutations.ts'

interface StrictReport {
  cases: number
  accepted: number
  refused: number
  readonly disagreements: { why: string; seed: number; raw: string }[]
}

interface Read {
  readonly method: string
  readonly target: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  body: string
  isWhole: boolean
}

const NEXT = 'GET /next HTTP/1.1\r\nHost: next\r\n\r\n'

/** Everything that llhttp finds in these bytes. */
function createStrictReader() {
  let found: Read[] = []
  let problem = ''
  const take: RequestListener = (request, response) => {
    const read: Read = {
      method: request.method ?? '',
      target: request.url ?? '',
      fields: fieldsOf(request),
      body: '',
      isWhole: false,
    }
    found.push(read)
    request.on('data', (chunk: Buffer) => (read.body += chunk.toString('latin1')))
    request.on('error', () => undefined)
    request.on('end', () => {
      read.isWhole = request.complete
      response.end()
    })
  }
  const limits = { maxHeaderSize: 2 * LIMITS.headBytesMax, requireHostHeader: false }
  const server = createServer({ ...limits, insecureHTTPParser: false }, take)
  server.maxHeadersCount = 0
  // What is expected is judged behind the parser.
  server.on('checkContinue', take).on('checkExpectation', take)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    problem = error.code ?? error.message
    socket.destroy()
  })
  return async (bytes: Buffer) => {
    found = []
    problem = ''
    const [here, there] = duplexPair()
    const closed = new Promise<void>((resolve) => there.once('close', () => resolve()))
    there.on('error', () => undefined).resume()
    here.on('error', () => undefined).once('close', () => there.destroy())
    server.emit('connection', here)
    there.end(bytes)
    await closed
    return { found, problem }
  }
}

function fieldsOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const fields: [string, string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    fields.push([rawHeaders[at]!, rawHeaders[at + 1]!])
  return fields
}

/** What the gateway takes for the first request of these bytes. */
function readAsGateway(bytes: Buffer) {
  const head = parseRequestHead(bytes, 0, bytes.length, null)
  if (!(head instanceof ParsedHead)) return undefined
  const body = new RequestBody()
  let text = ''
  body.begin(head.bodyLength)
  body.decode()
  const onBodyRun = (buffer: Buffer, from: number, to: number) =>
    void (text += buffer.toString('latin1', from, to))
  const end = body.isDone
    ? head.end
    : body.feed(bytes, head.end, bytes.length, { onBodyRun, onBodyText: () => undefined })
  return { head, body: text, isWhole: body.isDone, isBroken: body.isBroken, end }
}

const valuesOf = (read: Read, name: string) =>
  read.fields.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value)

function* judge(
  { head, body, isWhole }: NonNullable<ReturnType<typeof readAsGateway>>,
  raw: string,
  [first, next, ...more]: readonly Read[],
  problem: string,
): Generator<string> {
  if (first === undefined) {
    yield `llhttp reads no request: ${problem}`
    return
  }
  if (first.method !== head.method) yield `method ${head.method} read as ${first.method}`
  const sentTarget = raw.split(' ', 2)[1] ?? ''
  if (first.target !== sentTarget) yield `target ${sentTarget} read as ${first.target}`
  const hosts = valuesOf(first, 'host')
  if (
    hosts.length > 1 ||
    (hosts[0] ?? head.authority).toLowerCase() !== head.authority.toLowerCase()
  )
    if (sentTarget.startsWith('/') || hosts.length > 1)
      yield `host ${head.authority} read as ${hosts.join()}`
  const cookies = valuesOf(first, 'cookie').join('; ')
  if (cookies.replace(/^(?:; )+/, '') !== head.cookies)
    yield `cookies ${head.cookies} read as ${cookies}`
  yield* judgeKept(head.keptLines, first)
  const isStricter = head.bodyLength < 0 && STRICTER.has(problem) && next === undefined
  if (isStricter && body.startsWith(first.body)) return
  if (first.body !== body) yield `body ${body} read as ${first.body}`
  if (isWhole && !first.isWhole) yield 'the gateway has all of the body, llhttp has not'
  if (!isWhole || !hasNext(head, raw)) return
  if (next === undefined || more.length > 0) yield `ends elsewhere to llhttp: ${problem}`
  else if (next.target !== '/next') yield `what follows is read as ${next.target}`
}

/** What goes on is a part of what llhttp reads, in its order; our own TE stands behind. */
function* judgeKept(keptLines: string, { fields }: Read): Generator<string> {
  let at = 0
  for (const line of keptLines.split('\r\n').slice(0, -1)) {
    if (line === 'TE: trailers') continue
    const colon = line.indexOf(':')
    const [name, value] = [
      line.slice(0, colon),
      line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''),
    ]
    while (at < fields.length && (fields[at]![0] !== name || fields[at]![1] !== value)) at++
    if (at++ >= fields.length) yield `line ${line} is none to llhttp`
  }
}

/** Framing in trailers, which we drop, and a space before an extension: it refuses, and reads on in none. */
const STRICTER = new Set([
  'HPE_INVALID_CONTENT_LENGTH',
  'HPE_INVALID_TRANSFER_ENCODING',
  'HPE_INVALID_CHUNK_SIZE',
])

/**
 * Nothing is read behind a close, which llhttp knows by another name as well, and behind a body; and
 * Node lets go of what stands behind an upgrade that nobody takes, whatever it is to.
 */
function hasNext({ keepsAlive }: ParsedHead, raw: string): boolean {
  return keepsAlive && !/^(?:proxy-connection:|connection:.*(?:upgrade|close))/im.test(raw)
}

const fixtures = new URL('../fixtures/http-cases.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(fixtures, 'utf8')) as {
  cases: { side: string; raw: string }[]
}
const BASES = [
  ...cases.filter(({ side, raw }) => side === 'request' && raw.length < 8000).map(({ raw }) => raw),
  'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n3;x="a;b"\r\nabc\r\n00a\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n',
  'PUT /a?b=c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\nConnection: keep-alive, X-A\r\nX-A: b\r\nTE: trailers\r\n\r\nabc',
  'GET http://a.b:80/x?y HTTP/1.1\r\nHost: a.b\r\nAccept: */*\r\nCookie: a=b\r\nCookie: c=d\r\n\r\n',
  'POST /form HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\na=b&c',
  'M-SEARCH /x HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-Wide:  \t a b \t\r\n\r\n',
  'GET /socket HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
]

export async function compareReaders({
  seed,
  cases: casesMax = Infinity,
  durationMs = Infinity,
}: {
  readonly seed: number
  readonly cases?: number
  readonly durationMs?: number
}): Promise<StrictReport> {
  const report: StrictReport = { cases: 0, accepted: 0, refused: 0, disagreements: [] }
  const readStrictly = createStrictReader()
  const endMs = performance.now() + durationMs
  for (; report.cases < casesMax && performance.now() < endMs; report.cases++) {
    const caseSeed = seed + report.cases
    const random = mutator(caseSeed)
    const raw = mutate(random, pick(random, BASES))
    const bytes = Buffer.from(raw, 'latin1')
    const read = readAsGateway(bytes)
    if (read === undefined || read.isBroken) {
      report.refused++
      continue
    }
    report.accepted++
    const own = bytes.subarray(0, read.end)
    const hasMore = read.isWhole && hasNext(read.head, own.toString('latin1'))
    const sent = hasMore ? Buffer.concat([own, Buffer.from(NEXT)]) : own
    const { found, problem } = await readStrictly(sent)
    for (const why of judge(read, own.toString('latin1'), found, problem))
      report.disagreements.push({ why, seed: caseSeed, raw })
  }
  return report
}

if (import.meta.main) {
  const durationMs = Number(process.argv[2] ?? 60) * 1000
  const { disagreements, ...counts } = await compareReaders({
    seed: Number(process.argv[3] ?? Date.now()),
    durationMs,
  })
  console.log(JSON.stringify(counts))
  for (const item of disagreements.slice(0, 20)) console.log(JSON.stringify(item))
  console.log(`${disagreements.length} disagreements`)
  if (disagreements.length > 0) process.exitCode = 1
}
