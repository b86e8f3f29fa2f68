/** What an adapter owes whatever guard it carries out: nothing gets past it, nothing is lost. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import t from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import type { Guard, Outcome } from '../../../../control-plane/downloads/sdk-node/guard.ts'
import { verifyClaims } from '../../../../control-plane/downloads/sdk-node/index.ts'
import { createClaimsGuard } from '../../../../control-plane/downloads/sdk-node/verify-claims.ts'
import { claimsWorld, tokenOf } from '../../../support/claims.ts'
import { http2SessionTo } from '../../../support/http2-session.ts'
import { ask, cookiesIn, forward, listen, serviceOf } from '../../../support/own-guard.ts'
import { RawClient } from '../../../support/wire.ts'

const run = promisify(execFile)
const TOKEN = tokenOf()
const ANSWER: Outcome = { kind: 'answer', status: 418, headers: [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2']], body: 'no' } // prettier-ignore

t.test('a guard that fails in spite of its promise lets nobody pass', async (t) => {
  const failures: Guard['judge'][] = [
    () => {
      throw new Error('broken')
    },
    () => Promise.reject(new Error('broken')),
  ]
  for (const judge of failures) {
    const listener = serviceOf(judge).node(() => t.fail('the application was reached'))
    t.match(await ask(t, createServer(listener)), { status: 503, body: /unavailable/ })
  }
})

t.test('an answer keeps all of its cookies, and HEAD its length', async (t) => {
  const listener = serviceOf(() => ANSWER).node(() => t.fail())
  const { head, body } = await ask(t, createServer(listener))
  t.same(cookiesIn(head), ['a=1', 'b=2'])
  t.equal(body, 'no')
  t.match(await ask(t, createServer(listener), 'HEAD / HTTP/1.1'), { body: '', head: /content-length: 2/i }) // prettier-ignore
})

t.test('a request is judged once, however often its guard stands in the way', async (t) => {
  let judged = 0
  const service = serviceOf((request) => {
    judged++
    return forward({ target: request.target })
  })
  const app = express().use(service.express()).use('/sub', service.express())
  app.get('/sub/x', (request, response) => response.json(request.rawHeaders.length))
  const answer = await ask(t, createServer(service.node(app)), 'GET /sub/x HTTP/1.1')
  t.match(answer, { status: 200, body: '8' })
  t.equal(judged, 1)
})

t.test('below a mount the whole path is decided on, and the rest routed by', async (t) => {
  const targets: string[] = []
  const service = serviceOf(({ target }) => {
    targets.push(target)
    return forward({ target: target.replace('http://app.test', '') })
  })
  const app = express().use('/sub', service.express())
  app.get('/sub/x', (request, response) => response.send(`${request.originalUrl} ${request.url}`))
  const server = createServer(app)
  t.match(await ask(t, server, 'GET /sub/x?y HTTP/1.1'), { body: '/sub/x?y /sub/x?y' })
  t.match(await ask(t, createServer(app), 'GET http://app.test/sub/x HTTP/1.1'), { status: 400 })
  t.same(targets, ['/sub/x?y', 'http://app.test/sub/x'])
})

const SERVICE_URL = new URL('../../../../control-plane/downloads/sdk-node/service.ts', import.meta.url).href // prettier-ignore

t.test('an error of the listener is uncaught as ever, and no rejection of ours', async (t) => {
  const script = `
    import { createServer, get } from 'node:http'
    import { createService } from ${JSON.stringify(SERVICE_URL)}
    const outcome = { kind: 'forward', target: '/', privateCookies: [] }
    const judge = process.argv[1] === 'later' ? async () => outcome : () => outcome
    process.on('uncaughtException', (error, origin) => {
      console.log(origin, error.message)
      process.exit()
    })
    const listener = createService({ judge }).node(() => { throw new Error('its own') })
    const server = createServer(listener).listen(0, '127.0.0.1', () => get(server.address()))`
  for (const when of ['at once', 'later']) {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, when])
    t.equal(stdout, 'uncaughtException its own\n', when)
  }
})

t.test('who has gone while the guard was thinking costs the application nothing', async (t) => {
  let decide: (outcome: Outcome) => void = () => undefined
  const service = serviceOf(() => new Promise((resolve) => (decide = resolve)))
  const server = createServer(service.node(() => t.fail('the application was reached')))
  const client = new RawClient(await listen(t, server))
  const begun = once(server, 'request') as Promise<[unknown, ServerResponse]>
  client.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n')
  const [, response] = await begun
  const closed = once(response, 'close')
  client.close()
  await closed
  decide(forward())
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(response.destroyed)
})

t.test('who waits for 100-continue is refused before the body is sent', async (t) => {
  const server = createServer()
  const service = serviceOf(() => ANSWER)
  server.on(
    'checkContinue',
    service.node(() => t.fail()),
  )
  const client = new RawClient(await listen(t, server))
  client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n')
  t.equal((await client.answer())?.status, 418)
  t.same(client.informational, [])
  client.close()
})

t.test('Fastify: every route is behind the guard, wherever it was made', async (t) => {
  const service = serviceOf(({ rawHeaders }) => (rawHeaders.includes('good') ? forward() : ANSWER))
  const app = fastify()
  app.get('/before', () => 'in')
  await app.register(service.fastify())
  await app.register((child, _options, done) => {
    child.get('/child', () => 'in')
    done()
  })
  app.get('/after', () => 'in')
  t.teardown(() => app.close())
  for (const url of ['/before', '/child', '/after', '/nowhere']) {
    t.equal((await app.inject({ url })).statusCode, 418, url)
    const headers = { 'x-is': 'good' }
    t.not((await app.inject({ url, headers })).statusCode, 418, url)
  }
})

t.test('Fastify: routes that would not be guarded stop the start', async (t) => {
  const service = serviceOf(() => ANSWER)
  const app = fastify()
  await app.register((child, _options, done) => {
    child.get('/early', () => 'in')
    done()
  })
  await t.rejects(async () => app.register(service.fastify()), /before every other plugin/)
})

t.test('a page of another site is not given its user’s session', async (t) => {
  const foreign = forward({ identity: undefined, isForeignPage: true })
  const listener = serviceOf(() => foreign).node((request, response) =>
    response.end(JSON.stringify([request.headers, request.rawHeaders])),
  )
  const cookies = 'Cookie: a=1; service_session=secret\r\n'
  const { body } = await ask(t, createServer(listener), 'GET / HTTP/1.1', cookies)
  t.match(body, 'a=1')
  t.notMatch(body, 'secret')
})

t.test('Hono without a server: the standard’s Request is cleaned as well', async (t) => {
  const service = verifyClaims(claimsWorld().options)
  const app = new Hono<{ Variables: { serviceClaims: { sub: string } | undefined } }>()
  app.use(service.hono())
  app.get('/', (c) => c.json({ ...c.req.header(), user: c.get('serviceClaims')?.sub }))
  t.equal((await app.request('/')).status, 401)
  const headers = { 'X-Service-Claims': TOKEN, X_Service_User: 'root', Cookie: 'service_seen=x' }
  const answer = await app.request('/', { headers })
  t.equal(answer.headers.get('cache-control'), 'private')
  const seen = (await answer.json()) as Record<string, string>
  t.match(seen, { user: 'usr_ada', 'x-service-user': 'usr_ada' })
  t.notMatch(JSON.stringify(seen), /root|service_seen/)
})

t.test('HTTP/2 is guarded like HTTP/1.1', async (t) => {
  const guard = createClaimsGuard(claimsWorld().options)
  const seenLines: string[][] = []
  const service = serviceOf((request) => {
    seenLines.push([...request.rawHeaders])
    return guard.judge(request)
  })
  const listener = service.node((request, response) => {
    response.setHeader('Set-Cookie', 'own=1')
    response.end(JSON.stringify({ user: request.serviceClaims?.sub, ...request.headers, raw: request.rawHeaders })) // prettier-ignore
  })
  const session = await http2SessionTo(t, listener)
  const askHttp2 = async (headers: Record<string, string>) => {
    const stream = session.request({ ':path': '/x', ...headers })
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
    let body = ''
    for await (const chunk of stream) body += String(chunk)
    return { head, body }
  }
  t.match((await askHttp2({})).head, { ':status': 401 })
  t.match(seenLines[0]?.slice(0, 2), ['host', /^127\.0\.0\.1:/], 'and has a Host')
  t.notMatch(seenLines[0], [/^:/])
  const { head, body } = await askHttp2({ 'x-service-claims': TOKEN, 'x_service_user': 'root', cookie: 'a=1; service_seen=x' }) // prettier-ignore
  t.match(head, { ':status': 200, 'cache-control': 'private', 'set-cookie': ['own=1'] })
  t.match(JSON.parse(body), { user: 'usr_ada', 'x-service-user': 'usr_ada', cookie: 'a=1', ':path': '/x' }) // prettier-ignore
  t.notMatch(body, /root|service_seen/)
})

t.test('a WebSocket opens for a user, and for nobody else', async (t) => {
  const service = verifyClaims(claimsWorld().options)
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer()
  server.on(
    'upgrade',
    service.upgrade((request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.send(JSON.stringify({ user: request.serviceClaims?.sub, ...request.headers }))
        opened.close()
      })
    }),
  )
  const port = await listen(t, server)
  const open = async (headers: Record<string, string>) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers })
    return new Promise<string>((resolve) => {
      socket.once('message', (message: Buffer) => resolve(message.toString()))
      socket.once('unexpected-response', (_request, answer) => resolve(String(answer.statusCode)))
    })
  }
  t.equal(await open({}), '401')
  t.equal(await open({ 'X-Service-User': 'root' }), '401')
  const seen = await open({ 'X-Service-Claims': TOKEN, 'X_Service_User': 'root', Cookie: 'a=1; service_seen=x' }) // prettier-ignore
  t.match(JSON.parse(seen), { user: 'usr_ada', 'x-service-user': 'usr_ada', cookie: 'a=1' })
  t.notMatch(seen, /root|service_seen/)
})

t.test('an upgrade that breaks off while the guard is thinking harms nobody', async (t) => {
  let decide: (outcome: Outcome) => void = () => undefined
  const service = serviceOf(() => new Promise((resolve) => (decide = resolve)))
  const server = createServer()
  server.on(
    'upgrade',
    service.upgrade(() => t.fail('the application was reached')),
  )
  const port = await listen(t, server)
  const client = new RawClient(port)
  const begun = once(server, 'upgrade') as Promise<[unknown, Socket]>
  client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  const [, socket] = await begun
  const closed = new Promise((resolve) => socket.once('close', resolve))
  client.socket.resetAndDestroy()
  socket.resume()
  await closed
  decide(forward())
  await new Promise((resolve) => setImmediate(resolve))
  t.ok(socket.destroyed)
})
