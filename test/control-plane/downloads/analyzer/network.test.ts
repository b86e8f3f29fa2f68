/** Between the tool and the service: what is wrong is told in a sentence, and the key goes nowhere else. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { freePort } from '../../../support/ports.ts'
import { startAnalyzer } from '../../../support/analyzer-program.ts'
import { certificateFor } from '../../../support/certificate.ts'

const analyzer = startAnalyzer(t)
const start = async (t: Test) => (await analyzer).tenant(t)

type Reply = (response: ServerResponse, request: IncomingMessage) => unknown

/** Something at an address that is not the service. */
async function startOther(t: Test) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    reply(response, request)
  })
  let reply: Reply = (response) => response.end()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { baseUrl, requests, replies: (next: Reply) => (reply = next) }
}

const json = (status: number, body: unknown, headers = {}): Reply => {
  return (response) => response.writeHead(status, headers).end(JSON.stringify(body))
}

const flood: Reply = (response) => {
  const more = (error?: Error | null) => {
    if (!error) response.write(Buffer.alloc(65_536, 32), more)
  }
  more()
}

void t.test('an address where nobody answers is told from one that says no', async (t) => {
  const { run, key } = await start(t)
  const at = (url: string, more = {}) => ({
    environment: { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: url, ...more },
    node: process.execPath,
  })
  const empty = `http://127.0.0.1:${await freePort()}`
  const nobody = await run(['go-back'], at(empty))
  t.match(nobody, { code: 3, err: `${empty} cannot be reached: the connection was refused` })
  t.match(nobody.err, 'curl -i')
  t.notMatch(nobody.err, 'not encrypted', 'this machine is no way to be read on')
  const open = await run(['go-back'], at('http://nobody.invalid'))
  t.match(open, { code: 3, err: /Warning: http:\/\/nobody\.invalid is not encrypted/ })
  t.match(open.err, 'the name does not resolve')
  t.match((await run(['go-back'], at('http://127.0.0.1:9'))).err, 'fetch blocks')

  const proxied = at('http://127.0.0.1:9', { http_proxy: 'http://127.0.0.1:8' })
  t.match((await run(['go-back'], proxied)).err, /http_proxy is set, but.*NODE_USE_ENV_PROXY=1/s)
  const https = at('https://127.0.0.1:9', { HTTPS_PROXY: 'http://127.0.0.1:8' })
  t.match((await run(['go-back'], https)).err, /HTTPS_PROXY is set, but/)
  t.notMatch((await run(['go-back'], at('http://127.0.0.1:9', { HTTPS_PROXY: 'x' }))).err, 'PROXY')
})

