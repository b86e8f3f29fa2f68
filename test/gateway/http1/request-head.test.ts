import t from 'tap'
import { mayBeTrailer } from '../../../gateway/wire/field-names.ts'
import { ParsedHead } from '../../../gateway/wire/parsed-head.ts'
import { parseRequestHead } from '../../../gateway/http1/request-head.ts'
import {
  CLIENT_CLAIMS,
  CLIENT_PREFIXES,
  PATH_OVERRIDES,
  PATH_PREFIXES,
} from '../../../shared/enforcement/foreign-headers.ts'
import { LIMITS } from '../../../shared/limits.ts'

function parse(text: string, previous: ParsedHead | null = null) {
  const bytes = Buffer.from(text, 'latin1')
  return parseRequestHead(bytes, 0, bytes.length, previous)
}

function head(text: string): ParsedHead {
  const parsed = parse(text)
  if (!(parsed instanceof ParsedHead)) throw new Error(`refused: ${JSON.stringify(parsed)}`)
  return parsed
}

function status(text: string): number | string {
  const parsed = parse(text)
  return parsed === null ? 'incomplete' : parsed instanceof ParsedHead ? 'taken' : parsed.status
}

const get = (target: string, ...lines: string[]) =>
  [`GET ${target} HTTP/1.1`, 'Host: app.test', ...lines, '', ''].join('\r\n')
const post = (...lines: string[]) =>
  ['POST / HTTP/1.1', 'Host: app.test', ...lines, '', ''].join('\r\n')

t.test('what the decision needs is read, and the rest goes on as it came', (t) => {
  const parsed = head(
    get(
      '/a?b=c',
      'Accept: text/html',
      'X-Custom:  padded \t',
      'Cookie: a=1',
      'sec-fetch-mode: navigate',
      'Sec-Fetch-Site: none',
      'cookie: b=2',
      'User-Agent: browser',
      'X-Requested-With: fetch',
      'X-Forwarded-For: 10.0.0.1',
      'x-forwarded-for: 10.0.0.2',
      'X-Forwarded-Proto: https',
      'traceparent: 00-1-2-01',
      'X-Service-Probe: token',
      'X-Service-Probe-Pass: pass',
      'X-Empty: ',
      'X-Last: 1',
    ),
  )
  t.match(parsed, {
    method: 'GET',
    target: '/a?b=c',
    authority: 'app.test',
    host: 'app.test',
    cookies: 'a=1; b=2',
    accept: 'text/html',
    secFetchMode: 'navigate',
    secFetchSite: 'none',
    userAgent: 'browser',
    requestedWith: 'fetch',
    forwardedFor: '10.0.0.1, 10.0.0.2',
    forwardedProto: 'https',
    traceparent: '00-1-2-01',
    probe: 'token',
    probePass: 'pass',
    keepsAlive: true,
  })
  t.equal(
    parsed.keptLines,
    'Accept: text/html\r\nX-Custom: padded\r\nsec-fetch-mode: navigate\r\nSec-Fetch-Site: none\r\n' +
      'User-Agent: browser\r\nX-Requested-With: fetch\r\nX-Empty:\r\nX-Last: 1\r\n',
  )
  t.end()
})

t.test('no spelling of an identity, forwarding or override header goes on', (t) => {
  const names = [
    'X-Service-User', 'x-service-user', 'X_Service_User', 'X.Service.User', 'X-Service_Claims',
    'x~service!user', 'X-SERVICE-', `X-Service-${'a'.repeat(54)}`, `X_Service_${'a'.repeat(118)}`,
    'X-Forwarded-Host', 'X_Forwarded_Host', 'X-Forwarded-Prefix', 'Forwarded', 'X-Real-IP',
    'X_Real_IP', 'X-Original-URL', 'X.Original.Url', 'X-Rewrite-URL', 'X-Middleware-Subrequest',
    'Request-URI', 'Request_URI', 'Base-URL', 'Proxy', 'True-Client-IP', 'True_Client_IP',
    'X-Client-IP', 'X-Accel-Redirect', 'X-Sendfile', 'X-Waws-Unencoded-URL', 'X-Envoy-Original-Path',
    'Proxy-Authorization', 'Proxy-Connection', 'Keep-Alive', 'Keep_Alive', 'HTTP2-Settings', 'Upgrade', 'TE',
  ] // prettier-ignore
  for (const name of names) {
    const parsed = head(get('/', 'A: 1', `${name}: evil`, 'B: 2'))
    t.equal(parsed.keptLines, 'A: 1\r\nB: 2\r\n', name)
  }
  t.end()
})

