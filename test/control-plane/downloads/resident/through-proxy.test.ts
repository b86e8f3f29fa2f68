/** Where nothing gets out but by a proxy: the control plane over TLS, and every connection to gateways. */
import { createServer, request as httpRequest, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { ask } from '../../../support/dialled-in.ts'
import { freePort } from '../../../support/ports.ts'
import { introduce, startSecureService } from '../../../support/secure-service.ts'
import { startOrigin } from '../../../support/wire.ts'

const listen = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  )

/** Lets those out who say the right name and password; knows who wanted to go where. */
async function startProxy(t: Test) {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let refusal = ''
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '')
    const { authorization, ...headers } = request.headers
    delete headers['proxy-authorization']
    const passed = httpRequest(request.url ?? '', {
      method: 'POST',
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
    })
    passed.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  proxy.on('connect', ({ url = '', headers }, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    if (refusal !== '') return void socket.end(refusal)
    const given = Buffer.from((headers['proxy-authorization'] ?? '').slice(6), 'base64')
    if (given.toString() !== 'me:p@ss:word')
      return void socket.end('HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\n\r\n')
    asked.push(url)
    const port = Number(/:(\d+)$/.exec(url)?.[1])
    const onward = connect({ host: '127.0.0.1', port, allowHalfOpen: true }, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward)
      onward.pipe(socket)
    })
    sockets.add(onward)
    onward.on('error', () => socket.destroy())
    onward.on('close', () => socket.destroy())
    socket.on('close', () => onward.destroy())
  })
  const port = await listen(proxy)
  t.teardown(() => {
    proxy.closeAllConnections()
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return {
    asked,
    refuseWith: (text: string) => (refusal = text),
    as: (credentials: string) => `http://${credentials}127.0.0.1:${port}`,
  }
}

async function start(t: Test) {
  return { ...(await startSecureService(t)), proxy: await startProxy(t) }
}

t.test('it joins, runs and serves through a proxy that asks who it is', async (t) => {
  const origin = await startOrigin(t)
  const { service, door, proxy, baseUrl, call, start: begin, state } = await start(t)
  const environment = {
    SERVICE_BASE_URL: baseUrl,
    SERVICE_CONNECTOR_TOKEN: await service.token(),
    HTTPS_PROXY: proxy.as('me:p%40ss%3Aword@'),
  }
  const joining = ['join', '--origin', origin.url, '--state', state]
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['', /requires a username and password/],
    ['me:wr0ng@', /does not accept the username and password/],
  ]
  for (const [credentials, said] of wrong) {
    const HTTPS_PROXY = proxy.as(credentials)
    const refused = await call(joining, { environment: { ...environment, HTTPS_PROXY } })
    t.match(refused, { code: 3, err: said })
    t.notMatch(refused.err, 'wr0ng')
  }
  for (const [answer, said] of [
    ['HTTP/1.1 403 Forbidden\r\n\r\n', /answered 403/],
    ['HTTP/1.1 200', /cannot be reached/],
    ['SSH-2.0-OpenSSH\r\n', /cannot be reached/],
    ['HTTP/1.1 200 OK\r\n\r\nnot TLS', /is not accepted|cannot be reached/],
  ] as const) {
    proxy.refuseWith(answer)
    t.match(await call(joining, { environment }), { code: 3, err: said }, answer)
  }
  proxy.refuseWith('')
  t.strictSame(proxy.asked, [])
  t.match(await call(joining, { environment }), { code: 0 })
  const host = new URL(baseUrl).host
  t.strictSame(new Set(proxy.asked), new Set([host]))

  introduce(door, state)
  const running = begin(['run', '--state', state, '--local-port', 'none'], { environment })
  await running.logged('"msg":"connected"')
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  t.strictSame(new Set(proxy.asked), new Set([host, door.address]))
  running.signal('stop')
  const { code, err } = await running.ended
  t.equal(code, 0)
  t.notMatch(err, /p@ss|p%40ss|bWU6/)
})

t.test('what NO_PROXY names is reached without it', async (t) => {
  const origin = await startOrigin(t)
  const { service, door, proxy, call, start: begin, state } = await start(t)
  const environment = {
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_CONNECTOR_TOKEN: await service.token(),
    http_proxy: proxy.as(''),
    https_proxy: proxy.as(''),
    no_proxy: door.address,
  }
  const joining = ['join', '--origin', origin.url, '--state', state]
  const away = { ...environment, http_proxy: `http://me:s3cret@127.0.0.1:${await freePort()}` }
  const failed = await call(joining, { environment: away })
  t.match(failed, { code: 3, err: /the connection to the proxy 127\.0\.0\.1:\d+ failed: ECONN/ })
  t.notMatch(failed.err, 's3cret')
  t.match(await call(joining, { environment }), { code: 0 })
  t.strictSame(proxy.asked, [`${service.baseUrl}/api/v1/connector/join`], 'without TLS it is asked')
  introduce(door, state)
  const running = begin(['run', '--state', state, '--local-port', 'none'], { environment })
  await running.logged('"msg":"connected"')
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  t.notOk(proxy.asked.includes(door.address))
  running.signal('stop')
  await running.ended
})