void t.test('what else answers there is not taken for the service', async (t) => {
  const { run, key } = await start(t)
  const other = await startOther(t)
  const environment = { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: other.baseUrl }
  const cases: readonly (readonly [string, Reply, RegExp])[] = [
    ['a page', (response) => response.end('<h1>It works</h1>'), /returned 200 without JSON/],
    ['a list', json(200, []), /without JSON/],
    ['other JSON', json(200, { status: 'fine' }), /returned an unexpected answer/],
    ['an unknown place', json(404, { message: 'no' }), /does not know this call: it is an older/],
    ['an older service', json(404, { error: 'not_found' }), /or not the service/],
    ['a redirect', (response) => response.writeHead(302, { Location: 'https://evil.example' }).end(), /redirects \(302\), and the key is not sent to another address\. Set SERVICE_BASE_URL/], // prettier-ignore
    [
      'a refusal',
      json(403, { error: 'x', detail: 'No\u001b[2J way.' }),
      /returned 403: No \[2J way/,
    ],
    ['a failure', json(500, { error: 'x', detail: 'Later.' }, { 'X-Request-Id': 'r-1' }), /returned 500: Later\. .*request r-1/], // prettier-ignore
    ['too often', json(429, {}, { 'Retry-After': '7' }), /Wait 7 s/],
    ['too often, till', json(429, {}, { 'Retry-After': 'Sat, 21 Nov 2026 20:00:00 GMT' }), /Wait until 2026-11-21T20:00:00/], // prettier-ignore
    [
      'a hang-up',
      (response) => response.destroy(),
      /cannot be reached: the connection was interrupted/,
    ],
    ['half an answer', (response) => response.writeHead(200, { 'Content-Length': '100' }).write('{', () => response.destroy()), /interrupted/], // prettier-ignore
    ['no HTTP', (response) => response.socket?.end('SSH-2.0-x\r\n\r\n'), /does not speak HTTP/],
    ['a flood', flood, /returned more than 1 MiB/],
  ]
  for (const [name, reply, says] of cases) {
    other.replies(reply)
    const { code, out, err } = await run(['go-live'], { environment })
    t.strictSame([code, out], [3, ''], name)
    t.match(err.replaceAll('\n', ' '), says)
    t.notMatch(err, '\u001b')
  }
  t.equal(other.requests.length, cases.length, 'what changes something is asked once')
})

void t.test('a safer address of the same host is named, and no other', async (t) => {
  const { run, key } = await start(t)
  const other = await startOther(t)
  const environment = { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: other.baseUrl }
  other.replies((response) => response.writeHead(301, { Location: 'https://127.0.0.1/x?y' }).end())
  t.match(
    (await run(['go-live'], { environment })).err,
    'export SERVICE_BASE_URL=https://127.0.0.1',
  )
})

void t.test('a look is tried once more, a change is not', async (t) => {
  const { run, key } = await start(t)
  const other = await startOther(t)
  const environment = { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: other.baseUrl }
  for (const reply of [
    json(503, { error: 'x', detail: 'y' }),
    (response: ServerResponse) => response.destroy(),
  ]) {
    other.requests.length = 0
    other.replies(reply)
    t.match(await run(['login'], { environment: { ...environment }, input: key }), { code: 3 })
    t.equal(other.requests.length, 2)
    other.requests.length = 0
    t.match(await run(['go-live'], { environment }), { code: 3 })
    t.equal(other.requests.length, 1)
  }
  other.requests.length = 0
  other.replies(json(401, { error: 'analyzer_key_invalid' }))
  t.match(await run(['login'], { environment, input: key }), { code: 2 })
  t.equal(other.requests.length, 1, 'a key that is wrong stays wrong')
})

void t.test('the key is in a header, but where the service wants it in the query', async (t) => {
  const { run, key } = await start(t)
  const other = await startOther(t)
  const environment = { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: other.baseUrl }
  other.replies(json(500, { error: 'x', detail: 'y' }))
  for (const command of ['status', 'probe', 'go-live', 'go-back', 'complete', 'verify', 'doctor'])
    await run([command], { environment })
  t.ok(other.requests.length >= 7)
  for (const { url = '', headers } of other.requests) {
    t.notMatch(url, key)
    const isOpen = url === '/api/v1/contract'
    t.equal(headers.authorization, isOpen ? undefined : `Bearer ${key}`, url)
  }
})

void t.test('a certificate that is not accepted is told with what to do', async (t) => {
  const { run, key } = await start(t)
  const server = createTlsServer(certificateFor('localhost'), (_request, response) =>
    response.end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const at = (url: string) => ({
    environment: { SERVICE_ANALYZER_KEY: key, SERVICE_BASE_URL: url },
    node: process.execPath,
  })
  const refused = await run(['go-back'], at(`https://localhost:${port}`))
  t.match(refused, { code: 3, err: /certificate is not accepted.*NODE_EXTRA_CA_CERTS/s })
  const plain = await startOther(t)
  const noTls = await run(['go-back'], at(plain.baseUrl.replace('http:', 'https:')))
  t.match(noTls, { code: 3, err: /that port does not speak TLS.*an http:/s })
})
