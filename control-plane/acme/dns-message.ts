/**
 * Questions and answers of DNS (RFC 1035, EDNS of RFC 6891), as far as one who answers for a single
 * zone needs them. A question is read whole or not at all: one name without pointers, nothing behind
 * it but an OPT record. Pure.
 */

export const TYPES = { NS: 2, SOA: 6, TXT: 16, OPT: 41 } as const
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const
export type Rcode = (typeof RCODES)[keyof typeof RCODES]
export const CLASS_IN = 1

const HEAD_BYTES = 12
const LABEL_BYTES_MAX = 63
const NAME_BYTES_MAX = 255
const RECORD_BYTES = 10
const OPTION_BYTES = 4
/** Without EDNS, and what passes every network with it (DNS flag day 2020). */
const PLAIN_BYTES_MAX = 512
const UDP_BYTES_MAX = 1232

const IS_ANSWER = 0x8000
const OPCODE = 0x7800
const IS_TRUNCATED = 0x0200
const IS_AUTHORITATIVE = 0x0400
const IS_RECURSION_WISHED = 0x0100
const POINTER = 0xc000
const ALIKE = /^[a-z0-9_-]*$/

export interface Question {
  readonly id: number
  readonly flags: number
  /** As it was written: who asks may tell by its capitals whether it is answered (0x20). */
  readonly asked: Buffer
  /** In lower case; undefined: no name of ours can be meant. */
  readonly name: string | undefined
  readonly type: number
  readonly class: number
  /** undefined: it came without an OPT record. */
  readonly udpBytesMax: number | undefined
}

/** What can be told of one that cannot be answered. */
interface Unreadable {
  readonly id: number
  readonly flags: number
  readonly rcode: Rcode
  readonly asked?: Buffer
  readonly udpBytesMax?: number
}

export interface DnsRecord {
  readonly type: number
  readonly ttlSeconds: number
  readonly content: Buffer
  /** Where in the question the name stands that it belongs to: 0 is its beginning. */
  readonly nameAt: number
}

/** undefined: not even a head, or an answer: whoever answers those keeps two servers busy for ever. */
export function readQuestion(bytes: Buffer): Question | Unreadable | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const [id, flags] = [bytes.readUInt16BE(0), bytes.readUInt16BE(2)]
  if ((flags & IS_ANSWER) !== 0) return undefined
  if ((flags & OPCODE) !== 0) return { id, flags, rcode: RCODES.NOTIMP }
  const wrong = { id, flags, rcode: RCODES.FORMERR }
  const [questions, answers, authorities, more] = [4, 6, 8, 10].map((at) => bytes.readUInt16BE(at))
  if (questions !== 1 || answers !== 0 || authorities !== 0 || more! > 1) return wrong
  const name = readName(bytes, HEAD_BYTES)
  if (name === undefined || name.end + 4 > bytes.length) return wrong
  const end = name.end + 4
  const asked = bytes.subarray(HEAD_BYTES, end)
  const extension = more === 1 ? readExtension(bytes, end) : undefined
  if (more === 1 ? extension === undefined : end !== bytes.length) return wrong
  const udpBytesMax = extension?.udpBytesMax
  if (extension !== undefined && extension.version !== 0)
    return { id, flags, asked, rcode: RCODES.BADVERS, udpBytesMax: extension.udpBytesMax }
  const [type, class_] = [bytes.readUInt16BE(name.end), bytes.readUInt16BE(name.end + 2)]
  return { id, flags, asked, name: name.text, type, class: class_, udpBytesMax }
}

function readName(bytes: Buffer, from: number) {
  const labels: string[] = []
  let at = from
  for (;;) {
    const length = bytes[at]
    if (length === undefined || length > LABEL_BYTES_MAX) return undefined
    const end = at + 1 + length
    if (end > bytes.length || end - from > NAME_BYTES_MAX) return undefined
    if (length === 0) break
    labels.push(bytes.toString('latin1', at + 1, end).toLowerCase())
    at = end
  }
  const isAlike = labels.every((label) => ALIKE.test(label))
  return { end: at + 1, text: isAlike ? labels.join('.') : undefined }
}

