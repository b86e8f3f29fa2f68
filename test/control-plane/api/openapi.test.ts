/** The document says what is there, no more and no less, and real answers are as it says. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { pino } from 'pino'
import * as v from 'valibot'
import t from 'tap'
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { curlLine } from '../../../control-plane/api/openapi/curl.ts'
import type { OpenApiDocument } from '../../../control-plane/api/openapi/document.ts'
import { createPublicServer } from '../../../control-plane/server.ts'
import { OPERATOR_KEY, startApi, type ApiAnswer } from '../../support/api.ts'
import { NO_POSTGRES, startPostgres } from '../../support/postgres.ts'
import { ADA_EMAIL, fillDatabase, settingsOf } from '../user-directory/directory-world.ts'
import { ELSEWHERE, nameOf } from './endpoint-calls.ts'
import { prepareWorld, type EndpointWorld } from './endpoint-world.ts'

/** For people, and no part of the API. */
const PAGES = ['GET /', 'GET /mailbox']
/** Pages as well, declared in a table of their own (control-plane/console/route.ts). */
/** The install scripts of an administrator are pages of the console, too. */
const isOfConsole = (route: string) =>
  /^(?:GET|POST) \/(?:console(?:\/|$)|install\/\w+\/\{tenant_id\}$)/.test(route)

const run = promisify(execFile)
const world = await prepareWorld(t)

async function documentOf({ call }: Pick<EndpointWorld, 'call'>) {
  const { body } = await call('GET', '/api/v1/openapi.json', undefined, { key: null })
  return body as unknown as OpenApiDocument
}

void t.test('the document is OpenAPI 3.1 by the official schema', async (t) => {
  const document = await documentOf(await startApi(t))
  const result = await new Validator().validate(structuredClone(document))
  t.same(result.errors ?? [], [])
  t.equal(document.openapi, '3.1.0')
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((operation) => (operation as { operationId: string }).operationId),
  )
  t.equal(new Set(ids).size, ids.length, 'each operation has a name of its own')
})

