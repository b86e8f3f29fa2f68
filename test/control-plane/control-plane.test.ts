import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { startControlPlane } from '../../control-plane/control-plane.ts'
import { systemClock } from '../../shared/clock.ts'
import { OPERATOR_KEY } from '../support/api.ts'
import { FLEET_KEY, temporaryFolder } from '../support/control-plane.ts'
import { rawRequest } from '../support/raw-request.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

const TENANT = { tenant_id: 'acme', hostnames: ['acme.localhost'], origin: 'http://127.0.0.1:9000' }

type Scope = Parameters<typeof temporaryFolder>[0]
type Settings = Parameters<typeof startControlPlane>[0]

function settingsIn(folder: string, changes: Partial<Settings> = {}): Settings {
  return {
    baseUrl: 'http://localhost:8080',
    dataDir: folder,
    listen: { host: '127.0.0.1', port: 0 },
    fleetListen: { host: '127.0.0.1', port: 0 },
    database: 'sqlite',
    operatorKey: createLiveKey(OPERATOR_KEY),
    fleetKey: createLiveKey(FLEET_KEY),
    masterKey: Buffer.alloc(32, 1),
    breachListFile: null,
    mailFrom: 'no-reply@localhost',
    smtpUrl: null,
    edgeUrlFor: (hostname) => `http://${hostname}`,
    ...changes,
  }
}

const world = { log: pino({ level: 'silent' }), clock: systemClock }

async function start(t: Scope) {
  const controlPlane = await startControlPlane(settingsIn(temporaryFolder(t)), world)
  let closing: Promise<void> | undefined
  const close = () => (closing ??= controlPlane.close())
  t.teardown(close)
  return { controlPlane: { close }, port: controlPlane.address.port }
}

void t.test('a request that is running when it stops is answered', async (t) => {
  const { controlPlane, port } = await start(t)
  const body = JSON.stringify(TENANT)
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let answer = ''
  const told = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.write(
    `POST /api/v1/operator/tenants HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n` +
      `Authorization: Bearer ${OPERATOR_KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await told
  const stopped = controlPlane.close()
  while (await isListening(port));
  socket.write(body)
  await closed
  t.match(answer, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /)
  await stopped
})

void t.test('what is no HTTP is answered like everything else, and closed', async (t) => {
  const { port } = await start(t)
  for (const [name, text, status] of [
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['no Host', 'GET /api/v1/contract HTTP/1.1\r\n\r\n', 400],
    ['a broken Host', 'GET /api/v1/contract HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['a large head', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const answer = await rawRequest(port, text)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), name)
    t.match(answer, /x-request-id: [0-9a-f-]{36}/i, `${name} has a request id`)
    t.match(answer, /application\/json/, `${name}: JSON for programs`)
  }
  const person = 'Accept: text/html\r\nAccept-Language: de\r\nSec-Fetch-Mode: navigate\r\n'
  for (const [name, text, title] of [
    ['no Host', `GET / HTTP/1.1\r\n${person}\r\n`, 'Ung.{1,2}ltige Anfrage'],
    [
      'too many cookies',
      `GET / HTTP/1.1\r\nHost: a\r\n${person}Cookie: ${'x'.repeat(20_000)}\r\n\r\n`,
      'Zu viele Cookies',
    ],
  ] as const)
    t.match(await rawRequest(port, text), new RegExp(`lang="de"[^]*<h1>${title}`), name)
})

void t.test('what keeps it from starting is one line, and leaves nothing running', async (t) => {
  const folder = temporaryFolder(t)
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve))
  t.teardown(() => squatter.close())
  const { port } = squatter.address() as { port: number }
  const taken = { host: '127.0.0.1', port }
  const startWith = (changes: Partial<Settings>) =>
    startControlPlane(settingsIn(folder, changes), world)
  const line = (setting: string) =>
    `127.0.0.1:${port} is already in use; set ${setting} to another address in the config file`

  await t.rejects(startWith({ listen: taken }), { message: line('control_plane.listen') })
  await t.rejects(startWith({ fleetListen: taken }), {
    message: line('control_plane.fleet_listen'),
  })
  t.equal(statSync(join(folder, 'service.db')).mode & 0o777, 0o600, 'for nobody else to read')
  await t.rejects(startWith({ masterKey: Buffer.alloc(32, 2) }), {
    message:
      /^SERVICE_MASTER_KEY is not the one that this database was written with: .*secrets\.json/,
  })
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(join(elsewhere, 'service.db'), { recursive: true })
  await t.rejects(startWith({ dataDir: elsewhere }), {
    message: /elsewhere\/service\.db could not be opened: .*set data_dir/,
  })
  const running = await startWith({})
  await running.close()
})

void t.test('what it keeps is for nobody else to read, whatever it was before', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data')
  const begin = async () => {
    const controlPlane = await startControlPlane(settingsIn(dataDir), world)
    t.teardown(() => controlPlane.close())
  }
  const files = ['', '-wal', '-shm'].map((suffix) => join(dataDir, `service.db${suffix}`))
  const modes = () => files.map((file) => statSync(file).mode & 0o777)
  await begin()
  t.equal(statSync(dataDir).mode & 0o777, 0o700)
  t.strictSame(modes(), [0o600, 0o600, 0o600])
  for (const file of files) chmodSync(file, 0o644)
  await begin()
  t.strictSame(modes(), [0o600, 0o600, 0o600])
})

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

void t.test('an https base_url without a named proxy is warned about, once', async (t) => {
  for (const [changes, warnings] of [
    [{ baseUrl: 'https://id.example.com' }, 1],
    [{ baseUrl: 'https://id.example.com', trustedProxies: ['10.0.0.0/8'] }, 0],
    [{}, 0],
  ] as const) {
    const lines: { msg: string }[] = []
    const write = (line: string) => void lines.push(JSON.parse(line) as { msg: string })
    const log = pino({ level: 'warn' }, { write })
    const settings = settingsIn(temporaryFolder(t), { smtpUrl: 'smtp://127.0.0.1:9', ...changes })
    const { close } = await startControlPlane(settings, { ...world, log })
    await close()
    const said = lines.filter(({ msg }) => msg.includes('control_plane.trusted_proxies'))
    t.equal(said.length, warnings, JSON.stringify(changes))
  }
})
