import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { request } from 'undici'
import { freePort } from '../support/ports.ts'
import { rawRequest } from '../support/raw-request.ts'
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
  const { port, start } = await setUp(t)
  const squatter = createServer()
  await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve))
  t.teardown(() => squatter.close())
  const program = start()
  t.equal(await program.exited, 1)
  t.match(
    program.output,
    `127.0.0.1:${port} is already in use; set control_plane.listen to another address in the config file\n`,
  )
  t.notMatch(program.output, /\n\s+at /, 'no stack')
})

const TELLS_OF_LOADING = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.endsWith('/control-plane.ts')) process.stderr.write('the program is loaded')
      return next(specifier, context)
    },
  })`

void t.test('a wrong setting is said before the program is loaded', async (t) => {
  const folder = temporaryFolder(t)
  const [wrong, right] = [join(folder, 'wrong.yaml'), join(folder, 'right.yaml')]
  writeFileSync(wrong, 'control_plane: { listen: eighty }\n')
  const [port, fleetPort] = [await freePort(), await freePort()]
  const listen = `listen: "127.0.0.1:${port}", fleet_listen: "127.0.0.1:${fleetPort}"`
  writeFileSync(right, `data_dir: ${folder}/data\ncontrol_plane: { ${listen} }\n`)
  const start = (config: string) => {
    const hook = `data:text/javascript,${encodeURIComponent(TELLS_OF_LOADING)}`
    const environment = { ...SECRETS, NODE_OPTIONS: `--import=${hook}` }
    const program = new Program('control-plane/main.ts', ['--config', config], environment)
    t.teardown(() => program.stop('SIGKILL'))
    return program
  }
  const refused = start(wrong)
  t.equal(await refused.exited, 2)
  t.match(refused.output, 'control_plane.listen: expected host:port, got "eighty"')
  t.notMatch(refused.output, 'the program is loaded')
  const running = start(right)
  await running.ready
  t.match(running.output, 'the program is loaded', 'else nothing is shown')
})

void t.test(
  'SIGTERM and SIGINT end it with 0, kill -9 loses nothing that was answered',
  async (t) => {
    const { port, start } = await setUp(t)
    const names: string[] = []
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
      const program = start()
      await program.ready
      const name = signal.toLowerCase()
      const tenant = { ...TENANT, tenant_id: name, hostnames: [`${name}.localhost`] }
      t.equal((await call(port, 'POST', '/api/v1/operator/tenants', tenant)).status, 201)
      names.push(name)
      t.equal(await program.stop(signal), signal === 'SIGKILL' ? null : 0)
    }
    await start().ready
    const { body } = await call(port, 'GET', '/api/v1/operator/tenants')
    const items = body['items'] as { tenant_id: string }[]
    t.strictSame(items.map(({ tenant_id }) => tenant_id).sort(), names.sort())
  },
)

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
