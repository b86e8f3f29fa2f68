/** Nanoseconds per head, without sockets: `npm run bench:heads`. */
import { ParsedHead } from '../../gateway/wire/parsed-head.ts'
import { parseRequestHead } from '../../gateway/http1/request-head.ts'
import { parseResponseHead } from '../../gateway/upstream/response-head.ts'

const token = 'eyJhbGciOiJSUzI1NiJ9'.padEnd(740, 'x')
const request = Buffer.from(
  [
    'GET /path?query=1 HTTP/1.1',
    'Host: app.bench.test',
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'Accept-Language: en-US,en;q=0.5',
    'Accept-Encoding: gzip, deflate, br',
    'Sec-Fetch-Mode: navigate',
    `Cookie: theme=dark; service_session=${token}`,
    '',
    '',
  ].join('\r\n'),
)
const response = Buffer.from(
  'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 03:45:36 GMT\r\n' +
    'Content-Type: text/plain\r\nContent-Length: 1024\r\nConnection: keep-alive\r\n\r\n',
)

function time(name: string, run: () => unknown): void {
  for (let count = 0; count < 200_000; count++) run()
  const rounds = Array.from({ length: 15 }, () => {
    const start = process.hrtime.bigint()
    for (let count = 0; count < 50_000; count++) run()
    return Number(process.hrtime.bigint() - start) / 50_000
  })
  console.log(name.padEnd(36), `${Math.min(...rounds).toFixed(0)} ns`)
}

let previous: ParsedHead | null = null
time('bytes to text', () => request.toString('latin1', 0, request.length))
time('request head', () => {
  const head = parseRequestHead(request, 0, request.length, previous)
  if (!(head instanceof ParsedHead)) throw new Error('refused')
  previous = head
  return head
})
time('response head', () => {
  const head = parseResponseHead(response, 0, response.length, 'GET')
  if (head === null || typeof head === 'string') throw new Error('refused')
  return head
})
