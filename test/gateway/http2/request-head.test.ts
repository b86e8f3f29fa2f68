import t from 'tap'
import { createHeadReader } from '../../../gateway/http2/request-head.ts'
import { ParsedHead } from '../../../gateway/wire/parsed-head.ts'
import { LIMITS } from '../../../shared/limits.ts'

const read = createHeadReader()
const PSEUDO = [':method', 'GET', ':scheme', 'https', ':authority', 'app.test', ':path', '/a?b']

const withPseudo = (name: string, value: string | undefined): string[] => {
  const fields: string[] = []
  for (let at = 0; at < PSEUDO.length; at += 2) {
    if (PSEUDO[at] !== name) fields.push(PSEUDO[at]!, PSEUDO[at + 1]!)
    else if (value !== undefined) fields.push(name, value)
  }
  return fields
}

const statusOf = (fields: readonly string[], isWhole = true): number => {
  const head = read(fields, isWhole)
  return head instanceof ParsedHead ? 0 : head.status
}

t.test('a head of HTTP/2 means what the same head of HTTP/1 means', (t) => {
  const head = read(
    [
      ...PSEUDO,
      'cookie',
      'a=1',
      'accept',
      'text/html',
      'cookie',
      'b=2; c=3',
      'x-custom',
      'x',
      'x-service-user',
      'root',
      'x_forwarded_for',
      '1.2.3.4',
      'script_name',
      '/admin',
      'client-ip',
      '1.2.3.4',
      'te',
      'trailers',
    ],
    true,
  )
  if (!(head instanceof ParsedHead)) return t.fail(JSON.stringify(head))
  t.match(head, { method: 'GET', target: '/a?b', authority: 'app.test', host: 'app.test' })
  t.equal(head.cookies, 'a=1; b=2; c=3', 'crumbs are one cookie again')
  t.equal(head.accept, 'text/html')
  t.equal(head.bodyLength, 0)
  t.equal(head.keptLines.toLowerCase(), 'accept: text/html\r\nx-custom: x\r\nte: trailers\r\n')
  t.end()
})

t.test('a body has a length, or comes in chunks, or there is none', (t) => {
  t.match(read(PSEUDO, true), { bodyLength: 0, hasLength: false })
  t.match(read(PSEUDO, false), { bodyLength: -1 })
  t.match(read([...PSEUDO, 'content-length', '5'], false), { bodyLength: 5, hasLength: true })
  t.match(read([...PSEUDO, 'content-length', '0'], true), { bodyLength: 0, hasLength: true })
  t.equal(statusOf([...PSEUDO, 'content-length', '5'], true), 400)
  t.equal(statusOf([...PSEUDO, 'content-length', '5', 'content-length', '5'], false), 400)
  t.equal(statusOf([...PSEUDO, 'content-length', '+5'], false), 400)
  t.equal(statusOf([...PSEUDO, 'content_length', '5'], false), 400)
  t.end()
})

t.test('pseudo-headers come once each, first, and none that is unknown', (t) => {
  t.equal(statusOf(PSEUDO), 0)
  for (const name of [':method', ':scheme', ':path', ':authority']) {
    t.equal(statusOf(withPseudo(name, undefined)), 400, `${name} is missing`)
    t.equal(statusOf(withPseudo(name, '')), 400, `${name} is empty`)
    t.equal(statusOf([...PSEUDO, name, 'x']), 400, `${name} is there twice`)
  }
  for (const field of ['accept', 'cookie', 'host']) {
    const late = [...PSEUDO.slice(0, -2), field, 'app.test', ...PSEUDO.slice(-2)]
    t.equal(statusOf(late), 400, `behind ${field}`)
  }
  for (const value of [' x', 'x\t', 'x\0', 'x\x7f', ' '])
    t.equal(statusOf([...PSEUDO, 'x-a', value]), 400, JSON.stringify(value))
  t.equal(statusOf(['x-a', 'b', ...PSEUDO]), 400, 'a header before them')
  t.equal(statusOf([...PSEUDO, ':protocol', 'websocket']), 400)
  t.equal(statusOf([...PSEUDO, ':status', '200']), 400)
  t.equal(statusOf(withPseudo(':scheme', 'http')), 400)
  t.equal(statusOf(withPseudo(':scheme', 'HTTPS')), 400)
  t.end()
})

t.test('what belongs to a connection of HTTP/1 is refused', (t) => {
  for (const [name, value] of [
    ['connection', 'close'],
    ['connection', 'x-service-user'],
    ['keep-alive', 'timeout=5'],
    ['proxy-connection', 'keep-alive'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'websocket'],
    ['http2-settings', 'AAMAAABkAAQAAP__'],
    ['te', 'gzip'],
    ['te', 'trailers, gzip'],
  ] as const)
    t.equal(statusOf([...PSEUDO, name, value]), 400, `${name}: ${value}`)
  t.equal(statusOf([...PSEUDO, 'te', 'trailers']), 0)
  t.end()
})

