/** Handshakes: who gets one, with which certificate, and what comes after. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { createTicketKeys, TICKET_PERIOD_MS } from '../../../gateway/tls/ticket-keys.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { hostOfSni } from '../../../shared/hosts.ts'
import { createTestAuthority } from '../../support/test-certificates.ts'
import { ask, HOST, OTHER_HOST, startSecureWire } from '../../support/secure-wire.ts'
import type { SecureWire } from '../../support/secure-wire.ts'
import { listening, startOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

const ended = (socket: TLSSocket): Promise<string> =>
  new Promise((resolve) => {
    let code = 'closed'
    socket.once('error', (error: NodeJS.ErrnoException) => (code = error.code ?? 'unknown'))
    socket.once('secureConnect', () => (code = 'connected'))
    socket.once('close', () => resolve(code))
  })

/** One request of HTTP/1.1 over a TLS socket, and the head of its answer. */
async function get(socket: TLSSocket, host: string, path = '/'): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes('\r\n\r\n')) break
  }
  return text.slice(0, text.indexOf('\r\n\r\n'))
}

const statusOf = (head: string) => Number(head.slice(9, 12))

async function start(t: Parameters<typeof startSecureWire>[0]): Promise<SecureWire> {
  const origin = await startOrigin(t)
  return startSecureWire(t, origin.url)
}

t.test('each host shows its own certificate, in TLS 1.2 and 1.3', async (t) => {
  const wire = await start(t)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const servername of [HOST, OTHER_HOST, HOST.toUpperCase()]) {
      const socket = wire.tls({ servername, minVersion: version, maxVersion: version })
      await once(socket, 'secureConnect')
      t.ok(socket.authorized, `${version} ${servername}`)
      t.equal(socket.getProtocol(), version)
      t.equal(statusOf(await get(socket, servername.toLowerCase())), 200)
      socket.destroy()
    }
})

t.test('older versions, weak ciphers and renegotiation are refused', async (t) => {
  const wire = await start(t)
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const ciphers = 'DEFAULT@SECLEVEL=0'
    const socket = wire.tls({ minVersion: version, maxVersion: version, ciphers })
    t.not(await ended(socket), 'connected', version)
  }
  for (const ciphers of ['AES128-SHA', 'ECDHE-ECDSA-AES128-SHA', 'AES128-GCM-SHA256'])
    t.not(await ended(wire.tls({ maxVersion: 'TLSv1.2', ciphers })), 'connected', ciphers)
  const socket = wire.tls({ maxVersion: 'TLSv1.2' })
  await once(socket, 'secureConnect')
  const refused = await new Promise((resolve) => {
    socket.renegotiate({ rejectUnauthorized: false }, resolve)
    socket.once('close', () => resolve('closed'))
    socket.once('error', resolve)
  })
  t.ok(refused, 'no renegotiation')
  t.equal(wire.errors.length, 0)
})

t.test('a name without a certificate gets no handshake, and no other name suffers', async (t) => {
  const wire = await start(t)
  const names = [
    'unknown.test',
    'sub.app.acme.test',
    'acme.test',
    `${HOST}.`,
    '.',
    'a..b',
    '*.acme.test',
    `${'a'.repeat(63)}.test`,
    `${'a'.repeat(64)}.test`,
    Array.from({ length: 30 }, () => 'aaaaaaa').join('.'),
    'throws.test',
    'xn--bcher-kva.test',
    'b\u00fccher.test',
    'app.acme.test\u0000.evil.test',
    '__proto__',
    'constructor',
    '-',
    '1.2.3',
  ]
  for (const servername of names)
    for (const ALPNProtocols of [['h2'], ['http/1.1']]) {
      const socket = wire.tls({ servername, ALPNProtocols })
      t.not(await ended(socket), 'connected', JSON.stringify(servername))
    }
  t.not(await ended(wire.tls({ servername: '' })), 'connected', 'no name at all')
  t.ok(wire.failures.length >= names.length)
  t.notOk(wire.asked.some((host) => host !== host.toLowerCase() || host.endsWith('.')))
  const socket = wire.tls()
  await once(socket, 'secureConnect')
  t.equal(statusOf(await get(socket, HOST)), 200)
  while (wire.front.handshakes() > 0) await new Promise((next) => setImmediate(next))
  while (wire.addresses.of('127.0.0.1') > 1) await new Promise((next) => setImmediate(next))
  t.pass('nothing is left of the others')
})

