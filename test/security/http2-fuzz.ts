/**
 * Differential fuzzing of frames. Whatever request our own HTTP/2 takes from mutated bytes, nghttp2 (as
 * Node has it) must take from the same bytes with the same fields and the same body.
 *
 *   node test/security/http2-fuzz.ts [seconds] [seed]
 */
import { performServerHandshake } from 'node:http2'
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { HpackEncoder } from '../../gateway/http2/protocol/hpack-encoder.ts'
import { ServerSession } from '../../gateway/http2/protocol/session.ts'
import { createHeadReader } from '../../gateway/http2/request-head.ts'
import { ParsedHead } from '../../gateway/wire/parsed-head.ts'
import { LIMITS } from '../../shared/limits.ts'
import { END_HEADERS, END_STREAM, frame, PREFACE, TYPE, uint32 } from '../support/http2-frames.ts'
import { mutator, pick } from './mutations.ts'
import type { Random } from './mutations.ts'

export interface Http2FuzzReport {
  cases: number
  taken: number
  refused: number
  readonly disagreements: { why: string; seed: number; bytes: string }[]
}

interface Request {
  readonly fields: readonly string[]
  body: string
  trailers: string
  isWhole: boolean
  isReset: boolean
}

/** What one end has made of the bytes. */
class Seen {
  readonly requests = new Map<number, Request>()
  /** The connection was ended for what came. */
  isOver = false
  hasReset = false

  readonly take = (
    stream: {
      id?: number | undefined
      on(name: 'data', listener: (chunk: Buffer) => void): unknown
      on(name: 'end' | 'close', listener: () => void): unknown
      resume(): unknown
      readonly rstCode: number
    },
    fields: readonly string[],
  ): Request => {
    const request: Request = { fields, body: '', trailers: '', isWhole: false, isReset: false }
    this.requests.set(stream.id!, request)
    stream.on('data', (chunk) => (request.body += chunk.toString('latin1')))
    stream.on('end', () => (request.isWhole = stream.rstCode === 0))
    stream.on('close', () => (request.isReset = stream.rstCode !== 0))
    stream.resume()
    return request
  }
}

/** A socket without a network. */
class Wire extends Duplex {
  readonly #sent: (() => void)[] = []
  override _read(): void {}
  #written = EMPTY
  override _write(chunk: Buffer, _encoding: unknown, done: () => void): void {
    this.#written = Buffer.concat([this.#written, chunk])
    this.#sent.push(done)
    setImmediate(() => this.#sent.shift()?.())
  }

  hasReset(): boolean {
    const bytes = this.#written
    for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3))
      if (bytes[at + 3] === TYPE.reset) return true
    return false
  }
}

const EMPTY = Buffer.alloc(0)

export const SESSION_OPTIONS = {
  headers: {
    listBytesMax: LIMITS.http2HeaderBlockBytesMax,
    fieldsMax: LIMITS.http2HeaderFieldsMax,
  },
  blockBytesMax: LIMITS.http2HeaderBlockBytesMax,
  blockFramesMax: LIMITS.http2BlockFramesMax,
  streamsMax: 100,
  streamWindowBytes: LIMITS.http2StreamWindowBytes,
  invalidFramesMax: LIMITS.http2InvalidFramesMax,
  resets: LIMITS.http2Cancels,
  nowMs: () => 0,
}

const turn = () => new Promise((next) => setImmediate(next))

async function compare(pieces: readonly Buffer[]): Promise<{ why: string; taken: number }> {
  const [ours, theirs] = [new Seen(), new Seen()]
  const [ourWire, theirWire] = [new Wire(), new Wire()]
  for (const wire of [ourWire, theirWire]) wire.on('error', () => undefined)
  const session = new ServerSession(ourWire as unknown as TLSSocket, SESSION_OPTIONS)
  session.on('stream', (stream, fields) => {
    const request = ours.take(stream, fields)
    stream.on('trailers', (raw) => (request.trailers = raw.join('|')))
  })
  const node = performServerHandshake(theirWire, {
    settings: {
      maxConcurrentStreams: 100,
      initialWindowSize: LIMITS.http2StreamWindowBytes,
      enableConnectProtocol: true,
    },
    strictSingleValueFields: false,
  })
  node.on('error', () => (theirs.isOver = true))
  node.on('stream', (stream, _headers, _flags, fields) => {
    const request = theirs.take(stream, fields)
    stream.on('trailers', (_, _ofThem, raw) => (request.trailers = raw.join('|')))
    stream.on('error', () => undefined)
  })
  for (const piece of pieces) {
    ourWire.push(piece)
    theirWire.push(piece)
    await turn()
  }
  let why = 'not looked'
  for (let turns = 0; turns < 200 && why !== ''; turns++) {
    await turn()
    ours.isOver = session.destroyed
    ours.hasReset = ourWire.hasReset()
    why = disagreement(ours, theirs)
  }
  session.destroy(0)
  node.destroy()
  ourWire.destroy()
  theirWire.destroy()
  return { why, taken: ours.requests.size }
}

