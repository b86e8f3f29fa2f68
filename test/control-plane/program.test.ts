import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { freePort } from '../support/ports.ts'
import { Program, SECRETS } from '../support/programs.ts'
import { temporaryFolder } from '../support/control-plane.ts'

interface Setup {
  readonly folder: string
  readonly port: number
  readonly fleetPort: number
  readonly start: () => Program
}

async function setUp(t: Parameters<typeof temporaryFolder>[0]): Promise<Setup> {
  const folder = temporaryFolder(t)
  const [port, fleetPort] = [await freePort(), await freePort()]
  const config = join(folder, 'config.yaml')
  writeFileSync(
    config,
    `base_url: http://localhost:${port}
data_dir: ${folder}/data
control_plane: { listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}" }
`,
  )
  const start = () => {
    const program = new Program('control-plane/main.ts', ['--config', config], SECRETS)
    t.teardown(() => program.stop('SIGKILL'))
    return program
  }
  return { folder, port, fleetPort, start }
}

async function call(port: number, method: string, path: string, body?: unknown, key?: string) {
  const answer = await request(`http://127.0.0.1:${port}${path}`, {
    method: method as 'GET',
    headers: {
      authorization: `Bearer ${key ?? SECRETS.SERVICE_OPERATOR_KEY}`,
      'content-type': 'application/json',
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  const isJson = answer.headers['content-type'] === 'application/json'
  const read = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
  return { status: answer.statusCode, headers: answer.headers, body: read }
}

const TENANT = { tenant_id: 'acme', hostnames: ['acme.localhost'], origin: 'http://127.0.0.1:9000' }

void t.test('a taken port is one line that says which, and how to change it', async (t) => {
  const { port, fleetPort, start } = await setUp(t)
  for (const [taken, setting] of [
    [port, 'control_plane.listen'],
    [fleetPort, 'control_plane.fleet_listen'],
  ] as const) {
    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(taken, '127.0.0.1', resolve))
    const program = start()
    t.equal(await program.exited, 1)
    const lines = program.output.split('\n').filter((line) => line.includes('taken'))
    t.strictSame(lines, [
      `127.0.0.1:${taken} is taken; set ${setting} to another address in the config file`,
    ])
    t.notMatch(program.output, /at .*\.ts:/, 'no stack')
    await new Promise((resolve) => squatter.close(resolve))
  }
})

void t.test('SIGTERM and SIGINT end it cleanly, and a second start keeps the data', async (t) => {
  const { port, start } = await setUp(t)
  const first = start()
  await first.ready
  t.equal((await call(port, 'POST', '/api/v1/operator/tenants', TENANT)).status, 201)
  const { body: before } = await call(port, 'GET', '/api/v1/operator/tenants/acme')
  t.equal(await first.stop('SIGTERM'), 0)

  const second = start()
  await second.ready
  t.strictSame((await call(port, 'GET', '/api/v1/operator/tenants/acme')).body, before)
  t.equal(await second.stop('SIGINT'), 0)
})

void t.test('a request that is running when it stops is answered', async (t) => {
  const { port, start } = await setUp(t)
  const program = start()
  await program.ready
  const body = JSON.stringify(TENANT)
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let answer = ''
  const told = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.write(
    `POST /api/v1/operator/tenants HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n` +
      `Authorization: Bearer ${SECRETS.SERVICE_OPERATOR_KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await told
  const stopped = program.stop()
  while (await isListening(port));
  socket.write(body)
  await closed
  t.match(answer, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /)
  t.equal(await stopped, 0)
})

void t.test('kill -9 loses nothing that was answered', async (t) => {
  const { port, start } = await setUp(t)
  const first = start()
  await first.ready
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names)
    await call(port, 'POST', '/api/v1/operator/tenants', {
      ...TENANT,
      tenant_id: name,
      hostnames: [`${name}.localhost`],
    })
  await first.stop('SIGKILL')
  const second = start()
  await second.ready
  const { body } = await call(port, 'GET', '/api/v1/operator/tenants')
  const items = body['items'] as { tenant_id: string }[]
  t.strictSame(
    items.map(({ tenant_id }) => tenant_id),
    names,
  )
})

void t.test('no secret, token or password is in any line of the log', async (t) => {
  const { port, start, folder } = await setUp(t)
  const program = start()
  await program.ready
  const operator = (method: string, path: string, body?: unknown) =>
    call(port, method, `/api/v1/operator${path}`, body)
  const { body: tenant } = await operator('POST', '/tenants', TENANT)
  const analyzer = String(tenant['analyzer_key'])
  const password = 'correct-horse-battery'
  const cookie = 'cookie-value-of-somebody'
  const secrets = [
    ...Object.values(SECRETS),
    analyzer,
    String(tenant['client_secret']),
    password,
    cookie,
  ]

  await operator('POST', '/tenants/acme/publish')
  const user = { username: 'ada', email: 'ada@x.test', name: 'Ada', password }
  await operator('POST', '/tenants/acme/users', user)
  await operator('POST', '/tenants/acme/users', { ...user, password: [password] })
  await operator('POST', '/tenants/acme/users', user)
  await operator('PUT', '/tenants/acme/certificates/acme.localhost', {
    certificate_pem: analyzer,
    private_key_pem: password,
  })
  for (const action of ['analyzer-key/rotate', 'client-secret/rotate']) {
    const { body } = await operator('POST', `/tenants/acme/${action}`)
    secrets.push(String(body['analyzer_key'] ?? body['client_secret']))
  }
  const newest = secrets.at(-2) ?? ''
  await call(port, 'GET', `/api/v1/public-key?api_key=${newest}`)
  await call(port, 'GET', `/api/v1/public-key?api_key=${analyzer}`)
  await call(port, 'GET', '/api/v1/verify/status', undefined, newest)
  await call(port, 'POST', '/api/v1/verify/probe', undefined, newest)
  await call(port, 'POST', '/api/v1/go-live', undefined, newest)
  await request(`http://127.0.0.1:${port}/auth/realms/acme/authorize?code=${password}`, {
    headers: { cookie: `x=${cookie}` },
  }).then(({ body }) => body.dump())
  await rawRequest(
    port,
    `GET /x?api_key=${analyzer} HTTP/1.1\r\nHost: a\r\nBad Header: ${password}\r\n\r\n`,
  )
  t.equal(await program.stop(), 0)

  const lines = program.output.split('\n').filter((line) => line !== '')
  const requests = lines.filter((line) => line.includes('"kind":"request"'))
  t.ok(requests.length >= 14, `${requests.length} requests are in the log`)
  for (const line of requests)
    t.match(JSON.parse(line), {
      method: String,
      path: /^\/[^?]*$/,
      status: Number,
      ms: Number,
      request_id: /^[0-9a-f-]{36}$/,
    })
  for (const secret of secrets) t.notOk(program.output.includes(secret), 'not in the log')

  const stored = readFileSync(join(folder, 'data', 'service.db')).toString('latin1')
  for (const secret of secrets) t.notOk(stored.includes(secret), 'nor in the database')
  t.notMatch(stored, /PRIVATE KEY/)
})

void t.test('what is no HTTP is answered like everything else, and closed', async (t) => {
  const { port, start } = await setUp(t)
  const program = start()
  await program.ready
  for (const [name, text, status] of [
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['no Host', 'GET /api/v1/contract HTTP/1.1\r\n\r\n', 400],
    ['a broken Host', 'GET /api/v1/contract HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['a large head', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const answer = await rawRequest(port, text)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), name)
    t.match(answer, /x-request-id: [0-9a-f-]{36}/i, `${name} has a request id`)
  }
})

void t.test('a data folder that cannot be written is a plain message', async (t) => {
  const { folder, start } = await setUp(t)
  mkdirSync(join(folder, 'data'))
  mkdirSync(join(folder, 'data', 'service.db'))
  const program = start()
  t.not(await program.exited, 0)
  t.match(program.output, /^\/.*service\.db cannot be opened \(set data_dir\): .+$/m)
  t.notMatch(program.output, /\n\s+at /, 'no stack')
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

function rawRequest(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
      socket.end()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