t.test('a client is told why: an alert, not a silent end', async (t) => {
  const wire = await start(t)
  const code = await ended(wire.tls({ servername: 'unknown.test' }))
  t.match(code, /ALERT|HANDSHAKE/i)
})

t.test('what is no handshake is closed, and costs nobody else anything', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { timeouts: { headMs: 500 } })
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: app.acme.test\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00',
    '\x16\x03\x01\xff\xff' + 'a'.repeat(70_000),
    '\x00'.repeat(1000),
    '\x80\x2e\x01\x03\x01',
  ]) {
    const socket = connectTcp(wire.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.end(Buffer.from(bytes, 'latin1'))
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  const socket = wire.tls()
  await once(socket, 'secureConnect')
  t.equal(statusOf(await get(socket, HOST)), 200)
  t.equal(wire.front.handshakes(), 0)
})

t.test('a handshake that does not go on is closed in time', async (t) => {
  const origin = await startOrigin(t)
  const wire = await startSecureWire(t, origin.url, { timeouts: { headMs: 200 } })
  const socket = connectTcp(wire.port, '127.0.0.1')
  await new Promise((resolve) => socket.resume().once('close', resolve))
  while (wire.addresses.of('127.0.0.1') > 0) await new Promise((next) => setImmediate(next))
  t.equal(wire.front.handshakes(), 0)
})

t.test('ALPN chooses the wire; who offers neither gets no handshake', async (t) => {
  const wire = await start(t)
  for (const [offered, chosen] of [
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1', 'h2'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [undefined, false],
  ] as const) {
    const socket = wire.tls(offered ? { ALPNProtocols: [...offered] } : {})
    await once(socket, 'secureConnect')
    t.equal(socket.alpnProtocol, chosen, JSON.stringify(offered))
    if (chosen !== 'h2') t.equal(statusOf(await get(socket, HOST)), 200)
    socket.destroy()
  }
  t.not(await ended(wire.tls({ ALPNProtocols: ['http/1.0', 'spdy/3'] })), 'connected')
})

t.test(
  'a request for another host than the handshake was for is 421, on both protocols',
  async (t) => {
    const wire = await start(t)
    for (const host of [OTHER_HOST, `x.${HOST}`, '127.0.0.1', `${OTHER_HOST}:443`]) {
      const socket = wire.tls()
      await once(socket, 'secureConnect')
      t.equal(statusOf(await get(socket, host)), 421, `HTTP/1.1 for ${host}`)
      socket.destroy()
      const answer = await ask(wire.http2Client(), { ':authority': host })
      t.equal(answer.status, 421, `HTTP/2 for ${host}`)
    }
    for (const host of [HOST.toUpperCase(), `${HOST}:8443`]) {
      const socket = wire.tls()
      await once(socket, 'secureConnect')
      t.equal(statusOf(await get(socket, host)), 200, host)
      socket.destroy()
      t.equal((await ask(wire.http2Client(), { ':authority': host })).status, 200, host)
    }
    const client = wire.http2Client()
    t.equal((await ask(client, { ':authority': OTHER_HOST })).status, 421)
    t.equal((await ask(client, {})).status, 200, 'the connection goes on')
  },
)

