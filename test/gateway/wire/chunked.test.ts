import t from 'tap'
import { ChunkedReader } from '../../../gateway/wire/chunked.ts'
import { LIMITS } from '../../../shared/limits.ts'

interface Read {
  readonly out: string
  readonly isDone: boolean
  readonly isBroken: boolean
  readonly trailers: string
  /** How many bytes belonged to the body. */
  readonly used: number
}

function read(pieces: readonly string[], isRaw: boolean): Read {
  const reader = new ChunkedReader()
  reader.reset(isRaw)
  let out = ''
  let used = 0
  const sink = {
    onBodyRun(buffer: Buffer, from: number, to: number) {
      out += buffer.toString('latin1', from, to)
    },
    onBodyText(text: string) {
      out += text
    },
  }
  for (const piece of pieces) {
    // Bytes around the piece that are none of its business.
    const buffer = Buffer.from(`\n0\n${piece}\n0\r\n`, 'latin1')
    used += reader.scan(buffer, 3, 3 + piece.length, sink) - 3
    if (reader.isDone || reader.isBroken) break
  }
  const { isDone, isBroken, trailers } = reader
  return { out, isDone, isBroken, trailers, used }
}

/** Whole, in two pieces at every place, and byte by byte. */
function* splits(text: string): Generator<string[]> {
  yield [text]
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)]
  yield [...text]
}

const BODIES = [
  { text: '0\r\n\r\n', canonical: '0\r\n\r\n', content: '' },
  { text: '5\r\nhello\r\n0\r\n\r\n', canonical: '5\r\nhello\r\n0\r\n\r\n', content: 'hello' },
  {
    text: 'A\r\n0123456789\r\n1\r\n\n\r\n0\r\n\r\n',
    canonical: 'A\r\n0123456789\r\n1\r\n\n\r\n0\r\n\r\n',
    content: '0123456789\n',
  },
  {
    text: '0005;a=b;c="d;\\"\\\\e" ; f\r\nhello\r\n000;x\r\n\r\n',
    canonical: '5\r\nhello\r\n0\r\n\r\n',
    content: 'hello',
  },
  {
    text: '3\r\nabc\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\nX_Service_User: a\r\nSCRIPT_NAME: /b\r\nX-Script-Name: /b\r\nCF-Connecting-IP: c\r\nGrpc-Status: 0\r\n\r\n',
    canonical: '3\r\nabc\r\n0\r\nX-Sum: 1\r\nGrpc-Status: 0\r\n\r\n',
    content: 'abc',
    trailers: 'X-Sum: 1\r\nGrpc-Status: 0\r\n',
  },
]

t.test('a body goes on in canonical framing, however it arrives', (t) => {
  for (const { text, canonical, trailers = '' } of BODIES) {
    const wish = { out: canonical, isDone: true, isBroken: false, trailers, used: text.length }
    const isWrong = (pieces: string[]) =>
      JSON.stringify(read(pieces, true)) !== JSON.stringify(wish)
    t.strictSame([...splits(text)].filter(isWrong), [], JSON.stringify(text))
  }
  t.end()
})

t.test('the content is the same, however it arrives', (t) => {
  for (const { text, content, trailers = '' } of BODIES) {
    const wish = { out: content, isDone: true, isBroken: false, trailers, used: text.length }
    const isWrong = (pieces: string[]) =>
      JSON.stringify(read(pieces, false)) !== JSON.stringify(wish)
    t.strictSame([...splits(text)].filter(isWrong), [], JSON.stringify(text))
  }
  t.end()
})

t.test('what comes behind a body is not part of it', (t) => {
  const found = read(['5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n'], true)
  t.equal(found.out, '5\r\nhello\r\n0\r\n\r\n')
  t.equal(found.used, 15)
  t.end()
})