void t.test('every route is declared, and every declaration is a route', async (t) => {
  const { app, call } = await startApi(t)
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, '{$1}')}`)
    .filter((route) => !PAGES.includes(route) && !isOfConsole(route))
  const { paths } = await documentOf({ call })
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const undeclared = [...new Set(routes)].filter((route) => !documented.includes(route))
  t.same(
    undeclared,
    [],
    'declare it with endpointsOf() and name it in control-plane/api/endpoints.ts',
  )
  t.same(
    documented.filter((route) => !routes.includes(route)),
    [],
    'what is declared is mounted',
  )
  t.equal(new Set(documented).size, documented.length)
})

void t.test('what an example shows is taken by the schema that validates', async (t) => {
  const { declarations } = await world.copy(t)
  for (const declaration of declarations.filter(({ body }) => body !== undefined)) {
    const { body, example = {} } = declaration
    const result = v.safeParse(body as v.GenericSchema, example)
    t.same(result.issues?.map(({ message }) => message) ?? [], [], nameOf(declaration))
  }
})

void t.test('real answers are as the document says, good ones and refusals', async (t) => {
  const unchanged = await world.copy(t)
  const check = checker(await documentOf(unchanged))
  for (const declaration of unchanged.declarations) {
    const name = nameOf(declaration)
    await t.test(name, async (t) => {
      const { ask } = declaration.method === 'GET' ? unchanged : await world.copy(t)
      if (declaration.caller !== 'anyone') {
        const wrong = declaration.caller === 'analyzer_in_query' ? 'api_key=x' : undefined
        const refused = await ask(declaration, {
          authorization: 'Bearer wrong',
          ...(wrong === undefined ? {} : { keyInQuery: wrong }),
        })
        t.equal(refused.status, 401)
        t.same(check(declaration, refused), [], 'as it refuses a wrong key')
      }
      const answer = await ask(declaration)
      t.same(check(declaration, answer), [], `as it answers ${answer.status}`)
      if (name in ELSEWHERE)
        t.ok(answer.status < 500, `its success is elsewhere: ${ELSEWHERE[name]}`)
      else
        t.ok(
          answer.status in declaration.answers,
          `${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}: ` +
            'a call that succeeds belongs in endpoint-calls.ts',
        )
    })
  }
})

void t.test('a user directory answers as the document says', { skip: NO_POSTGRES }, async (t) => {
  const database = await startPostgres(t)
  await fillDatabase(database)
  const { ask, call, declarations } = await world.copy(t)
  const check = checker(await documentOf({ call }))
  const body = settingsOf(database, { login: ADA_EMAIL })
  const bodies = [body, undefined, { login: ADA_EMAIL }, undefined]
  const own = declarations.filter(({ group }) => group === 'directory')
  t.equal(own.length, bodies.length)
  for (const [at, declaration] of own.entries()) {
    const sent = bodies[at]
    const answer = await ask(declaration, sent === undefined ? {} : { raw: JSON.stringify(sent) })
    t.ok(answer.status < 300, nameOf(declaration))
    t.same(check(declaration, answer), [], nameOf(declaration))
  }
})

/** One shell runs a line for each argument: to start one from here costs more than what it does. */
const inShells = (script: string, lines: readonly string[], env: Record<string, string>) =>
  execFileSync('sh', ['-c', `for line do ${script}; printf '\\036'; done`, 'sh', ...lines], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  })
    .split('\u001e')
    .slice(0, -1)

void t.test('a line for a shell is one that a shell takes, and holds no secret', async (t) => {
  const { declarations } = await world.copy(t)
  const lines = declarations.map((declaration) => curlLine(declaration, 'http://localhost:8080'))
  const isTaken = inShells(`printf %s "$line" | sh -n 2>&1 && echo taken`, lines, {})
  const keys = { SERVICE_OPERATOR_KEY: 'the-key', SERVICE_ANALYZER_KEY: 'the-key' }
  const printing = lines.map((line) => line.replace(/^curl/, 'printf "%s\\n"'))
  const said = inShells('sh -c "$line"', printing, keys)
  t.equal(said.length, declarations.length)
  for (const [at, declaration] of declarations.entries()) {
    const line = lines[at] ?? ''
    t.equal(isTaken[at], 'taken\n', line)
    if (declaration.caller === 'operator')
      t.match(said[at], /^Authorization: Bearer the-key$/m, line)
    if (declaration.example !== undefined)
      t.match(said[at], JSON.stringify(declaration.example), 'the body arrives as one word')
  }
})

/** Its example is nobody's code, which RFC 8628 answers with 400 as well. */
const OVER = 'POST /api/v1/cli/device-tokens'
/** Who asks is a connector or an agent, by its token or its signature; no example can be one. */
const OF_CONNECTORS =
  /^POST \/(?:api\/v1\/connector\/(?:join|state|leave)|agent\/v1\/(?!nonce)\w+)$/

/** Each line in a shell of its own, with the secrets that it names; what was answered, line by line. */
const TYPED = `while [ $# -gt 0 ]; do
  SERVICE_ANALYZER_KEY="$1" SERVICE_TENANT_ID="$2" SERVICE_CLIENT_SECRET="$3" \\
    sh -c "$4 -s -o /dev/null -w '%{http_code}\\n'"
  shift 4
done`

const WITHOUT_CURL =
  spawnSync('curl', ['--version']).status === 0
    ? false
    : 'curl is not installed (Debian package curl)'

void t.test(
  'each line for a shell is understood by the service, without a change',
  { skip: WITHOUT_CURL },
  async (t) => {
    const { app, declarations, clock } = await world.copy(t)
    const log = pino({ level: 'silent' })
    const server = createPublicServer({
      app,
      realms: { handle: () => undefined },
      log,
      clock,
    } as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const { acme, apps } = world.prepared.tenants

    const lines = declarations.map((declaration) => {
      const own = declaration.caller === 'client' ? apps : acme
      const tenantId = own.client_id.replace(/-user$/, '')
      const line = curlLine(declaration, `http://127.0.0.1:${port}`)
      return [own.analyzer_key, tenantId, own.client_secret, line]
    })
    const env = { PATH: process.env['PATH'], SERVICE_OPERATOR_KEY: OPERATOR_KEY }
    const { stdout } = await run('sh', ['-c', TYPED, 'sh', ...lines.flat()], { env })
    const statuses = stdout.trimEnd().split('\n')
    t.equal(statuses.length, declarations.length)
    for (const [at, declaration] of declarations.entries()) {
      const status = statuses[at] ?? ''
      const isRefused = ['400', '401', '403', '405', '413', '415', '429'].includes(status)
      const name = nameOf(declaration)
      const isNobodys =
        (status === '400' && name === OVER) || (status === '401' && OF_CONNECTORS.test(name))
      const line = lines[at]?.[3] ?? ''
      t.ok((/^[2-4]\d\d$/.test(status) && !isRefused) || isNobodys, `${status}: ${line}`)
    }
  },
)

/** Headers of an answer that are there only where there is something to say. */
const SOMETIMES: ReadonlySet<string> = new Set(['Warning'])

/** What of an answer is not as the document says. */
function checker(document: OpenApiDocument) {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
  ajv.addSchema(document, 'api')

  return ({ method, path }: Declaration, answer: ApiAnswer): string[] => {
    const operation = `/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}`
    const at = resolve(document, `${operation}/responses/${answer.status}`)
    const [pointer, response] = at ?? []
    if (response === undefined) return [`${answer.status} is not declared`]
    const missing = Object.keys(response.headers ?? {}).filter(
      (name) => !answer.headers.has(name) && !SOMETIMES.has(name),
    )
    if (response.content === undefined) return missing
    const type = (answer.headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
    const content = response.content[type]
    if (content === undefined) return [...missing, `the media type ${type} is not declared`]
    if (content.schema === undefined) return missing
    const schema = `api#${pointer}/content/${type.replaceAll('/', '~1')}/schema`
    const validate = ajv.getSchema(schema)
    if (validate === undefined) return [`no schema ${schema}`]
    return validate(answer.body)
      ? missing
      : [...missing, ...(validate.errors ?? []).map((error) => ajv.errorsText([error]))]
  }
}

interface ResponseObject {
  readonly $ref?: string
  readonly headers?: Record<string, unknown>
  readonly content?: Record<string, { readonly schema?: unknown }>
}

function resolve(document: unknown, pointer: string): [string, ResponseObject] | undefined {
  const steps = pointer.slice(1).split('/')
  let value: unknown = document
  for (const step of steps)
    value = (value as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/')]
  const response = value as ResponseObject | undefined
  if (response?.$ref !== undefined) return resolve(document, response.$ref.slice(1))
  return response === undefined ? undefined : [pointer, response]
}
