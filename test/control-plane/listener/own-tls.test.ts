/** The control plane over TLS of its own: who is served there, and what comes without. */
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect as connectRaw, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { pino } from 'pino'
import { createPublicServer } from '../../../control-plane/server.ts'
import { createSecureListener } from '../../../control-plane/listener/secure-listener.ts'
import { createSendToTls } from '../../../control-plane/listener/without-tls.ts'
import { createOwnCertificate } from '../../../control-plane/tenants/own-certificate.ts'
import { systemClock } from '../../../shared/clock.ts'
import { CHALLENGE_PATH } from '../../../shared/acme-challenge.ts'
import { startApi } from '../../support/api.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { createTestLog } from '../../support/fleet.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'

const HOSTNAME = 'auth.example.test'
const BASE = `https://${HOSTNAME}`

async function start(t: Test, perAddressMax = 100) {
  const authority = createTestAuthority(t)
  const file = join(temporaryFolder(t), 'own.pem')
  const write = (hostname = HOSTNAME) => {
    const { certificate_pem: chain, private_key_pem: key } = authority.issue(hostname)
    writeFileSync(file, chain + key)
  }
  write()
  const { services, app } = await startApi(t, { baseUrl: BASE })
  const { log, lines } = createTestLog()
  const certificate = createOwnCertificate({
    ...services,
    log,
    clock: systemClock,
    hostname: HOSTNAME,
    readFile: () => readFileSync(file, 'utf8'),
  })
  await certificate.look()
  const sendToTls = createSendToTls({ baseUrl: BASE, thumbprint: 'thumb', trustedProxies: [] })
  const world = { app, realms: services.realms, log: pino({ level: 'silent' }), clock: systemClock }
  const server = createPublicServer({ ...world, sendToTls })
  const { context } = certificate
  const secure = createSecureListener({ server, hostname: HOSTNAME, context, log, perAddressMax })
  const port = await new Promise<number>((resolve) =>
    secure.listen(0, '127.0.0.1', () => resolve((secure.address() as AddressInfo).port)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    secure.close()
  })
  const ask = (path: string, servername = HOSTNAME) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path, servername, ca: authority.caPem }
      const headers = { host: HOSTNAME, connection: 'close' }
      requestTls({ ...options, headers, agent: false }, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => void (body += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      })
        .on('error', reject)
        .end()
    })
  return { authority, write, file, certificate, lines, ask, port, server, sendToTls }
}

t.test('its own name is served over TLS, and no other', async (t) => {
  const { ask, port, authority } = await start(t)
  t.match(await ask('/health/ready'), { status: 200 })
  t.equal((await ask('/api/v1/operator/tenants')).status, 401)
  const isShown = (servername: string) =>
    new Promise<boolean>((resolve) => {
      // whatever name it is, so that it is the listener that ends it
      const options = { ca: authority.caPem, checkServerIdentity: () => undefined }
      const socket = connect({ port, host: '127.0.0.1', servername, ...options }, () => {
        resolve(true)
        socket.destroy()
      })
      socket.on('error', () => resolve(false))
    })
  t.equal(await isShown(HOSTNAME.toUpperCase()), true)
  t.equal(await isShown('other.example.test'), false)
})

t.test('the next certificate is shown without a restart, a wrong one never', async (t) => {
  const { certificate, write, file, port, authority, lines } = await start(t)
  const serial = () =>
    new Promise<string>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', servername: HOSTNAME, ca: authority.caPem }
      const socket = connect(options, () => {
        resolve(socket.getPeerCertificate().serialNumber)
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const first = await serial()
  write()
  await certificate.look()
  const second = await serial()
  t.not(second, first)
  for (const [what, spoil] of [
    ['another name', () => write('other.example.test')],
    ['no file of certificates', () => writeFileSync(file, 'not this')],
  ] as const) {
    spoil()
    await certificate.look()
    await certificate.look()
    t.equal(await serial(), second, what)
  }
  const problems = lines.filter(({ msg }) => msg.includes('cannot be used'))
  t.equal(problems.length, 2, 'each said once')
})

t.test('what comes without TLS from elsewhere signs in nobody', async (t) => {
  const ask = (
    peer: string,
    given: { url: string; method?: string; host?: string },
    sendToTls = createSendToTls({
      baseUrl: BASE,
      thumbprint: 'thumb',
      trustedProxies: ['10.0.0.1'],
    }),
  ) => {
    const said: { status?: number; headers?: Record<string, unknown>; body?: string } = {}
    const response = {
      writeHead: (status: number, headers: Record<string, unknown>) =>
        void Object.assign(said, { status, headers }),
      end: (body?: string) => void (said.body = body ?? ''),
    }
    const { url, method = 'GET', host = HOSTNAME } = given
    const request = { url, method, headers: { host }, socket: {} }
    return sendToTls(request as never, response as never, peer) ? said : undefined
  }
  const elsewhere = '192.0.2.9'
  for (const [url, to] of [
    ['/login?a=b', `${BASE}/login?a=b`],
    ['http://evil.example/x', `${BASE}/`],
    ['//evil.example', `${BASE}//evil.example`],
    ['*', `${BASE}/`],
  ] as const)
    t.match(ask(elsewhere, { url }), { status: 308, headers: { Location: to } }, url)
  t.match(ask(elsewhere, { url: '/api/v1/operator/tenants', method: 'POST' }), { status: 308 })
  for (const url of ['/health/ready', '/health/live', '/health'])
    t.equal(ask(elsewhere, { url }), undefined, 'health is told')
  t.match(ask(elsewhere, { url: '/healthy' }), { status: 308 })
  for (const near of ['127.0.0.1', '::1', '10.0.0.1'])
    t.equal(ask(near, { url: '/login' }), undefined, `${near} is served as ever`)

  const challenge = { url: `${CHALLENGE_PATH}token-1` }
  t.match(ask(elsewhere, challenge), { status: 200, body: 'token-1.thumb' })
  t.match(ask('127.0.0.1', challenge), { status: 200 })
  t.match(ask(elsewhere, { ...challenge, host: 'other.example.test' }), { status: 308 })
  t.match(ask(elsewhere, { ...challenge, method: 'POST' }), { status: 308 })
  t.match(ask(elsewhere, { url: `${CHALLENGE_PATH}a/b` }), { status: 308 })
  const without = createSendToTls({ baseUrl: BASE, thumbprint: undefined, trustedProxies: [] })
  t.match(ask(elsewhere, challenge, without), { status: 308 }, 'who orders nothing proves nothing')
})

t.test('an address has so many handshakes under way, and no more', async (t) => {
  const { port, ask } = await start(t, 3)
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connectRaw({ port, host: '127.0.0.1' }, () => resolve(socket))
      t.teardown(() => socket.destroy())
    })
  const silent = [await open(), await open(), await open()]
  await t.rejects(ask('/health/ready'))
  t.same(
    silent.map(({ destroyed }) => destroyed),
    [false, false, false],
  )
})

t.test('without TLS the authority is answered on the socket, too', async (t) => {
  const { server } = await start(t)
  const { port } = server.address() as AddressInfo
  const body = await new Promise<string>((resolve, reject) => {
    const headers = { host: HOSTNAME }
    requestPlain({ port, host: '127.0.0.1', path: `${CHALLENGE_PATH}abc`, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
      response.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
  t.equal(body, 'abc.thumb')
})