const readHead = createHeadReader()

function disagreement(ours: Seen, theirs: Seen): string {
  for (const [id, request] of ours.requests) {
    if (!(readHead(request.fields, false) instanceof ParsedHead)) continue
    const other = theirs.requests.get(id)
    // For what we end a stream nghttp2 ends the connection now and then, and with it what came last.
    if (other === undefined && theirs.isOver && (ours.isOver || ours.hasReset)) continue
    if (other === undefined) return `${id}: nghttp2 takes no request`
    if (other.fields.join('\n') !== request.fields.join('\n'))
      return `${id}: other fields than ${JSON.stringify([request.fields, other.fields])}`
    if (!request.isWhole || other.isReset || theirs.isOver) continue
    if (!other.isWhole) return `${id}: nghttp2 has no whole body`
    if (other.body !== request.body || other.trailers !== request.trailers)
      return `${id}: another body than ${JSON.stringify([request, other])}`
  }
  return ''
}

const NAMES = ['accept', 'x-a', 'cookie', 'te', 'user-agent', 'x-forwarded-for', 'priority']
const VALUES = ['a', '', 'trailers', 'text/html', 'u=1', 'service_session=x; a=b', 'é', ' a ']

class Client {
  readonly #random: Random
  readonly #encoder = new HpackEncoder()
  #id = 1

  constructor(random: Random) {
    this.#random = random
  }