t.test('anything else breaks the body, however it arrives', (t) => {
  const broken = [
    '+5\r\nhello\r\n', '-5\r\nhello\r\n', '0x5\r\nhello\r\n', ' 5\r\nhello\r\n', '\t5\r\nhello\r\n',
    '5 \r\nhello\r\n', '\r\nhello\r\n', 'G\r\n', '5g\r\nhello\r\n', '5\nhello\r\n', '5\r\r\nhello\r\n',
    '5\r;a=b\r\nhello\r\n', '5;\r\nhello\r\n', '5;a=\r\nhello\r\n', '5;a="\r\nhello\r\n', '5;a="b"c\r\nhello\r\n',
    '5;a b\r\nhello\r\n', '5,a\r\nhello\r\n', '5\0\r\nhello\r\n', '5\r\nhelloX\r\n', '5\r\nhello\rX',
    '5\r\nhello\n0\r\n\r\n', '5\r\nhel\r\n0\r\n\r\n', '1000000000000\r\n', 'fffffffffffffffff1\r\n',
    '20000000000005\r\n', '0\r\nBad Name: x\r\n\r\n', '0\r\nX: a\nY: b\r\n\r\n', '0\r\n folded\r\n\r\n',
    '0\r\nX\r\n\r\n', '0\r\n: a\r\n\r\n', '0\r\nX: \0\r\n\r\n', '0\r\n\n', '0\r\n\rX', '0\n\r\n', '0\n\n',
    '5;a=\x80\r\nhello\r\n',
  ] // prettier-ignore
  const isTaken = (pieces: string[]) =>
    !read(pieces, true).isBroken || !read(pieces, false).isBroken
  for (const text of broken)
    t.strictSame([...splits(text)].filter(isTaken), [], JSON.stringify(text))
  t.end()
})

t.test('limits hold at N and N + 1', (t) => {
  const ends = (text: string) => {
    const { isDone, isBroken } = read([text], true)
    return isDone ? 'done' : isBroken ? 'broken' : 'open'
  }
  const line = (bytes: number) => `1;${'a'.repeat(bytes - 4)}\r\na\r\n0\r\n\r\n`
  t.equal(ends(line(LIMITS.chunkLineBytesMax)), 'done')
  t.equal(ends(line(LIMITS.chunkLineBytesMax + 1)), 'broken')

  const digits = (count: number) => `${'1'.repeat(count)}\r\n`
  t.equal(ends(digits(LIMITS.chunkSizeDigitsMax)), 'open')
  t.equal(ends(digits(LIMITS.chunkSizeDigitsMax + 1)), 'broken')

  // Each of these lines has 16 bytes that are no digit.
  const extension = '1;234567890abcde\r\n'
  const many = (count: number, start: string, chunk: string) =>
    `${start}${chunk}\r\n`.repeat(count) + '0\r\n\r\n'
  const large = (count: number) => many(count, extension.replace('1', '40'), 'x'.repeat(64))
  const fits = Math.floor(LIMITS.chunkExtensionBytesMax / (extension.length - 3))
  t.equal(ends(large(fits)), 'done')
  t.equal(ends(large(fits + 1)), 'broken')
  // Tiny ones that are written anew count for what that costs: a zero too many, and a byte.
  const tiny = (count: number) => many(count, '01\r\n', 'x')
  const tinyFit = Math.floor(LIMITS.chunkExtensionBytesMax / (LIMITS.chunkTinyBytes + 1))
  t.equal(ends(tiny(tinyFit)), 'done')
  t.equal(ends(tiny(tinyFit + 1)), 'broken')

  // However often a line comes in two pieces, it is spelled as it should be.
  const cuts = 2 * Math.floor(LIMITS.chunkExtensionBytesMax / LIMITS.chunkTinyBytes)
  const cut = Array.from({ length: cuts }, () => ['1\r', '\nx\r\n']).flat()
  t.equal(read([...cut, '0\r\n\r\n'], true).isDone, true)

  const trailers = (bytes: number) => `0\r\nX: ${'a'.repeat(bytes - 5)}\r\n\r\n`
  t.equal(ends(trailers(LIMITS.trailerBytesMax)), 'done')
  t.equal(ends(trailers(LIMITS.trailerBytesMax + 1)), 'broken')
  const fields = (count: number) => `0\r\n${'X: a\r\n'.repeat(count)}\r\n`
  t.equal(ends(fields(LIMITS.headerCountMax)), 'done')
  t.equal(ends(fields(LIMITS.headerCountMax + 1)), 'broken')
  t.end()
})

t.test('no trailer is read again for each byte that comes behind it', (t) => {
  const { exec } = RegExp.prototype
  let characters = 0
  t.teardown(() => (RegExp.prototype.exec = exec))
  RegExp.prototype.exec = function (text) {
    characters += text.length - this.lastIndex
    return exec.call(this, text)
  }
  for (const lines of ['X: y\r\n'.repeat(100), `X:${' y'.repeat(4000)}\r\n`]) {
    characters = 0
    const { isDone } = read([...`0\r\n${lines}\r\n`], true)
    t.equal(isDone, true)
    t.ok(characters < 20 * lines.length, `${characters} characters read of ${lines.length}`)
  }
  t.end()
})