t.test('a name that CGI would fold into another one goes on in no case', (t) => {
  // gunicorn takes SCRIPT_NAME for where the application begins: sealed /admin would be served
  const odd = "!#$%&'*+.^_`|~"
  const names = ['SCRIPT_NAME', 'script_name', 'PATH_INFO', 'X_Custom', 'Accept_', '_', '__proto__']
  for (const name of [
    ...names,
    ...[...odd].flatMap((char) => [`X${char}A`, `${char}A`, `A${char}`]),
  ])
    t.equal(head(get('/', 'A: 1', `${name}: evil`, 'B: 2')).keptLines, 'A: 1\r\nB: 2\r\n', name)
  t.end()
})

t.test('what other proxies and frameworks read of the path or of the client is dropped', (t) => {
  const listed = [...PATH_OVERRIDES, ...CLIENT_CLAIMS]
  const begun = [...PATH_PREFIXES, ...CLIENT_PREFIXES].map((prefix) => `${prefix}any`)
  for (const name of [...listed, ...begun])
    for (const spelling of [name, name.toUpperCase()])
      t.equal(head(get('/', 'A: 1', `${spelling}: e`, 'B: 2')).keptLines, 'A: 1\r\nB: 2\r\n', name)
  for (const name of listed) t.equal(mayBeTrailer(name), false, `${name} as a trailer`)
  t.end()
})

t.test('a header that only looks alike goes on', (t) => {
  const names = [
    'X-Services',
    'X-Servic-User',
    'XService-User',
    'Accept-',
    'Proxyy',
    'X-A',
    'X',
    'X-',
  ]
  const theirs = [
    'X-HTTP-Method-Override',
    'X-Nextjs-Data',
    'RSC',
    'CF-Ray',
    'X-Vercel',
    'Destination',
  ]
  for (const name of [...names, ...theirs])
    t.equal(head(get('/', `${name}: 1`)).keptLines, `${name}: 1\r\n`, name)
  t.end()
})

t.test('a probe that is sent twice is none', (t) => {
  t.equal(head(get('/', 'X-Service-Probe: a', 'X-Service-Probe: a')).probe, '')
  t.equal(head(get('/', 'X_Service_Probe: a')).probe, '', 'and only the exact name counts')
  t.end()
})

t.test('Connection names away what is hop-by-hop, and nothing that we decide on', (t) => {
  const parsed = head(
    get('/', 'Connection: close, X-Gone, cookie, Authorization', 'X-Gone: 1', 'Authorization: b'),
  )
  t.equal(parsed.keptLines, 'Authorization: b\r\n')
  t.equal(parsed.keepsAlive, false)
  t.equal(status(get('/', 'Connection: a b')), 400)
  t.equal(status(get('/', 'Connection: \xa0close')), 400)
  t.end()
})