  /** A few whole requests, with what comes between them. */
  bytes(): Buffer {
    const random = this.#random
    const all = [PREFACE, frame(TYPE.settings, 0, 0, this.#settings())]
    for (let count = 1 + random(4); count > 0; count--) {
      all.push(...this.#request())
      if (random(3) === 0) all.push(this.#between())
    }
    return Buffer.concat(all)
  }

  #settings(): Buffer {
    if (this.#random(2) === 0) return Buffer.alloc(0)
    return Buffer.concat([Buffer.from([0, 4]), uint32(pick(this.#random, [0, 1000, 100_000]))])
  }

  #block(fields: readonly string[]): Buffer {
    const room = Buffer.alloc(4096)
    return room.subarray(0, this.#encoder.encode(fields, room, 0))
  }

  #request(): Buffer[] {
    const random = this.#random
    const id = this.#id
    this.#id += 2
    const body = 'x'.repeat(random(3) * random(40))
    const hasBody = random(2) === 0
    const fields = [':method', hasBody ? 'POST' : pick(random, ['GET', 'HEAD', 'OPTIONS'])]
    fields.push(
      ':scheme',
      'https',
      ':authority',
      'a',
      ':path',
      pick(random, ['/', '/a?b=c', '/%2e']),
    )
    if (hasBody && random(4) === 0) {
      fields[1] = 'CONNECT'
      fields.push(':protocol', 'websocket')
    }
    for (let count = random(4); count > 0; count--)
      fields.push(pick(random, NAMES), pick(random, VALUES))
    if (hasBody && random(2) === 0) fields.push('content-length', String(body.length))
    const frames = this.#headers(id, this.#block(fields), hasBody ? 0 : END_STREAM)
    if (!hasBody) return frames
    const hasTrailers = random(4) === 0
    frames.push(this.#data(id, body, hasTrailers ? 0 : END_STREAM))
    if (hasTrailers) frames.push(...this.#headers(id, this.#block(['x-t', 'a']), END_STREAM))
    return frames
  }

  #headers(id: number, block: Buffer, flags: number): Buffer[] {
    const random = this.#random
    if (random(5) === 0) {
      const cut = random(block.length)
      return [
        frame(TYPE.headers, flags, id, block.subarray(0, cut)),
        frame(TYPE.continuation, END_HEADERS, id, block.subarray(cut)),
      ]
    }
    if (random(5) > 0) return [frame(TYPE.headers, flags | END_HEADERS, id, block)]
    const padding = random(5)
    const padded = Buffer.concat([Buffer.from([padding]), uint32(0), Buffer.from([1]), block])
    const payload = Buffer.concat([padded, Buffer.alloc(padding)])
    return [frame(TYPE.headers, flags | END_HEADERS | 0x28, id, payload)]
  }

  #data(id: number, body: string, flags: number): Buffer {
    const bytes = Buffer.from(body)
    if (this.#random(4) > 0) return frame(TYPE.data, flags, id, bytes)
    const padding = this.#random(9)
    const payload = Buffer.concat([Buffer.from([padding]), bytes, Buffer.alloc(padding)])
    return frame(TYPE.data, flags | 8, id, payload)
  }

  #between(): Buffer {
    const id = pick(this.#random, [0, 1, this.#id, Math.max(1, this.#id - 2)])
    return pick(this.#random, [
      frame(TYPE.ping, 0, 0, Buffer.from('12345678')),
      frame(TYPE.windowUpdate, 0, id, uint32(1 + this.#random(1000))),
      frame(TYPE.priority, 0, Math.max(1, id), Buffer.alloc(5)),
      frame(TYPE.reset, 0, Math.max(1, id), uint32(8)),
      frame(TYPE.settings, 0, 0, Buffer.concat([Buffer.from([0, 1]), uint32(0)])),
      frame(32, 0, id, Buffer.from('unknown')),
    ])
  }
}

function mutated(random: Random, bytes: Buffer): Buffer {
  let all = Buffer.from(bytes)
  for (let count = random(4); count > 0; count--) {
    // The preface alone is no matter for doubt.
    const at = PREFACE.length + random(all.length - PREFACE.length)
    const kind = random(4)
    if (kind === 0) all[at] = random(256)
    else if (kind === 1) all[at] = all[at]! ^ (1 << random(8))
    else {
      const end = kind === 2 ? Math.min(all.length, at + 1 + random(4)) : at
      const more = kind === 2 ? [] : [random(256)]
      all = Buffer.concat([all.subarray(0, at), Buffer.from(more), all.subarray(end)])
    }
  }
  return wholeFrames(all)
}

/** nghttp2 looks into a frame, and a block of them, before it is whole; we do not. */
function wholeFrames(bytes: Buffer): Buffer {
  let end = PREFACE.length
  let whole = end
  let isOpen = false
  while (end + 9 <= bytes.length) {
    const next = end + 9 + bytes.readUIntBE(end, 3)
    if (next > bytes.length) break
    const [type = 0, flags = 0] = bytes.subarray(end + 3)
    const isOfBlock = type === TYPE.headers || type === TYPE.continuation
    isOpen = isOfBlock && (flags & END_HEADERS) === 0
    if (!isOpen) whole = next
    end = next
  }
  return bytes.subarray(0, whole)
}

function inPieces(random: Random, bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const most = pick(random, [bytes.length, bytes.length, 100, 7])
  for (let at = 0; at < bytes.length;) {
    const to = Math.min(bytes.length, at + 1 + random(most))
    pieces.push(bytes.subarray(at, to))
    at = to
  }
  return pieces
}

export async function fuzzFrames(until: {
  seed: number
  cases?: number
  durationMs?: number
}): Promise<Http2FuzzReport> {
  const report: Http2FuzzReport = { cases: 0, taken: 0, refused: 0, disagreements: [] }
  const endMs = Date.now() + (until.durationMs ?? Infinity)
  for (; report.cases < (until.cases ?? Infinity) && Date.now() < endMs; report.cases++) {
    const seed = until.seed + report.cases
    const random = mutator(seed)
    const bytes = mutated(random, new Client(random).bytes())
    const { why, taken } = await compare(inPieces(random, bytes))
    if (taken > 0) report.taken++
    else report.refused++
    if (why !== '') report.disagreements.push({ why, seed, bytes: bytes.toString('hex') })
  }
  return report
}

if (import.meta.main) {
  const durationMs = Number(process.argv[2] ?? 60) * 1000
  const seed = Number(process.argv[3] ?? Date.now())
  const { cases, taken, refused, disagreements } = await fuzzFrames({ seed, durationMs })
  console.log(`fuzzFrames: ${cases} cases, ${taken} with requests, ${refused} without`)
  for (const item of disagreements.slice(0, 20)) console.log(JSON.stringify(item))
  console.log(`${disagreements.length} disagreements`)
  if (disagreements.length > 0) process.exitCode = 1
}