t.test('no name and no value becomes a line of its own', (t) => {
  for (const [name, value] of [
    ['x-a', 'b\r\nx-service-user: root'],
    ['x-a', 'b\nc'],
    ['x-a', 'b\rc'],
    ['x-a', 'b\0c'],
    ['x-a\r\nx-b', 'c'],
    ['x-a: b\r\nx-b', 'c'],
    ['x-a:', 'b'],
    ['x a', 'b'],
    ['X-A', 'b'],
    ['', 'b'],
    ['x-\u00e4', 'b'],
    ['cookie', 'a=1\r\nx: y'],
    ['host', 'app.test\r\nx: y'],
  ] as const)
    t.equal(statusOf([...PSEUDO, name, value]), 400, JSON.stringify([name, value]))
  for (const path of [
    '/a HTTP/1.1\r\nx: y',
    '/a b',
    '/a\r\n',
    'a',
    'https://app.test/a',
    '//\u00e4',
    '/a#b',
    '/a\\b',
    '*',
    '/%0',
    '/%00',
  ])
    t.equal(statusOf(withPseudo(':path', path)), 400, JSON.stringify(path))
  for (const authority of [
    'app.test\r\nx: y',
    'user@app.test',
    'app.test.',
    'app.test:',
    'app.test:0',
    'app.test:65536',
    'app test',
    'app.test/x',
    '[::g]',
    '\u00e4.test',
  ])
    t.equal(statusOf(withPseudo(':authority', authority)), 400, JSON.stringify(authority))
  t.end()
})

t.test('Host may stand in for :authority, and never disagrees with it', (t) => {
  const hostOnly = withPseudo(':authority', undefined)
  t.match(read([...hostOnly, 'host', 'App.test:8443'], true), { host: 'app.test' })
  t.equal(statusOf([...PSEUDO, 'host', 'app.test']), 0)
  t.equal(statusOf([...PSEUDO, 'host', 'APP.test:443']), 0)
  t.equal(statusOf([...PSEUDO, 'host', 'other.test']), 400)
  t.equal(statusOf([...PSEUDO, 'host', 'app.test:8443']), 400)
  t.equal(statusOf([...PSEUDO, 'host', '']), 400)
  t.equal(statusOf([...PSEUDO, 'host', 'app.test', 'host', 'app.test']), 400)
  t.end()
})

t.test('methods are served, refused or unknown as on the other wire', (t) => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])
    t.equal(statusOf(withPseudo(':method', method)), 0, method)
  t.equal(statusOf(withPseudo(':method', 'TRACE')), 405)
  t.equal(statusOf(['ignored', 'x', ':method', 'CONNECT', ':authority', 'app.test']), 400)
  t.equal(statusOf([':method', 'CONNECT', ':authority', 'app.test']), 405)
  t.equal(statusOf(withPseudo(':method', 'get')), 501)
  t.equal(statusOf(withPseudo(':method', 'MADEUP')), 501)
  t.equal(statusOf([...withPseudo(':method', 'OPTIONS').slice(0, -2), ':path', '*']), 0)
  t.equal(statusOf([...PSEUDO, 'expect', '100-continue'], false), 0)
  t.equal(statusOf([...PSEUDO, 'expect', 'the-unexpected'], false), 417)
  t.end()
})

t.test('the limits of a head are the same: one more is too much', (t) => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => [`x-${at}`, 'y']).flat()
  t.equal(statusOf([...PSEUDO, ...many(LIMITS.headerCountMax - 1)]), 0, 'Host counts as one')
  t.equal(statusOf([...PSEUDO, ...many(LIMITS.headerCountMax)]), 431)
  const crumbs = Array.from({ length: 200 }, (_, at) => ['cookie', `c${at}=1`]).flat()
  t.equal(statusOf([...PSEUDO, ...crumbs]), 0, 'crumbs of one cookie count as one header')

  const path = (length: number) => withPseudo(':path', `/${'a'.repeat(length - 1)}`)
  t.equal(statusOf(path(LIMITS.targetBytesMax)), 0)
  t.equal(statusOf(path(LIMITS.targetBytesMax + 1)), 414)

  const bare = 'GET /a?b HTTP/1.1\r\nhost: app.test\r\nx: \r\n\r\n'.length
  const filled = (bytes: number) => [...PSEUDO, 'x', 'y'.repeat(bytes - bare)]
  t.equal(statusOf(filled(LIMITS.headBytesMax)), 0)
  t.equal(statusOf(filled(LIMITS.headBytesMax + 1)), 431)
  t.equal(statusOf(filled(10 * LIMITS.headBytesMax)), 431)
  t.end()
})
