/** Requests without an address: on a unix socket, or where a framework does not tell it. */
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { readBatch } from '../../../../../control-plane/events/event-batch.ts'
import { IncomingRequest } from '../../../../../control-plane/downloads/sdk-node/adapters/messages.ts'
import { createService } from '../../../../../control-plane/downloads/sdk-node/service.ts'
import { startGuard } from '../../../../support/asked-guard.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { USER_AGENT } from '../../../../support/feed-service.ts'

const NOWHERE = { peerAddress: 'unix:' }

t.test('on a unix socket a sign-out reaches the service, and ends the session', async (t) => {
  const { guard, service } = await startGuard(t)
  const server = createServer(createService(guard).node((_request, response) => response.end()))
  const socketPath = join(temporaryFolder(t), 'app.sock')
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const headers = {
    host: 'app.localhost',
    'user-agent': USER_AGENT,
    cookie: service.session(),
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'navigate',
  }
  const status = await new Promise((resolve) =>
    httpRequest({ socketPath, path: '/service/logout', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    }).end(),
  )
  t.equal(status, 303)
  await guard.close()
  const events = service.batches.flat() as { issued_at?: number }[]
  const issued_at = events[0]?.issued_at
  t.ok(Math.abs(service.nowSeconds() - issued_at!) < 60)
  t.strictSame(events, [
    { outcome: 'logout', subject: 'ada', sid: 'sid-1', issued_at, app_host: 'app.localhost' },
  ])
  t.strictSame(readBatch(events), { events, rejected: 0 }, 'and the service takes it')
})

t.test(
  'a socket without an address is that of a unix server, or of a client that is gone',
  async (t) => {
    const peers: string[] = []
    const server = createServer((request, response) => {
      if (request.url === '/gone') request.socket.destroy()
      peers.push(new IncomingRequest(request).peerAddress)
      response.end()
    })
    const ask = (where: object) =>
      new Promise<void>((resolve) =>
        httpRequest({ agent: false, ...where }, (answer) => answer.resume().once('close', resolve))
          .on('error', () => resolve())
          .end(),
      )
    const socketPath = join(temporaryFolder(t), 'app.sock')
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    await ask({ socketPath })
    await ask({ socketPath, path: '/gone' })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    await ask({ port })
    await ask({ port, path: '/gone' })
    t.strictSame(peers, ['unix:', 'unix:', '127.0.0.1', ''])
  },
)

t.test('the same by next()', async (t) => {
  const { guard, service } = await startGuard(t)
  const proxy = createService(guard).next({ next: () => new Response() })
  const headers = {
    host: 'app.localhost',
    'user-agent': USER_AGENT,
    cookie: service.session(),
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'navigate',
  }
  t.equal(
    (await proxy(new Request('http://app.localhost/service/logout', { headers }))).status,
    303,
  )
  await guard.close()
  t.match(readBatch(service.batches.flat()), { events: [{ outcome: 'logout' }], rejected: 0 })
})

for (const session_binding of ['step_up', 'terminate'])
  t.test(
    `${session_binding} without an address: refused, said why, and nobody is sent round in circles`,
    async (t) => {
      const { ask, guard, service, warnings } = await startGuard(t, {
        session_binding,
        excluded: ['/open'],
      })
      const cookie = service.session()
      const refused = { kind: 503, reason: 'client_unreadable' } as const
      t.match(await ask('/', { ...NOWHERE, cookie }), refused)
      t.match(await ask('/', NOWHERE), refused)
      t.match(await ask('/service/login?returnTo=/', NOWHERE), { kind: 503 })
      t.match(await ask('/service/callback?code=1', NOWHERE), { kind: 503 })
      t.match(await ask('/admin', NOWHERE), { kind: 404 }, 'sealed stays sealed')
      t.match(await ask('/open', NOWHERE), { kind: 'forward' }, 'what is excluded is served')
      t.match(await ask('/', { cookie }), { kind: 'forward', user: 'ada' }, 'and nothing has ended')
      t.match(
        warnings.filter((warning) => /trustedProxies: \['unix:'\]/.test(warning)),
        [/requests arrive without a client address/],
        'the warning comes once',
      )
      await guard.close()
      const ended = service.batches.flat().filter((event) => (event as { sid?: string }).sid)
      t.strictSame(ended, [])
    },
  )

for (const peer of ['unix:', 'unknown'])
  t.test(
    `only ${peer} believes whoever is ${peer}, and none believes a client that is gone`,
    async (t) => {
      const sent = { headers: ['X-Forwarded-For', '127.0.0.1'] }
      for (const trusted of ['unix:', 'unknown']) {
        const { ask, service, warnings } = await startGuard(
          t,
          { session_binding: 'terminate' },
          { trustedProxies: [trusted] },
        )
        const cookie = service.session()
        const gone = await ask('/', { ...sent, cookie, peerAddress: '' })
        t.match(gone, { kind: 503, reason: 'client_unreadable' })
        t.strictSame(warnings, [], 'which is nothing to be set right')
        const told = await ask('/', { ...sent, cookie, peerAddress: peer })
        t.match(told, trusted === peer ? { kind: 'forward', user: 'ada' } : { kind: 503 })
        if (trusted !== peer) t.match(warnings.join(), `trustedProxies: ['${peer}']`)
        t.match(await ask('/', { ...sent, cookie, peerAddress: '192.0.2.9' }), { kind: 401 })
      }
    },
  )

t.test('unix: believes whoever stands in front of the socket', async (t) => {
  const { ask, service, warnings } = await startGuard(
    t,
    { session_binding: 'terminate' },
    { trustedProxies: ['unix:', '10.0.0.0/8'] },
  )
  const cookie = service.session()
  const by = (chain: string) => ({ ...NOWHERE, cookie, headers: ['X-Forwarded-For', chain] })
  t.match(await ask('/', by('127.0.0.1')), { kind: 'forward', user: 'ada' })
  t.match(await ask('/', by('6.6.6.6, 127.0.0.1, 10.1.1.1')), { kind: 'forward', user: 'ada' })
  t.match(await ask('/', { ...NOWHERE, cookie }), { kind: 503, reason: 'client_unreadable' })
  t.match(
    await ask('/', { ...by('127.0.0.1'), peerAddress: '192.0.2.9' }),
    { kind: 401 },
    'not all',
  )
  t.match(await ask('/', by('127.0.0.1')), { kind: 401, reason: 'revoked' })
  t.equal(warnings.length, 1)
})

t.test('a trusted proxy of whose client nobody can read the address: in no network', async (t) => {
  const access = {
    networks: { inside: ['10.0.0.0/8'] },
    slots: [],
    rules: [{ path: '/', allow: [{ network: 'inside' }] }],
  }
  const trusted = { trustedProxies: ['10.0.0.0/8'] }
  const { ask, service, warnings } = await startGuard(t, { access }, trusted)
  const by = (chain: string) => {
    const headers = ['X-Forwarded-For', chain]
    return { peerAddress: '10.1.1.1', cookie: service.session(), headers }
  }
  t.match(await ask('/', by('10.2.2.2')), { kind: 'forward' })
  t.match(await ask('/', by('unknown')), { kind: 403 })
  t.match(await ask('/', by('203.0.113.1, nonsense')), { kind: 403 })
  t.match(warnings, [/X-Forwarded-For of the trusted proxy 10\.1\.1\.1 cannot be read/])
  t.equal(warnings.length, 1)
})