t.test('exactly one valid Host is required', (t) => {
  const host = (...lines: string[]) => status(['GET / HTTP/1.1', ...lines, '', ''].join('\r\n'))
  for (const valid of ['a', 'A-b.c_d', '127.0.0.1', '[::1]', '[::1]:443', 'a:1', 'a:65535'])
    t.equal(host(`Host: ${valid}`), 'taken', valid)
  const invalid = [
    '', ' ', 'a b', 'a,b', 'a:', 'a:0', 'a:65536', 'a:99999', 'a:080', 'a:1:2', 'a.', '.a', 'a..b', 'u@a',
    'a/b', 'a?b', 'a#b', 'a\\b', '[::1', '::1', '[::1]a', '[:::1]', '[1.2.3.4]', '[fe80::1%25eth0]', 'ä',
    'a%00', 'a%2eb', '*', `${'a'.repeat(262)}`,
  ] // prettier-ignore
  for (const value of invalid) t.equal(host(`Host: ${value}`), 400, value)
  t.equal(host(), 400, 'none')
  t.equal(host('Host: a', 'Host: a'), 400, 'two that are equal')
  t.equal(host('Host: a', 'host: b'), 400, 'two that differ')
  const hostless = head('GET / HTTP/1.0\r\n\r\n')
  t.equal(hostless.host, '', 'HTTP/1.0 may leave it out')
  const empty = parse('GET / HTTP/1.0\r\nHost: \r\n\r\n', hostless)
  t.match(empty, { status: 400 }, 'and behind it an empty one is none')
  t.equal(head('GET / HTTP/1.1\r\nHost: A.Test:80\r\n\r\n').host, 'a.test')
  t.equal(head('GET / HTTP/1.1\r\nHost: [2001:DB8::1]:80\r\n\r\n').host, '[2001:db8::1]')
  t.end()
})

t.test('a target is in origin-form, or becomes it', (t) => {
  const valid = [
    '/',
    '/a/b',
    '/a?b',
    '/?"<>`{}|\\^',
    "/!$&'()*+,;=:@-._~",
    '/[a]|{b}^',
    '/%41?%',
    '/a?/?',
  ]
  for (const target of valid) t.equal(head(get(target)).target, target)
  const invalid = [
    'a', '?a', '*', '/a#b', '/a\\b', '/ä', '/\x7f', '/a"b', '/<a>', '/`', '/%', '/%4', '/%zz', '/%00',
    '/a%00b?c', 'app.test:80', '//a#', 'http://', 'http:///a', 'ftp://app.test/', 'http://u@app.test/',
    'http://app.test/\\a', 'http://app.test/a#b', 'http:/app.test/', 'http://app.test:x/', 'javascript:a',
  ] // prettier-ignore
  for (const target of invalid) t.equal(status(get(target)), 400, target)
  t.equal(head(get('http://app.test/a?b')).target, '/a?b')
  t.equal(head(get('HTTP://APP.test:80/a')).target, '/a')
  t.equal(head(get('https://app.test')).target, '/')
  t.equal(head(get('http://app.test?a')).target, '/?a')
  t.equal(status(get('http://other.test/')), 400, 'absolute-form and Host disagree')
  t.equal(status(get('http://app.test:81/')), 400, 'also in the port')
  t.equal(head('OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n').target, '*')
  t.equal(head('OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n').target, '*')
  t.end()
})

t.test('methods and versions', (t) => {
  const line = (text: string) => status(`${text}\r\nHost: a\r\n\r\n`)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'M-SEARCH'])
    t.equal(line(`${method} / HTTP/1.1`), 'taken', method)
  for (const method of ['CONNECT', 'TRACE']) t.equal(line(`${method} / HTTP/1.1`), 405)
  t.equal(line('CONNECT a:443 HTTP/1.1'), 405)
  for (const method of ['GETS', 'FOO', 'A'.repeat(33)]) t.equal(line(`${method} / HTTP/1.1`), 501)
  for (const method of ['get', 'Get', 'G\0ET', 'G ET', '', 'GÄT', '"GET"'])
    t.equal(line(`${method} / HTTP/1.1`), 400, method)
  for (const version of ['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9']) t.equal(line(`GET / ${version}`), 505)
  for (const version of [
    'http/1.1',
    'HTTP/1.10',
    'HTTP/11',
    'HTTP/1,1',
    'HTTP /1.1',
    'HTTP/1.1 ',
    '',
  ])
    t.equal(line(`GET / ${version}`), 400, version)
  t.equal(line('GET  / HTTP/1.1'), 400)
  t.equal(line('GET /\tHTTP/1.1'), 400)
  t.end()
})

