/** How the program joins and leaves: which tokens it takes, what it keeps, and what it refuses. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { certificateFor } from '../../../support/certificate.ts'
import { connectorHere, startJoinable } from '../../../support/connector-program.ts'

const ORIGIN = ['--origin', 'http://127.0.0.1:3000'] as const

async function start(t: Test) {
  const service = await startJoinable(t)
  const here = connectorHere(t, { SERVICE_BASE_URL: service.baseUrl })
  const state = join(here.home, 'state')
  function tokenFile(token: string, mode = 0o600) {
    const path = join(here.home, `token-${mode}`)
    writeFileSync(path, `${token}\n`)
    chmodSync(path, mode)
    return path
  }
  const withToken = (token: string) => ({
    environment: { SERVICE_BASE_URL: service.baseUrl, SERVICE_CONNECTOR_TOKEN: token },
  })
  return { ...service, ...here, state, tokenFile, withToken }
}

void t.test('it joins by a token in a file, once, and leaves', async (t) => {
  const { call, state, token, tokenFile, connectors } = await start(t)
  const secret = await token()
  const joining = ['join', ...ORIGIN, '--state', state, '--token-file', tokenFile(secret)]
  const joined = await call([...joining, '--name', 'Berlin'])
  t.match(joined, { code: 0, out: /^Joined acme as Berlin \(con_[0-9a-f]+\)\.\nStart it: / })
  t.match(joined.err, /No gateway takes connectors yet/)
  t.match(await connectors(), [{ name: 'Berlin' }])
  t.strictSame(readdirSync(state).sort(), ['connector.json', 'gateways.jws'])
  t.equal(statSync(state).mode & 0o777, 0o700)
  for (const name of readdirSync(state))
    t.equal(statSync(join(state, name)).mode & 0o777, 0o600, name)
  const kept = readFileSync(join(state, 'connector.json'), 'utf8')
  t.notMatch(kept + joined.out + joined.err, secret, 'the token is kept nowhere')
  const key = (JSON.parse(kept) as { key: { private_key: string } }).key.private_key
  t.notMatch(joined.out + joined.err, key)

  const again = await call(joining)
  t.match(again, { code: 1, err: /already holds connector con_[0-9a-f]+ of acme/ })
  t.match(await call(['leave', '--state', state]), { code: 0, out: /^Left acme\./ })
  t.strictSame(await connectors(), [])
  t.throws(() => readdirSync(state), { code: 'ENOENT' }, 'nothing of it is left')
  t.match(await call(['leave', '--state', state]), { code: 1, err: /^No connector has joined in/ })
  t.match(await call(['run', '--state', state]), { code: 1, err: /^No connector has joined in/ })
})

void t.test("an application's own authority is read once, and kept with the key", async (t) => {
  const { call, home, state, token, withToken } = await start(t)
  const file = (name: string, content: string) => {
    writeFileSync(join(home, name), content)
    return join(home, name)
  }
  const { key, cert } = certificateFor('localhost')
  const secret = await token()
  const joining = (origin: string, ca: string) =>
    call(['join', '--origin', origin, '--origin-ca', ca, '--state', state], withToken(secret))
  const origin = 'https://localhost:8443'
  const good = file('ca.pem', `some words\n${key}${cert}${cert}`)
  for (const [at, ca, said] of [
    ['http://localhost:3000', good, /https:\/\/ only.*\n.*--origin https:\/\/localhost:3000/],
    [
      origin,
      join(home, 'nowhere'),
      /nowhere cannot be used as --origin-ca: it cannot be read \(ENOENT/,
    ],
    [origin, file('key.pem', key), /it holds a key and no certificate/],
    [origin, file('empty.pem', ''), /it holds no certificate.*\n.*BEGIN CERTIFICATE/],
    [origin, file('bad.pem', cert.replace(/MII/, 'AAA')), /a certificate in it is malformed/],
    [origin, file('long.pem', cert.repeat(200)), /it is too large/],
  ] as const) {
    t.match(await joining(at, ca), { code: 2, err: said })
    t.throws(() => readdirSync(state), { code: 'ENOENT' }, 'no key was made')
  }
  t.match(await joining(origin, good), { code: 0 })
  const kept = JSON.parse(readFileSync(join(state, 'connector.json'), 'utf8')) as object
  t.match(kept, { origin, origin_ca: `${cert.trim()}\n${cert.trim()}\n` }, 'certificates alone')
})

void t.test(
  'who is asked for the token and goes ends the call as every interrupted one',
  async (t) => {
    const { call, state } = await start(t)
    const stdin = Object.assign(Readable.from(['\x03']), { isTTY: true }) as NodeJS.ReadStream
    const stderr = Object.assign(new PassThrough(), { isTTY: true })
    const ended = await call(['join', ...ORIGIN, '--state', state], {
      stdin,
      stderr: stderr as unknown as NodeJS.WriteStream,
    })
    t.equal(ended.code, 130)
    t.match(await text(stderr.end()), /Join token \(hidden\): [\s\S]*Interrupted\./)
    t.throws(() => readdirSync(state), { code: 'ENOENT' }, 'and no key was made')
  },
)

void t.test(
  'a token comes from a file or the environment, and never from the arguments',
  async (t) => {
    const { call, state, token, tokenFile, withToken, connectors } = await start(t)
    const secret = await token({ uses: 2 })
    for (const wrong of [
      ['--token', secret],
      [`--token=${secret}`],
      [secret],
      ['--name', secret],
    ]) {
      const refused = await call(['join', ...ORIGIN, '--state', state, ...wrong])
      t.match(refused, { code: 2, out: '', err: /Join tokens are not accepted as arguments/ })
      t.notMatch(refused.err, secret)
    }
    const joining = ['join', ...ORIGIN, '--state', state]
    t.match(await call(joining), { code: 2, err: /join needs a join token/ })
    const open = await call([...joining, '--token-file', tokenFile(secret, 0o644)])
    t.match(open, { code: 1, err: /Everyone on this machine can read .*token-420/ })
    t.match(open.err, /chmod 600/)
    t.match(await call([...joining, '--token-file', '/nowhere']), {
      code: 2,
      err: /cannot be read \(ENOENT\)/,
    })
    t.match(await call(joining, withToken('two words')), { code: 2, err: /does not hold a join/ })
    t.match(await call(joining, withToken('sct_nobodys')), { code: 1, err: /join token/i })
    t.strictSame(await connectors(), [])
    t.match(await call(joining, withToken(secret)), { code: 0 })
    const other = join(state, '..', 'other')
    const group = await call([
      ...['join', ...ORIGIN, '--state', other],
      ...['--token-file', tokenFile(secret, 0o640)],
    ])
    t.match(group, { code: 0, err: /The group of .* can read the token/ })
    t.match(await connectors(), [{ name: 'web-1' }, { name: 'web-1' }])
  },
)

void t.test('an application is a scheme, a host and a port, and nothing else', async (t) => {
  const { call, state, token, withToken } = await start(t)
  const world = withToken(await token())
  const wrong = [
    'localhost:3000',
    '3000',
    'ftp://127.0.0.1',
    'unix:/run/app.sock',
    'http://127.0.0.1:3000/app',
    'http://127.0.0.1:3000/?a',
    'http://127.0.0.1:3000/#',
    'http://me:secret@127.0.0.1',
    'http://',
    'javascript:alert(1)',
  ]
  for (const origin of wrong)
    t.match(
      await call(['join', '--state', state, '--origin', origin], world),
      { code: 2, err: /--origin must be http:\/\/ or https:\/\// },
      origin,
    )
  t.match(await call(['join', '--state', state], world), { code: 2, err: /join needs --origin/ })
  t.match(await call(['join', '--state', state, '--origin', 'https://[::1]:3443/'], world), {
    code: 0,
  })
  const kept = readFileSync(join(state, 'connector.json'), 'utf8')
  t.match(JSON.parse(kept), { origin: 'https://[::1]:3443' })
})

void t.test('an answer that is lost costs neither the token nor a second connector', async (t) => {
  const { call, state, token, baseUrl, withToken, connectors, port } = await start(t)
  const secret = await token()
  let lost = 0
  const losing = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await request.toArray())
      const { authorization = '' } = request.headers
      const headers = { authorization, 'content-type': 'application/json' }
      await fetch(`http://127.0.0.1:${port}${request.url}`, { method: 'POST', headers, body })
      lost++
      response.socket?.destroy()
    })()
  })
  await new Promise<void>((resolve) => losing.listen(0, '127.0.0.1', resolve))
  t.teardown(() => losing.close())
  const away = `http://127.0.0.1:${(losing.address() as AddressInfo).port}`
  const joining = ['join', ...ORIGIN, '--state', state]
  const unlucky = await call(joining, {
    environment: { SERVICE_BASE_URL: away, SERVICE_CONNECTOR_TOKEN: secret },
  })
  t.match(unlucky, { code: 3, err: /cannot be reached: the connection was interrupted/ })
  t.equal(lost, 1)
  t.equal((await connectors()).length, 1)
  t.strictSame(readdirSync(state), ['joining.json'])
  t.match(await call(joining, withToken(secret)), { code: 0 })
  t.equal((await connectors()).length, 1, 'it is the same one')
  t.match(JSON.parse(readFileSync(join(state, 'connector.json'), 'utf8')), { base_url: baseUrl })
})

void t.test('who was revoked can leave, and join anew', async (t) => {
  const { call, state, token, withToken, operator, connectors } = await start(t)
  const joining = ['join', ...ORIGIN, '--state', state]
  t.match(await call(joining, withToken(await token())), { code: 0 })
  const [connector] = await connectors()
  await operator('DELETE', `/tenants/acme/connectors/${String(connector?.['connector_id'])}`)
  const left = await call(['leave', '--state', state])
  t.match(left, { code: 0, err: /did not know this connector any more/ })
  t.match(await call(joining, withToken(await token())), { code: 0 })
})

void t.test('what answers and is not the service is told so', async (t) => {
  const { call, state, withToken } = await start(t)
  const answers: [number, string][] = [
    [200, '<html>Please sign in to the guest network</html>'],
    [200, '{"tenant_id":"acme"'],
    [
      201,
      '{"tenant_id":"acme","connector_id":"../../x","key_id":"k","authority":"a","document":"d"}',
    ],
    [302, ''],
    [404, 'not found'],
    [200, 'x'.repeat(300 * 1024)],
  ]
  let [status, text] = answers[0]!
  const stranger = createServer((_request, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(text)
  })
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  t.teardown(() => stranger.close())
  const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  const { environment } = withToken('sct_whatever')
  for (const [nowStatus, nowText] of answers) {
    ;[status, text] = [nowStatus, nowText]
    const ended = await call(['join', ...ORIGIN, '--state', state], {
      environment: { ...environment, SERVICE_BASE_URL: address },
    })
    const said = /is not the service|the response is too long/
    t.match(ended, { code: 3, err: said }, text.slice(0, 40))
    t.notMatch(ended.err, 'sct_whatever')
  }
  t.strictSame(readdirSync(state), ['joining.json'])
})
