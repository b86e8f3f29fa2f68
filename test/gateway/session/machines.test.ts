/** Machines over HTTP/2: their lines are read, and go no further, as over HTTP/1.1. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { NOBODY } from '../../../shared/fleet/services.ts'
import { rulesOf, SERVICES } from '../../support/access-rules.ts'
import { HOST } from '../../support/edge-world.ts'
import {
  identityOf,
  machineTokenOf,
  newSecret,
  SECRET_ID,
  secretOf,
} from '../../support/machines.ts'
import { rawRequest } from '../../support/raw-request.ts'
import { startSecureEdge } from '../../support/secure-edge.ts'
import { answerOf, ask } from '../../support/secure-wire.ts'
import { newSigningKey } from '../../support/tokens.ts'
import { listening } from '../../support/wire.ts'

const KEY = newSigningKey('of machines')
const [CI] = SERVICES
const SECRET = newSecret()
const NOW = Math.floor(Date.now() / 1000)
const TRUST = { issuer: 'http://localhost:8080/auth/realms/app', audience: 'app-user' }

async function startWorld(t: { teardown(close: () => unknown): void }) {
  const received: { headers: IncomingHttpHeaders; trailers: NodeJS.Dict<string> }[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received.push({ headers: request.headers, trailers: request.trailers })
      if (request.url === '/hooks/events') return void response.write('data: 1\n\n')
      response.end('ok')
    })
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { n = '', e = '' } = KEY.publicKey.export({ format: 'jwk' })
  const services = (secrets = [secretOf(SECRET, NOW + 600, SECRET_ID)]) => ({
    services: [{ service_id: CI, identity: identityOf(KEY, CI, TRUST, NOW - 5), secrets }],
    clauses: [{ rule: 0, allow: [{ service: CI }] }],
  })
  const change = {
    keys: [{ kid: KEY.kid, kty: 'RSA' as const, alg: 'RS256' as const, use: 'sig' as const, n, e }],
    access: rulesOf([{ path: '/hooks', allow: [NOBODY] }]),
    services: services(),
  }
  const edge = await startSecureEdge(t, `http://127.0.0.1:${await listening(server)}`, { change })
  return { edge, received, services, session: await edge.http2() }
}

const RIGHT = { 'service-client-id': CI, 'service-client-secret': SECRET }
const HOOKS = { ':path': '/hooks/1', ':authority': HOST }

t.test('over HTTP/2 a machine is known by the same lines', async (t) => {
  const { edge, received, session } = await startWorld(t)
  t.match(await ask(session, { ...HOOKS, ...RIGHT }), { status: 200 })
  t.match(received.at(-1)?.headers, { 'x-service-user': CI })
  t.notMatch(JSON.stringify(received), /service-client|sms_/)
  const jsonOf = async (headers: Parameters<typeof ask>[1]) => {
    const { status, body } = await ask(session, { ...HOOKS, ...headers })
    return { status, ...(JSON.parse(body.toString()) as object) }
  }
  const malformed = { status: 401, reason: 'machine_malformed' }
  t.match(await jsonOf({ ...RIGHT, 'service-client-secret': [SECRET, SECRET] }), malformed)
  t.match(await jsonOf({ ...RIGHT, 'service-client-id': [CI, CI] }), malformed)
  t.match(
    await jsonOf({ 'service-client-id': `${CI}:443`, 'service-client-secret': SECRET }),
    malformed,
  )
  const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const wrong = { ...RIGHT, ...navigation, 'service-client-secret': newSecret() }
  t.match(await jsonOf(wrong), { status: 401, reason: 'machine_unknown' }, 'no page, no redirect')
  const underscores = { service_client_id: CI, service_client_secret: SECRET }
  t.match(await jsonOf(underscores), { status: 401, error: 'sign_in_required' })
  t.equal(received.length, 1)

  const trailed = session.request(
    { ...HOOKS, ...RIGHT, ':method': 'POST', te: 'trailers' },
    {
      endStream: false,
      waitForTrailers: true,
    },
  )
  trailed.on('wantTrailers', () => trailed.sendTrailers({ 'service-client-secret': SECRET }))
  const answer = answerOf(trailed)
  trailed.end('body')
  t.match(await answer, { status: 200 })
  t.same(received.at(-1)?.trailers, {})
  t.notMatch(JSON.stringify([edge.lines, edge.logged]), SECRET.slice(4))
  t.match(edge.lines.at(-1), { decision: 'forward', reason: 'machine' })
})

t.test('over HTTP/2 a token is taken, and goes no further', async (t) => {
  const { edge, received, session } = await startWorld(t)
  const token = machineTokenOf(KEY, CI, TRUST, NOW)
  const authorization = `Bearer ${token}`
  t.match(await ask(session, { ...HOOKS, authorization }), { status: 200 })
  t.match(received.at(-1)?.headers, { 'x-service-user': CI, authorization: undefined })
  const own = `Bearer ${machineTokenOf(KEY, CI, { ...TRUST, issuer: 'https://app' }, NOW)}`
  t.match(await ask(session, { ':path': '/healthz-not', ':authority': HOST, authorization: own }), {
    status: 401,
  })
  const both = { authorization: `${authorization}, ${authorization}` }
  const twice = await ask(session, { ...HOOKS, ...both })
  t.match(twice, { status: 400 })
  t.match(JSON.parse(twice.body.toString()), { reason: 'machine_token_ambiguous' })
  t.notMatch(JSON.stringify([edge.lines, edge.logged, received]), token.slice(-40))
})

t.test('what it has open is cut off with its secret', async (t) => {
  const { edge, services, session } = await startWorld(t)
  const stream = session.request({ ...HOOKS, ':path': '/hooks/events', ...RIGHT })
  const answer = answerOf(stream)
  await new Promise((resolve) => stream.once('data', resolve))
  edge.put({ services: services([]) })
  t.not((await answer).rstCode, 0, 'it does not look whole')
})

t.test('a connection that names the lines keeps them from nobody', async (t) => {
  const { edge, received } = await startWorld(t)
  const lines = [`Service-Client-Id: ${CI}`, `Service-Client-Secret: ${SECRET}`]
  const text = (connection: string) =>
    `GET /hooks/1 HTTP/1.1\r\nHost: ${HOST}\r\n${lines.join('\r\n')}\r\nConnection: ${connection}\r\n\r\n`
  const told = await rawRequest(edge.port, text('close, service-client-id, Service-Client-Secret'))
  t.match(told, /^HTTP\/1.1 200/, 'it does not take them from us')
  t.match(received.at(-1)?.headers, { 'x-service-user': CI })
  t.notMatch(JSON.stringify(received), /service-client|sms_/)
})