t.test('the length of a body is said once, in one way', (t) => {
  t.match(head(post('Content-Length: 5')), { bodyLength: 5, hasLength: true })
  t.match(head(post('Content-Length: 0005')), { bodyLength: 5 })
  t.match(head(post('Transfer-Encoding: Chunked')), { bodyLength: -1 })
  t.match(head(post()), { bodyLength: 0, hasLength: false })
  const ambiguous = [
    ['Content-Length: 5', 'Content-Length: 5'],
    ['Content-Length: 5', 'content-length: 6'],
    ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding:', 'Content-Length: 5'],
    ['Transfer-Encoding:'],
    ...['5, 5', '5,', '+5', '-5', '5.0', '0x5', '5e0', '5 5', '', '"5"', '٥', '9007199254740993', '1_0'].map(
      (value) => [`Content-Length: ${value}`],
    ),
    ['Content_Length: 5'],
    ['Transfer_Encoding: chunked'],
    ['Transfer.Encoding: chunked'],
  ] // prettier-ignore
  for (const lines of ambiguous) t.equal(status(post(...lines)), 400, lines.join(' + '))
  for (const coding of [
    'gzip',
    'gzip, chunked',
    'chunked, chunked',
    'identity',
    'chunked;a=b',
    "'chunked'",
  ])
    t.equal(status(post(`Transfer-Encoding: ${coding}`)), 501, coding)
  t.equal(status('POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'), 400)
  t.end()
})

