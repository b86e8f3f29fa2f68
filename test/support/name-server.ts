/**
 * The DNS of a test: every name is this machine, some are aliases (CNAME), and one zone is asked of
 * those who answer for it, in turn. Written apart from what it tests.
 */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'

interface Teardown {
  teardown(close: () => unknown): void
}

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  OPT: 41,
  ANY: 255,
  AXFR: 252,
} as const
const HEAD_BYTES = 12

export function wireName(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.')
  const parts = labels.flatMap((label) => [Buffer.of(label.length), Buffer.from(label)])
  return Buffer.concat([...parts, Buffer.of(0)])
}

interface Asked {
  readonly id?: number
  readonly flags?: number
  readonly class?: number
  /** Size of UDP; undefined: without an OPT record. */
  readonly edns?: number
  readonly version?: number
}

export function questionBytes(name: string, type: number, asked: Asked = {}): Buffer {
  const { id = 7, flags = 0x0100, edns, version = 0 } = asked
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(edns === undefined ? 0 : 1, 10)
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(type, 0)
  tail.writeUInt16BE(asked.class ?? 1, 2)
  const opt = Buffer.alloc(edns === undefined ? 0 : 11)
  if (edns !== undefined) {
    opt.writeUInt16BE(TYPE.OPT, 1)
    opt.writeUInt16BE(edns, 3)
    opt[6] = version
  }
  return Buffer.concat([head, wireName(name), tail, opt])
}

interface Record {
  readonly name: string
  readonly type: number
  readonly ttl: number
  readonly content: Buffer
}

export interface Message {
  readonly id: number
  readonly rcode: number
  readonly isAnswer: boolean
  readonly isAuthoritative: boolean
  readonly isCut: boolean
  readonly question: string
  readonly answers: readonly Record[]
  readonly authorities: readonly Record[]
  readonly extensions: readonly Record[]
}

export function readMessage(bytes: Buffer): Message {
  let at = HEAD_BYTES
  const flags = bytes.readUInt16BE(2)
  const [questions, ...counts] = [4, 6, 8, 10].map((place) => bytes.readUInt16BE(place))
  const question = questions === 1 ? nameAt() : ''
  if (questions === 1) at += 4
  const [answers = [], authorities = [], extensions = []] = counts.map((count) =>
    Array.from({ length: count }, record),
  )
  if (at !== bytes.length) throw new Error(`${bytes.length - at} bytes too many`)
  return {
    id: bytes.readUInt16BE(0),
    rcode: flags & 0xf,
    isAnswer: (flags & 0x8000) !== 0,
    isAuthoritative: (flags & 0x0400) !== 0,
    isCut: (flags & 0x0200) !== 0,
    question,
    answers,
    authorities,
    extensions,
  }

  function nameAt(): string {
    const labels: string[] = []
    let place = at
    let end: number | undefined
    for (;;) {
      const length = bytes.readUInt8(place)
      if (length >= 0xc0) {
        end ??= place + 2
        place = bytes.readUInt16BE(place) & 0x3fff
        continue
      }
      if (length === 0) break
      labels.push(bytes.toString('latin1', place + 1, place + 1 + length))
      place += 1 + length
    }
    at = end ?? place + 1
    return labels.join('.')
  }

  function record(): Record {
    const name = nameAt()
    const [type, ttl, length] = [
      bytes.readUInt16BE(at),
      bytes.readUInt32BE(at + 4),
      bytes.readUInt16BE(at + 8),
    ]
    const content = bytes.subarray(at + 10, at + 10 + length)
    at += 10 + length
    return { name, type, ttl, content }
  }
}

export const textsOf = (message: Message): string[] =>
  message.answers
    .filter(({ type }) => type === TYPE.TXT)
    .map(({ content }) => content.toString('latin1', 1))

/** One question over UDP; undefined: no answer came. */
export function askUdp(port: number, question: Buffer, waitMs = 2000): Promise<Buffer | undefined> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    const done = (answer?: Buffer) => {
      clearTimeout(timer)
      socket.close()
      resolve(answer)
    }
    const timer = setTimeout(done, waitMs)
    socket.once('message', done)
    socket.send(question, port, '127.0.0.1')
  })
}

export async function startNameServer(
  t: Teardown,
  zone: { readonly name: string; readonly ports: () => readonly number[] },
) {
  const aliases = new Map<string, string>()
  const asked: string[] = []
  let turn = 0
  const socket = createSocket('udp4')

  async function ofZone(name: string, type: number): Promise<Message> {
    const ports = zone.ports()
    const port = ports[turn++ % ports.length]
    const question = questionBytes(name, type, { edns: 1232 })
    const answer = port === undefined ? undefined : await askUdp(port, question)
    return answer === undefined ? { ...NOTHING, rcode: 2 } : readMessage(answer)
  }

  async function find(name: string, type: number): Promise<Pick<Message, 'rcode' | 'answers'>> {
    const alias = aliases.get(name)
    if (alias !== undefined) {
      const own = { name, type: TYPE.CNAME, ttl: 1, content: wireName(alias) }
      if (type === TYPE.CNAME) return { rcode: 0, answers: [own] }
      const behind = await find(alias, type)
      return { rcode: behind.rcode, answers: [own, ...behind.answers] }
    }
    if (name === zone.name || name.endsWith(`.${zone.name}`)) return ofZone(name, type)
    const here = { name, type, ttl: 1, content: Buffer.of(127, 0, 0, 1) }
    return { rcode: 0, answers: type === TYPE.A ? [here] : [] }
  }

  socket.on('message', (bytes, from) => {
    const end = bytes.indexOf(0, HEAD_BYTES) + 5
    const name = readMessage(
      Buffer.concat([head(bytes, 0, 0), bytes.subarray(HEAD_BYTES, end)]),
    ).question
    const type = bytes.readUInt16BE(end - 4)
    asked.push(`${name.toLowerCase()} ${type}`)
    void find(name.toLowerCase(), type).then(({ rcode, answers }) => {
      const records = answers.map((one) => {
        const fields = Buffer.alloc(10)
        fields.writeUInt16BE(one.type, 0)
        fields.writeUInt16BE(1, 2)
        fields.writeUInt32BE(one.ttl, 4)
        fields.writeUInt16BE(one.content.length, 8)
        return Buffer.concat([wireName(one.name), fields, one.content])
      })
      const said = [head(bytes, rcode, answers.length), bytes.subarray(HEAD_BYTES, end), ...records]
      socket.send(Buffer.concat(said), from.port, from.address)
    })
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => socket.close())
  const { port } = socket.address()
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return {
    port,
    aliases,
    /** `app.example.test 16` */
    asked,
    resolver: {
      cname: (name: string) => resolver.resolveCname(name),
      txt: (name: string) => resolver.resolveTxt(name),
    },
  }
}

const NOTHING: Message = {
  id: 0,
  rcode: 0,
  isAnswer: true,
  isAuthoritative: false,
  isCut: false,
  question: '',
  answers: [],
  authorities: [],
  extensions: [],
}

function head(of: Buffer, rcode: number, answers: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES)
  of.copy(bytes, 0, 0, 2)
  bytes.writeUInt16BE(0x8180 | rcode, 2)
  bytes.writeUInt16BE(1, 4)
  bytes.writeUInt16BE(answers, 6)
  return bytes
}