/** Nothing may stand behind it; which options it has is nothing to us, but each has to be whole. */
function readExtension(bytes: Buffer, at: number) {
  const from = at + 1 + RECORD_BYTES
  if (from > bytes.length || bytes[at] !== 0 || bytes.readUInt16BE(at + 1) !== TYPES.OPT)
    return undefined
  const end = from + bytes.readUInt16BE(at + 9)
  if (end !== bytes.length) return undefined
  let option = from
  while (option < end) {
    if (option + OPTION_BYTES > end) return undefined
    option += OPTION_BYTES + bytes.readUInt16BE(option + 2)
  }
  if (option !== end) return undefined
  return { udpBytesMax: bytes.readUInt16BE(at + 3), version: bytes[at + 6]! }
}

export const isReadable = (read: Question | Unreadable): read is Question => !('rcode' in read)

interface Answer {
  readonly rcode: Rcode
  readonly answers?: readonly DnsRecord[]
  readonly authorities?: readonly DnsRecord[]
}

/** `bytesMax`: of what the way there carries; longer than that is said to be cut off, and is empty. */
export function writeAnswer(
  { id, flags, asked, udpBytesMax }: Question | Unreadable,
  { rcode, answers = [], authorities = [] }: Answer,
  bytesMax: number,
): Buffer {
  const extension = udpBytesMax === undefined ? [] : [extensionOf(rcode)]
  const write = (records: readonly (readonly DnsRecord[])[], isCut: boolean) => {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt16BE(id, 0)
    const known = IS_ANSWER | (flags & (OPCODE | IS_RECURSION_WISHED)) | (rcode & 0xf)
    const isOurs = rcode === RCODES.NOERROR || rcode === RCODES.NXDOMAIN
    head.writeUInt16BE(known | (isOurs ? IS_AUTHORITATIVE : 0) | (isCut ? IS_TRUNCATED : 0), 2)
    head.writeUInt16BE(asked === undefined ? 0 : 1, 4)
    for (const [place, section] of records.entries())
      head.writeUInt16BE(section.length, 6 + 2 * place)
    head.writeUInt16BE(extension.length, 10)
    const lines = records.flat().map(recordBytes)
    return Buffer.concat([head, ...(asked === undefined ? [] : [asked]), ...lines, ...extension])
  }
  const whole = write([answers, authorities], false)
  return whole.length <= bytesMax ? whole : write([], true)
}

/** That it was asked too often over UDP, or does not fit: a client that is one asks over TCP. */
export const writeCut = (question: Question): Buffer =>
  writeAnswer(question, { rcode: RCODES.NOERROR }, 0)

/** Over UDP. */
export const bytesMaxOf = ({
  udpBytesMax = PLAIN_BYTES_MAX,
}: {
  readonly udpBytesMax?: number | undefined
}) => Math.min(Math.max(udpBytesMax, PLAIN_BYTES_MAX), UDP_BYTES_MAX)

function recordBytes({ type, ttlSeconds, content, nameAt }: DnsRecord): Buffer {
  const head = Buffer.alloc(2 + RECORD_BYTES)
  head.writeUInt16BE(POINTER | (HEAD_BYTES + nameAt), 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(CLASS_IN, 4)
  head.writeUInt32BE(ttlSeconds, 6)
  head.writeUInt16BE(content.length, 10)
  return Buffer.concat([head, content])
}

function extensionOf(rcode: Rcode): Buffer {
  const record = Buffer.alloc(1 + RECORD_BYTES)
  record.writeUInt16BE(TYPES.OPT, 1)
  record.writeUInt16BE(UDP_BYTES_MAX, 3)
  record[5] = rcode >> 4
  return record
}

/** Of a name that settings or we ourselves have made. */
export function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => [Buffer.of(label.length), Buffer.from(label)])
  return Buffer.concat([...labels.flat(), Buffer.of(0)])
}

/** Of at most 255 bytes. */
export const textBytes = (text: string): Buffer =>
  Buffer.concat([Buffer.of(text.length), Buffer.from(text, 'latin1')])