t.test('bytes outside of the grammar are refused as soon as they are here', (t) => {
  const bad = [
    'A : 1', 'A\t: 1', ' A: 1', '\tA: 1', ': 1', 'A', 'A[]: 1', 'Ä: 1', 'A: \0', 'A: \x7f', 'A: \x0b', 'A: b\rc', 'A: b\nC: d',
  ] // prettier-ignore
  for (const line of bad) t.equal(status(get('/', line)), 400, JSON.stringify(line))
  t.equal(status('GET / HTTP/1.1\nHost: a\n\n'), 400, 'bare LF')
  t.equal(status('GET / HTTP/1.1\r\nHost: a\r\n\rX'), 400, 'CR LF CR X')
  t.equal(status('GET / HTTP/1.1\r\nHost: a\r\nX-\0'), 400, 'before the line has ended')
  t.equal(status('GET /\r\n'), 400, 'HTTP/0.9')
  t.equal(status('\x16\x03\x01\x02'), 400, 'a TLS hello')
  t.equal(status('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 505, 'an HTTP/2 preface')
  for (const part of [
    '',
    'G',
    'GET /',
    'GET / HTTP/1.1\r',
    'GET / HTTP/1.1\r\nHos',
    'GET / HTTP/1.1\r\nHost: a\r\n\r',
  ])
    t.equal(status(part), 'incomplete', JSON.stringify(part))
  t.equal(head(get('/', 'X: caf\xe9')).keptLines, 'X: caf\xe9\r\n', 'obs-text is opaque')
  t.end()
})

t.test('limits hold at N and N + 1', (t) => {
  const target = (bytes: number) => `/${'a'.repeat(bytes - 1)}`
  t.equal(status(get(target(LIMITS.targetBytesMax))), 'taken')
  t.equal(status(get(target(LIMITS.targetBytesMax + 1))), 414)
  t.equal(status(`GET ${target(200_000)}`), 414)
  const lines = (count: number) =>
    Array.from({ length: count - 1 }, (_item, index) => `X-${index}: a`)
  t.equal(status(get('/', ...lines(LIMITS.headerCountMax))), 'taken')
  t.equal(status(get('/', ...lines(LIMITS.headerCountMax + 1))), 431)
  const padded = (bytes: number) => get('/', `X: ${'a'.repeat(bytes - get('/', 'X: ').length)}`)
  t.equal(status(padded(LIMITS.headBytesMax)), 'taken')
  t.equal(status(padded(LIMITS.headBytesMax + 1)), 431)
  t.equal(
    status(padded(LIMITS.headBytesMax + 100).slice(0, -4)),
    431,
    'also before its end is here',
  )
  const host = (bytes: number) => `GET / HTTP/1.1\r\nHost: ${'a'.repeat(bytes)}\r\n\r\n`
  t.equal(status(host(LIMITS.authorityBytesMax)), 'taken')
  t.equal(status(host(LIMITS.authorityBytesMax + 1)), 400)
  const options = (bytes: number) => get('/', `Connection: close,${'a'.repeat(bytes - 6)}`)
  t.equal(status(options(LIMITS.connectionBytesMax)), 'taken')
  t.equal(status(options(LIMITS.connectionBytesMax + 1)), 400, 'however many names')
  t.end()
})

t.test('only a WebSocket handshake is an upgrade', (t) => {
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
  const version = 'Sec-WebSocket-Version: 13'
  const upgrade = ['Connection: keep-alive, Upgrade', 'Upgrade: WebSocket']
  const asked = [...upgrade, key, version]
  t.equal(head(get('/', ...asked)).isUpgrade, true)
  t.equal(
    head(get('/', 'Upgrade: websocket', key, version)).isUpgrade,
    false,
    'not without Connection',
  )
  t.equal(head(get('/', 'Connection: Upgrade', 'Upgrade: h2c', key, version)).isUpgrade, false)
  t.equal(
    head(get('/', 'Connection: Upgrade', 'Upgrade: websocket, x', key, version)).isUpgrade,
    false,
  )
  t.equal(head(post(...asked)).isUpgrade, false)
  t.equal(head(get('/', ...asked, 'Content-Length: 1')).isUpgrade, false, 'not with a body')
  for (const [why, ...lines] of [
    ['no key', version],
    ['no version', key],
    ['two keys', version, key, key],
    ['two versions', version, version, key],
    ['another version', 'Sec-WebSocket-Version: 8', key],
    ['two versions in one line', 'Sec-WebSocket-Version: 13, 8', key],
    ['no key of 16 bytes', version, 'Sec-WebSocket-Key: short=='],
    ['a key that ends here', version, key, 'Connection: Sec-WebSocket-Key'],
  ] as const)
    t.equal(head(get('/', ...upgrade, ...lines)).isUpgrade, false, why)
  t.equal(head(get('/', ...asked)).keepsAlive, false, 'what is no 101 is the last answer')
  t.end()
})

t.test('100-continue is the only expectation', (t) => {
  t.equal(head(post('Content-Length: 1', 'Expect: 100-Continue')).expectsContinue, true)
  t.equal(head(post('Expect: 100-continue')).expectsContinue, false, 'there is no body to wait for')
  for (const value of ['200-ok', 'y 100-continue', '100-continue, 100-continue'])
    t.equal(status(post('Content-Length: 1', `Expect: ${value}`)), 417)
  t.end()
})

t.test('TE goes on only as far as trailers', (t) => {
  t.equal(head(get('/', 'TE: gzip, trailers;q=1')).keptLines, '')
  t.equal(head(get('/', 'TE: gzip, Trailers', 'Connection: TE')).keptLines, 'TE: trailers\r\n')
  t.end()
})

/** What takes the square of its length does not read this many of them before this file has to end. */
t.test('the time to read a head grows with its length and no faster', (t) => {
  const worst = (bytes: number) => [
    `GET /${'a'.repeat(bytes)}`,
    get('/', 'X:'.padEnd(bytes)),
    get('/', `${'a'.repeat(bytes)}`),
    get('/', `Connection: ${'a,'.repeat(bytes / 2)}`),
    get('/', ...Array.from({ length: bytes / 4 }, () => 'a:')),
    get('/', `TE: ${', '.repeat(bytes / 2)}`),
  ]
  for (const [index, text] of worst(15_000).entries()) {
    const answers = new Set(Array.from({ length: 1000 }, () => status(text)))
    t.equal(answers.size, 1, `case ${index}`)
  }
  t.end()
})
