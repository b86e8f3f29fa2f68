/** The port that sign-ins send browsers to, and all that a page or a program of a stranger could try there. */
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { KeyLost } from '../../../../../control-plane/downloads/device-agent/key/open-key.ts'
import { Refused } from '../../../../../control-plane/downloads/device-agent/service/agent-service.ts'
import { createProof } from '../../../../../control-plane/downloads/device-agent/proof/proof.ts'
import { openProofListener } from '../../../../../control-plane/downloads/device-agent/proof/listener.ts'
import { challengeIn } from '../../../../../control-plane/downloads/device-agent/proof/judge-request.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { challengeKey, CID, enrolledDevice } from '../../../../support/device-agent.ts'

const key = challengeKey('k1')
const CLAIMS = { iss: 'https://id.example.test', aud: 'acme', cid: CID }
const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }

/** All of what comes back, as bytes. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    socket.on('data', (chunk) => (got += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(got))
    socket.write(text)
  })
}

const head = (
  method: string,
  path: string,
  headers: readonly (readonly [string, string])[],
): string =>
  `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`

async function start(t: Test, refusal?: Error) {
  const proven: string[] = []
  const shown: string[] = []
  const device = enrolledDevice({ keys: [key.jwk] })
  const chain = {
    device: () => device,
    prove: async (cid: string) => {
      proven.push(cid)
      if (refusal !== undefined) throw refusal
      return 'c'.repeat(43)
    },
    code: async () => {
      shown.push('code')
      return { code: 'BCDF-GHJK', expires_s: 60, next: '', poll_s: 3600 }
    },
  }
  const listening = Promise.withResolvers<number>()
  const proof = createProof({
    port: 0,
    chain,
    log: { info: () => undefined, warn: () => undefined },
    onListening: async (port) => listening.resolve(port),
    againMs: 10,
  })
  const ended = proof.run()
  t.teardown(() => {
    proof.stop()
    return ended
  })
  const port = await listening.promise
  const host = ['Host', `127.0.0.1:${port}`] as const
  const ask = (path: string, headers: object = {}, method = 'GET') =>
    raw(port, head(method, path, [host, ...Object.entries(headers)]))
  return {
    port,
    host,
    ask,
    proven,
    shown,
    path: `/p/${await key.sign(CLAIMS)}`,
    nothing: await ask('/'),
  }
}

t.test('a navigation with a challenge of its own service comes back with a code', async (t) => {
  const { ask, path, proven } = await start(t)
  for (const headers of [NAVIGATION, {}]) {
    const answer = await ask(path, headers)
    t.match(answer, /^HTTP\/1\.1 303 /)
    const to = `https://id.example.test/auth/realms/acme/device/confirm?cid=${CID}&code=${'c'.repeat(43)}`
    t.match(answer, `\r\nLocation: ${to}\r\n`)
    t.match(answer, '\r\nReferrer-Policy: no-referrer\r\n')
    t.match(answer, '\r\nCache-Control: no-store\r\n')
    t.notMatch(answer, /Access-Control|Set-Cookie|Server:/i)
  }
  t.strictSame(proven, [CID, CID])
})

t.test('what stands in the way is told to the sign-in, where waiting does not help', async (t) => {
  for (const [refusal, word] of [
    [new KeyLost('the TPM has lost it'), 'device_key_lost'],
    [new Refused(409, 'device_suspect_clone', undefined), 'device_suspect_clone'],
    [new Refused(404, 'device_challenge_invalid', undefined), 'device_challenge_invalid'],
  ] as const) {
    const { ask, path } = await start(t, refusal)
    const to = `https://id.example.test/auth/realms/acme/device/confirm?cid=${CID}&error=${word}`
    t.match(await ask(path, NAVIGATION), `\r\nLocation: ${to}\r\n`)
  }
  for (const refusal of [
    new Refused(429, 'rate_limited', 1),
    new Refused(503, 'unavailable', undefined),
    new Error('no network'),
  ]) {
    const { ask, path } = await start(t, refusal)
    const answer = await ask(path, NAVIGATION)
    t.match(answer, /^HTTP\/1\.1 503 .*text\/html/s)
    t.notMatch(answer, /Location|no network/)
  }
})

t.test('whatever else comes gets one and the same 404, and signs nothing', async (t) => {
  const { port, ask, host, path, proven, nothing } = await start(t)
  t.match(nothing, /^HTTP\/1\.1 404 Not Found\r\n/)
  t.notMatch(nothing, /Access-Control|Server:|Date:/i)
  const other = challengeKey('k1')
  const stranger = challengeKey('k2')
  const [, body = '', signature = ''] = path.slice(3).split('.')
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const type = 'dev-chal+jwt'
  const attacks: Readonly<Record<string, () => Promise<string>>> = {
    'rebound name': () => raw(port, head('GET', path, [['Host', `evil.example:${port}`]])),
    'localhost by name': () => raw(port, head('GET', path, [['Host', `localhost:${port}`]])),
    'no port': () => raw(port, head('GET', path, [['Host', '127.0.0.1']])),
    'two hosts': () => raw(port, head('GET', path, [host, host])),
    'another host as well': () => raw(port, head('GET', path, [host, ['Host', 'evil.example']])),
    'no host': () => raw(port, head('GET', path, [])),
    'HTTP/1.0': () => raw(port, `GET ${path} HTTP/1.0\r\n\r\n`),
    'an address in front': () => ask(`http://127.0.0.1:${port}${path}`),
    iframe: () => ask(path, { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }),
    object: () => ask(path, { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'object' }),
    image: () => ask(path, { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }),
    fetch: () => ask(path, { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' }),
    'fetch without cors': () =>
      ask(path, { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'empty' }),
    prefetch: () => ask(path, { ...NAVIGATION, 'Sec-Purpose': 'prefetch;prerender' }),
    'two modes': () => ask(path, { ...NAVIGATION, 'sec-fetch-mode': 'cors' }),
    preflight: () =>
      ask(
        path,
        { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' },
        'OPTIONS',
      ),
    'private network preflight': () =>
      ask(path, { 'Access-Control-Request-Private-Network': 'true' }, 'OPTIONS'),
    POST: () => ask(path, { 'Content-Length': '0' }, 'POST'),
    'a form': () => ask(path, { ...NAVIGATION, 'Content-Length': '1' }, 'POST'),
    'GET with a body': () => ask(path, { ...NAVIGATION, 'Content-Length': '2' }),
    PUT: () => ask(path, {}, 'PUT'),
    TRACE: () => ask(path, {}, 'TRACE'),
    CONNECT: () => raw(port, head('CONNECT', `127.0.0.1:${port}`, [host])),
    upgrade: () => ask(path, { Connection: 'Upgrade', Upgrade: 'websocket' }),
    expectation: () => ask(path, { Expect: '100-continue' }),
    'no HTTP': () => raw(port, 'hello\r\n\r\n'),
    TLS: () => raw(port, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
    'another path': () => ask(`/x${path}`),
    query: () => ask(`${path}?a`),
    'a long path': () => ask(`/p/${'a'.repeat(LIMITS.deviceProofUrlBytesMax)}.b.c`),
    'a huge head': () => ask(path, { Cookie: 'a'.repeat(64 * 1024) }),
    'another key': async () => ask(`/p/${await other.sign(CLAIMS)}`),
    'a key id that is not pinned': async () => ask(`/p/${await stranger.sign(CLAIMS)}`),
    'alg none': () => ask(`/p/${part({ alg: 'none', typ: type, kid: 'k1' })}.${body}.`),
    'alg none, with a signature': () =>
      ask(`/p/${part({ alg: 'none', typ: type, kid: 'k1' })}.${body}.${signature}`),
    'another spelling of the signature': () =>
      ask(`/p/${path.slice(3, -1)}${String.fromCharCode((path.at(-1) ?? 'A').charCodeAt(0) + 1)}`),
    'another algorithm in the header': async () =>
      ask(`/p/${await key.sign(CLAIMS, { alg: 'ES512' })}`),
    'another tenant': async () => ask(`/p/${await key.sign({ ...CLAIMS, aud: 'other' })}`),
    'another service': async () =>
      ask(`/p/${await key.sign({ ...CLAIMS, iss: 'https://evil.example' })}`),
    'a field too many': async () => ask(`/p/${await key.sign({ ...CLAIMS, more: 1 })}`),
    'an update': async () => ask(`/p/${await key.sign(CLAIMS, { typ: 'dev-update+jwt' })}`),
    'no type': async () => ask(`/p/${await key.sign(CLAIMS, { typ: undefined })}`),
    'its own key in the header': async () =>
      ask(`/p/${await other.sign(CLAIMS, { jwk: other.jwk })}`),
    crit: async () => ask(`/p/${await key.sign(CLAIMS, { crit: ['exp'] })}`),
    jku: async () => ask(`/p/${await key.sign(CLAIMS, { jku: 'https://evil.example' })}`),
  }
  for (const [name, attack] of Object.entries(attacks)) t.equal(await attack(), nothing, name)
  t.equal((await ask(path, {}, 'HEAD')).split('\r\n\r\n')[0], nothing.split('\r\n\r\n')[0])
  t.strictSame(proven, [], 'nothing was signed')
})

t.test('a code is for programs of this machine: no browser can have it asked for', async (t) => {
  const { port, host, ask, shown, nothing } = await start(t)
  const asking = { 'Service-Device-Agent': 'code' }
  const answer = await ask('/code', asking)
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(answer, '\r\nCache-Control: no-store\r\n')
  t.match(answer, '\r\n{"code":"BCDF-GHJK","expires_s":60}\r\n')
  t.notMatch(answer, /Access-Control/i)
  t.strictSame(shown, ['code'])
  const attacks: Readonly<Record<string, () => Promise<string>>> = {
    'a navigation': () => ask('/code', NAVIGATION),
    'a navigation with the header': () => ask('/code', { ...asking, ...NAVIGATION }),
    'an image': () => ask('/code', { 'Sec-Fetch-Dest': 'image' }),
    'a fetch of another page': () => ask('/code', { ...asking, Origin: 'https://evil.example' }),
    'a page that shows where it is': () =>
      ask('/code', { ...asking, Referer: 'https://a.example' }),
    'a rebound name': () =>
      raw(
        port,
        head('GET', '/code', [['Host', `evil.example:${port}`], ...Object.entries(asking)]),
      ),
    preflight: () =>
      ask('/code', { 'Access-Control-Request-Headers': 'service-device-agent' }, 'OPTIONS'),
    'the header twice': () => ask('/code', { ...asking, 'service-device-agent': 'code' }),
    'another word': () => ask('/code', { 'Service-Device-Agent': 'proof' }),
    POST: () => ask('/code', { ...asking, 'Content-Length': '0' }, 'POST'),
    'a query': () => ask('/code?a', asking),
    'two hosts': () => raw(port, head('GET', '/code', [host, host, ...Object.entries(asking)])),
  }
  for (const [name, attack] of Object.entries(attacks)) t.equal(await attack(), nothing, name)
  t.strictSame(shown, ['code'], 'nothing was asked for')
})

t.test('a thousand connections that say nothing keep no browser out', async (t) => {
  const { ask, path, port } = await start(t)
  const silent: Socket[] = []
  let open = 1000
  let heard = 0
  const { promise: enoughClosed, resolve } = Promise.withResolvers<void>()
  t.teardown(() => silent.forEach((socket) => socket.destroy()))
  for (let count = 0; count < 1000; count++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('data', ({ length }) => (heard += length))
    socket.once('close', () => {
      if (--open <= LIMITS.deviceProofConnectionsMax) resolve()
    })
    if (count % 2 === 0) socket.write('GET /p/ HTTP/1.1\r\nHost: 127')
    silent.push(socket)
  }
  await Promise.all(
    silent.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
  )
  t.match(await ask(path, NAVIGATION), /^HTTP\/1\.1 303 /)
  t.equal(LIMITS.deviceProofConnectionsMax, 32)
  await enoughClosed
  t.equal(heard, 0, 'they made room at once, and were not given up when their time was over')
})

t.test('a head that never ends is given up', async (t) => {
  const { port, nothing } = await start(t)
  t.equal(LIMITS.deviceProofHeadMsMax, 5000)
  t.equal(await raw(port, 'GET /p/a.b.c HTTP/1.1\r\nHost: 127.0.0.1'), nothing)
})

t.test('a port that is taken is told as such, and had once it is free', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  await t.rejects(
    openProofListener(port, { prove: async () => null, code: async () => ({ error: '' }) }),
    { code: 'EADDRINUSE' },
  )
  const told: string[] = []
  const listens = Promise.withResolvers<void>()
  const device = enrolledDevice({ keys: [key.jwk] })
  const proof = createProof({
    port,
    chain: {
      device: () => device,
      prove: async () => '',
      code: () => Promise.reject(new Error('nobody asks')),
    },
    log: { info: () => undefined, warn: (_fields, message) => told.push(message) },
    onListening: async (_port, problem) => {
      if (problem === '') listens.resolve()
      else taken.close()
    },
    againMs: 10,
  })
  const ended = proof.run()
  await listens.promise
  t.match(told, [`port ${port} is taken by another program, so no sign-in can be answered`])
  t.equal(told.length, 1, 'once')
  proof.stop()
  await ended
})

t.test('a path of 2048 bytes is looked at, one of 2049 is not', async (t) => {
  const rawHeaders = ['Host', '127.0.0.1:18653']
  const seen = (bytes: number) =>
    challengeIn(
      { method: 'GET', url: `/p/a.b.${'c'.repeat(bytes - 7)}`, rawHeaders },
      LIMITS.deviceProofPort,
    )
  t.equal(LIMITS.deviceProofUrlBytesMax, 2048)
  t.not(seen(2048), null)
  t.equal(seen(2049), null)
})