t.test('a session is resumed at another worker, and never for another name', async (t) => {
  const origin = await startOrigin(t)
  const authority = createTestAuthority(t)
  const first = await startSecureWire(t, origin.url, { authority })
  const second = await startSecureWire(t, origin.url, { authority })
  const stranger = await startSecureWire(t, origin.url, { authority, fleetKey: 'another' })
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const range = { minVersion: version, maxVersion: version }
    const socket = first.tls(range)
    const session = new Promise<Buffer>((resolve) => socket.once('session', resolve))
    await once(socket, 'secureConnect')
    await get(socket, HOST)
    const ticket = await session
    const resumes = async (wire: SecureWire, servername = HOST) => {
      const again = wire.tls({ ...range, session: ticket, servername })
      await once(again, 'secureConnect')
      t.equal(statusOf(await get(again, servername)), 200)
      return again.isSessionReused()
    }
    t.ok(await resumes(second), `${version}: at another worker`)
    t.notOk(await resumes(stranger), `${version}: not where the fleet key is another`)
    // OpenSSL compares the name of TLS 1.3; for 1.2 what counts is that the Host is checked.
    if (version === 'TLSv1.3') t.notOk(await resumes(second, OTHER_HOST), 'not for another name')
    const pinned = second.tls({ ...range, session: ticket })
    await once(pinned, 'secureConnect')
    t.equal(statusOf(await get(pinned, HOST)), 200)
    t.equal(statusOf(await get(pinned, OTHER_HOST)), 421, `${version}: one connection, one host`)
  }
})

t.test('ticket keys are the same everywhere, and change with the clock', (t) => {
  let nowMs = 10 * TICKET_PERIOD_MS
  const make = (fleetKey: string) => createTicketKeys({ fleetKey, clock: clockOf(() => nowMs) })
  const [a, b, other] = [make('k'), make('k'), make('another')]
  const before = a.keys()
  t.equal(before.length, 48)
  t.same(before, b.keys())
  t.notSame(before, other.keys())
  const { length } = new Set([0, 16, 32].map((at) => before.toString('hex', at, at + 16)))
    .values()
    .toArray()
  t.equal(length, 3, 'three different keys')
  nowMs += TICKET_PERIOD_MS - 1
  t.same(a.keys(), before)
  nowMs += 1
  t.notSame(a.keys(), before)
  t.equal(a.keys(), a.keys(), 'made once')
  t.end()
})

t.test('with a secret of the fleet the key of the gateway counts no more', (t) => {
  const make = (fleetKey: string) => createTicketKeys({ fleetKey, clock: clockOf(() => 1) })
  const [a, b] = [make('key of one'), make('key of another')]
  const own = a.keys()
  for (const secret of ['shared', 'shared anew']) {
    const before = a.keys()
    a.share(secret)
    t.notSame(a.keys(), before, secret)
    t.notSame(a.keys(), b.keys())
    b.share(secret)
    t.same(a.keys(), b.keys())
  }
  a.share(undefined)
  t.same(a.keys(), own, 'a control plane that knows of none')
  t.end()
})

t.test('a name from a handshake is a DNS name, or nothing', (t) => {
  t.equal(hostOfSni('App.Acme.Test'), 'app.acme.test')
  for (const odd of [false, null, undefined, '', 'a.', '1.2.3.4', '::1', '[::1]', 'a_b', 'a b'])
    t.equal(hostOfSni(odd), '', String(odd))
  t.equal(hostOfSni(`${'a.'.repeat(126)}a`), `${'a.'.repeat(126)}a`, '253 characters')
  t.equal(hostOfSni(`${'a.'.repeat(126)}aa`), '', '254')
  t.end()
})

t.test('who comes with many handshakes at once has nobody wait behind all of them', async (t) => {
  const wire = await start(t)
  const CLIENTS = 12
  const accepted: Socket[] = []
  const holder = createServer((socket) => void accepted.push(socket))
  const port = await listening(holder)
  t.teardown(() => holder.close())
  const clients = Array.from({ length: CLIENTS }, () => wire.tls({ port }))
  await Promise.all(clients.map((client) => once(client, 'connect')))
  while (accepted.length < CLIENTS) await turn()

  const connected = Promise.all(clients.map((client) => once(client, 'secureConnect')))
  for (const socket of accepted) wire.front.accept(socket)
  t.equal(wire.front.handshakes(), CLIENTS, 'each counts from the first moment')
  let mostInOneTurn = 0
  for (let before = 0; before < CLIENTS;) {
    await turn()
    mostInOneTurn = Math.max(mostInOneTurn, wire.asked.length - before)
    before = wire.asked.length
  }
  t.equal(mostInOneTurn, 1)
  await connected
})

