/** Header blocks: RFC 7541's own examples, nghttp2's, and what neither may make of another's table. */
import { connect } from 'node:http2'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t from 'tap'
import { HpackDecoder } from '../../../../gateway/http2/protocol/hpack-decoder.ts'
import { HpackEncoder } from '../../../../gateway/http2/protocol/hpack-encoder.ts'
import {
  huffmanLength,
  huffmanText,
  writeHuffman,
} from '../../../../gateway/http2/protocol/huffman.ts'
import { ServerSession } from '../../../../gateway/http2/protocol/session.ts'
import { mutator, pick } from '../../../security/mutations.ts'
import { SESSION_OPTIONS } from '../../../security/http2-fuzz.ts'

const LIMITS = { listBytesMax: 32_768, fieldsMax: 256 }

/** Appendix C.4 and C.3: three requests of one connection, with Huffman code and without. */
const EXAMPLES = [
  [
    ['828684418cf1e3c2e5f23a6ba0ab90f4ff', '828684410f7777772e6578616d706c652e636f6d'],
    [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'],
  ],
  [
    ['828684be5886a8eb10649cbf', '828684be58086e6f2d6361636865'],
    [
      ...[':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'],
      ...['cache-control', 'no-cache'],
    ],
  ],
  [
    [
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    [
      ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html'],
      ...[':authority', 'www.example.com', 'custom-key', 'custom-value'],
    ],
  ],
] as const

t.test('the examples of RFC 7541', (t) => {
  for (const kind of [0, 1] as const) {
    const decoder = new HpackDecoder(LIMITS)
    for (const [blocks, fields] of EXAMPLES) {
      const block = Buffer.from(blocks[kind], 'hex')
      t.strictSame(decoder.decode(block, 0, block.length), { fields })
    }
  }
  t.end()
})

t.test('Huffman code of every byte comes back', (t) => {
  const random = mutator(7)
  const room = Buffer.alloc(4096)
  const texts = Array.from({ length: 2000 }, (_, at) =>
    Array.from({ length: at % 60 }, () => String.fromCharCode(random(256))).join(''),
  )
  for (const text of texts) {
    const end = writeHuffman(text, room, 0)
    if (end !== huffmanLength(text) || huffmanText(room, 0, end) !== text) t.equal(text, '')
  }
  t.end()
})

t.test('a block that is too much is read to its end: the next one is right', (t) => {
  const decoder = new HpackDecoder({ listBytesMax: 300, fieldsMax: 3 })
  const encoder = new HpackEncoder()
  const room = Buffer.alloc(4096)
  const decode = (fields: readonly string[]) =>
    decoder.decode(room, 0, encoder.encode(fields, room, 0))
  const many = ['a', '1', 'b', '2', 'c', '3', 'd', '4']
  for (let twice = 0; twice < 3; twice++) t.equal(decode(many), 'too-large')
  t.equal(decode(['a', 'x'.repeat(400)]), 'too-large')
  t.strictSame(decode(['d', '4', 'a', '1']), { fields: ['d', '4', 'a', '1'] })
  t.end()
})

t.test('a client may make our table smaller, and larger again', (t) => {
  const random = mutator(11)
  const room = Buffer.alloc(16_384)
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder(LIMITS)
  for (let count = 0; count < 5000; count++) {
    if (random(50) === 0) encoder.setTableBytes(pick(random, [0, 60, 500, 4096, 1_000_000]))
    const fields = [':status', pick(random, ['200', '204', '301', '404'])]
    for (let more = random(8); more > 0; more--)
      fields.push(pick(random, ['date', 'etag', 'set-cookie', 'x-a']), 'v'.repeat(random(3) * 40))
    const end = encoder.encode(fields, room, 0)
    const decoded = decoder.decode(room, 0, end)
    if (JSON.stringify(decoded) !== JSON.stringify({ fields })) t.strictSame(decoded, { fields })
  }
  t.end()
})

t.test("what Node's client says arrives, and what we answer arrives there", async (t) => {
  const random = mutator(13)
  const seen: (readonly string[])[] = []
  let answer: string[] = []
  const server = createServer((socket) => {
    const session = new ServerSession(socket as unknown as TLSSocket, SESSION_OPTIONS)
    session.on('stream', (stream, fields) => {
      seen.push(fields)
      stream.respond(answer, true)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  const names = ['x-a', 'x-b', 'user-agent', 'accept', 'referer']
  const value = () => pick(random, ['a', 'text/html', 'é', 'x'.repeat(random(300)), '', '%~{}'])
  for (let count = 0; count < 300; count++) {
    const asked = [
      ':method',
      'GET',
      ':path',
      `/${random(5)}`,
      ':scheme',
      'https',
      ':authority',
      'a',
    ]
    for (const name of names) if (random(2) === 0) asked.push(name, value())
    answer = [':status', pick(random, ['200', '404', '299'])]
    for (const name of ['etag', 'x-c', 'server', 'vary'])
      if (random(2) === 0) answer.push(name, value())
    const told = await new Promise<string[]>((resolve, reject) => {
      const stream = client.request(asked)
      stream.on('response', (_headers, _flags, ...raw) => resolve(raw[0]))
      stream.on('error', reject)
      stream.resume()
    })
    if (seen.at(-1)!.join('\n') !== asked.join('\n')) t.strictSame(seen.at(-1), asked)
    if (told.join('\n') !== answer.join('\n')) t.strictSame(told, answer)
  }
  t.equal(seen.length, 300)
})
