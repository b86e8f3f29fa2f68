/**
 * What a call can only get wrong on the wire: through the real server, byte by byte. Each answer is
 * a 4xx as everywhere else, with its request id, and the server goes on answering.
 */
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import { createPublicServer } from '../../../control-plane/server.ts'
import { systemClock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { OPERATOR_KEY, startApi } from '../../support/api.ts'
import { rawRequest } from '../../support/raw-request.ts'

const KEY = `Authorization: Bearer ${OPERATOR_KEY}\r\n`
const JSON_TYPE = 'Content-Type: application/json\r\n'
const LAST = 'Connection: close\r\n\r\n'
const PATH = '/api/v1/operator/tenants'
const TENANT =
  '{"tenant_id":"wire","hostnames":["wire.localhost"],"origin":"http://127.0.0.1:9000"}'
const post = (headers: string, body: string) =>
  `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${KEY}${headers}${LAST}${body}`
const get = (target: string, method = 'GET', headers = KEY) =>
  `${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers}${LAST}`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const LENGTH = `Content-Length: ${TENANT.length}\r\n`

const CASES: readonly (readonly [name: string, text: string, status: number])[] = [
  ['TRACE', get(PATH, 'TRACE'), 405],
  ['CONNECT', get('a:80', 'CONNECT'), 405],
  ['PURGE', get(PATH, 'PURGE'), 405],
  ['a method of nobody', get(PATH, 'INVENT'), 400],
  ['OPTIONS *', get('*', 'OPTIONS'), 400],
  ['a whole address', get(`http://other.example${PATH}/none`), 404],
  ['no slash', get('api/v1/contract'), 400],
  ['raw bytes in the path', get(`${PATH}/\xff`), 400],
  ['a blank in the path', get(`${PATH}/a b`), 400],
  ['a long path', get(`${PATH}/${'a'.repeat(LIMITS.headBytesMax)}`), 431],
  ['a long query', get(`${PATH}?cursor=${'a'.repeat(LIMITS.headBytesMax)}`), 431],
  ['a long key', get(PATH, 'GET', `Authorization: Bearer ${'a'.repeat(10_000)}\r\n`), 401],
  ['two keys, the wrong one first', get(PATH, 'GET', `Authorization: Bearer x\r\n${KEY}`), 401],
  ['two lengths', post(`${JSON_TYPE}${LENGTH}Content-Length: 1\r\n`, TENANT), 400],
  ['a length and chunks', post(`${JSON_TYPE}${LENGTH}Transfer-Encoding: chunked\r\n`, TENANT), 400],
  ['a negative length', post(`${JSON_TYPE}Content-Length: -1\r\n`, TENANT), 400],
  ['a length beyond the limit', post(`${JSON_TYPE}Content-Length: 99999999\r\n`, ''), 413],
  [
    'chunks beyond the limit',
    post(
      `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
      chunk(' '.repeat(LIMITS.jsonBodyBytesMax)) + chunk(TENANT) + '0\r\n\r\n',
    ),
    413,
  ],
  ['a broken chunk', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, 'zz\r\n'), 400],
  ['a packed body', post(`${JSON_TYPE}${LENGTH}Content-Encoding: gzip\r\n`, TENANT), 415],
  ['two media types', post(`Content-Type: text/plain\r\n${JSON_TYPE}${LENGTH}`, TENANT), 415],
  ['an expectation', post(`${JSON_TYPE}${LENGTH}Expect: a miracle\r\n`, TENANT), 400],
]

void t.test('what is wrong on the wire is refused, and changes nothing', async (t) => {
  const { app, services, operator } = await startApi(t)
  const log = pino({ level: 'silent' })
  const realms = { handle: () => undefined }
  const server = createPublicServer({ app, realms, log, clock: systemClock } as never)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const revision = await services.store.revision()

  for (const [name, text, status] of CASES) {
    const answer = await rawRequest(port, text)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    t.match(head, new RegExp(`^HTTP/1.1 ${status} `), name)
    t.match(head, /x-request-id: [0-9a-f-]{36}/i, `${name}: has a request id`)
    t.match(body, /^\{"error":"\w+","detail":"[^"]+/, `${name}: says what is wrong`)
    t.notMatch(answer, OPERATOR_KEY, name)
  }
  t.equal(await services.store.revision(), revision, 'nothing has changed')
  t.same((await operator('GET', '/tenants')).items, [])
  t.match(await rawRequest(port, get('/health/ready')), /^HTTP\/1.1 200 /)
})