t.test('who resets while waiting for the handshake takes nobody along', async (t) => {
  const wire = await start(t)
  const accepted: Socket[] = []
  const closed: Promise<unknown>[] = []
  const holder = createServer((socket) => {
    accepted.push(socket)
    closed.push(once(socket, 'close'))
    if (accepted.length === 2) for (const one of accepted) wire.front.accept(one)
  })
  const port = await listening(holder)
  t.teardown(() => holder.close())
  const first = wire.tls({ port })
  const second = connectTcp({ port, host: '127.0.0.1' })
  second.on('connect', () => second.resetAndDestroy())
  await once(first, 'secureConnect')
  await Promise.race(closed)
  t.equal(statusOf(await get(first, HOST)), 200)
  t.equal(wire.front.handshakes(), 0)
})

t.test('curl and nghttp agree with us', async (t) => {
  const origin = await startOrigin(t, (_request, response, seen) => response.end(seen.body))
  const wire = await startSecureWire(t, origin.url)
  const folder = t.testdir({ 'ca.pem': wire.authority.caPem, body: 'x'.repeat(100_000) })
  const run = async (command: string, args: readonly string[]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    return { code, output }
  }
  const has = (command: string) => {
    try {
      execFileSync('which', [command], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  }
  const url = `https://${HOST}:${wire.port}/`
  const curl = ['-s', '--cacert', `${folder}/ca.pem`, '--resolve', `${HOST}:${wire.port}:127.0.0.1`]
  const report = ['-o', '/dev/null', '-w', '%{http_code} %{http_version} %{size_download}']
  if (has('curl'))
    for (const version of ['--http1.1', '--http2']) {
      const body = ['--data-binary', `@${folder}/body`]
      const { output } = await run('curl', [...curl, version, ...report, ...body, url])
      t.equal(output, `200 ${version === '--http2' ? '2' : '1.1'} 100000`, `curl ${version}`)
    }
  if (has('nghttp')) {
    const { output } = await run('nghttp', [
      '-nv',
      '--no-verify-peer',
      '-H',
      `:authority: ${HOST}`,
      `--data=${folder}/body`,
      `https://127.0.0.1:${wire.port}/`,
    ])
    t.match(output, /handshake|SSL|TLS|error|fail/i, 'an address is no name: no handshake')
  }
})

t.test('who is reset and comes back from the same port is counted once', async (t) => {
  const wire = await start(t)
  const { port: localPort } = await new Promise<{ port: number }>((resolve) => {
    const one = createServer().listen(0, '127.0.0.1', () => {
      const found = one.address() as { port: number }
      one.close(() => resolve(found))
    })
  })
  let returned = 0
  for (let round = 0; round < 200; round++)
    for (const visit of ['first', 'second']) {
      const socket = connectTcp({ port: wire.port, host: '127.0.0.1', localPort })
      const isOpen = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      })
      if (isOpen && visit === 'second') returned++
      // so that no port has to rest
      socket.resetAndDestroy()
    }
  t.ok(returned > 100, `${returned} came back`)
  while (wire.front.handshakes() > 0) await turn()
  t.equal(wire.addresses.of('127.0.0.1'), 0)
})

t.test('what came before the end of its client is answered, however much it is', async (t) => {
  const REQUESTS = 3 * LIMITS.requestsPerTurnMax
  const wire = await startSecureWire(t, 'http://127.0.0.1:1', {
    decide: (exchange) => exchange.respond({ status: 204, headerLines: [], body: '' }),
  })
  const socket = wire.tls({ allowHalfOpen: true } as object)
  await once(socket, 'secureConnect')
  let text = ''
  socket.on('data', (piece) => (text += String(piece)))
  socket.end(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`.repeat(REQUESTS))
  await once(socket, 'close')
  t.equal(text.split('HTTP/1.1 204').length - 1, REQUESTS)
})
