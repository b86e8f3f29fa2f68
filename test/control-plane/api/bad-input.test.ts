/**
 * Every endpoint × everything that can be wrong with a call: the right 4xx with `error` and
 * `detail`, the field named, nothing written, and nothing of what was sent in the answer. The cases
 * are made from the declarations (bad-input-cases.ts); values that only one field knows to be
 * wrong are in wrong-values.test.ts.
 */
import t, { type Test } from 'tap'
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { refusalsOf } from '../../../control-plane/api/refusals.ts'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { OPERATOR_KEY, type ApiAnswer } from '../../support/api.ts'
import { MARKER, type BadCase } from './bad-case.ts'
import { badCases } from './bad-input-cases.ts'
import { nameOf, type Prepared } from './endpoint-calls.ts'
import { prepareWorld } from './endpoint-world.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PURGE']

const world = await prepareWorld(t)
const secrets = secretsOf(world.prepared)
/** One for all of them: nothing of what they are sent changes anything. */
const own = await world.copy(t)
const all = own.declarations

for (const declaration of all)
  void t.test(`${nameOf(declaration)}: bad input is refused, and changes nothing`, async (t) => {
    own.clock.advance(MINUTE_MS) // and as often may one be asked as ever
    const cases = badCases(declaration, world.prepared)
    const problems: string[] = []
    let before = own.written()
    // the rate of what takes long is asked before its body is read
    const pauseMs = declaration.atOncePerTenantMax === undefined ? 0 : MINUTE_MS / 2
    for (const bad of cases) {
      own.clock.advance(pauseMs)
      const answer = await own.ask(declaration, bad.otherwise)
      const after = own.written()
      const found = problemsOf(declaration, bad, answer)
      if (after !== before) found.push('something was written')
      before = after
      problems.push(...found.map((problem) => `${bad.name}: ${problem}`))
    }
    t.same(problems, [], `${cases.length} cases`)
    await walkMethods(t, declaration)
  })

async function walkMethods(t: Test, declaration: Declaration) {
  const here = all.filter(({ path }) => path === declaration.path).map(({ method }) => method)
  const before = own.written()
  for (const method of METHODS.filter((method) => !(here as string[]).includes(method))) {
    const isHead = method === 'HEAD'
    const answer = await own.ask(declaration, { method })
    if (isHead && here.includes('GET')) {
      t.ok(answer.status < 500 && answer.body['text'] === '', 'HEAD answers as GET, without a body')
      continue
    }
    t.equal(answer.status, 405, method)
    t.equal(answer.headers.get('allow'), here.join(', '), `${method}: what is allowed`)
    if (!isHead) t.match(answer.body, { error: 'method_not_allowed', detail: /./ }, method)
    if (declaration.caller !== 'operator') continue
    const unasked = await own.ask(declaration, { method, authorization: null })
    t.equal(unasked.status, 401, `${method}: who may not ask does not learn what exists`)
  }
  t.equal(own.written(), before, 'a wrong method changes nothing')
}

function problemsOf(declaration: Declaration, bad: BadCase, answer: ApiAnswer): string[] {
  const { status, headers, body } = answer
  const problems: string[] = []
  const said = JSON.stringify(body) + JSON.stringify([...headers])
  if (status !== bad.status)
    return [`expected ${bad.status} and got ${status} ${said.slice(0, 200)}`]
  const error = String(body['error'])
  if (typeof bad.error === 'string' ? error !== bad.error : !bad.error.test(error))
    problems.push(`the error is ${error}`)
  if (error !== 'not_found' && !(refusalsOf(declaration) as readonly string[]).includes(error))
    problems.push(`${error} is not among the declared refusals`)
  if (typeof body['detail'] !== 'string' || body['detail'] === '') problems.push('no detail')
  if (bad.field !== undefined && body['field'] !== bad.field)
    problems.push(`the field named is ${String(body['field'])}, not ${bad.field}`)
  if (!headers.has('x-request-id')) problems.push('no request id')
  if (status === 401 && !headers.has('www-authenticate')) problems.push('no WWW-Authenticate')
  for (const secret of secrets) if (said.includes(secret)) problems.push(`it says ${secret}`)
  return problems
}

function secretsOf({ tenants }: Prepared): string[] {
  const ofTenants = Object.values(tenants).flatMap((own) => [own.analyzer_key, own.client_secret])
  return [OPERATOR_KEY, MARKER, ...ofTenants]
}

void t.test("a key opens its own tenant and leaves the others' alone", async (t) => {
  const { tenants } = world.prepared
  for (const declaration of all.filter(({ caller }) => /^(?:analyzer|client)/.test(caller))) {
    const before = own.rowsOf('acme') + own.rowsOf('apps')
    const { analyzer_key, client_id, client_secret } = tenants.other
    const answer = await own.ask(declaration, {
      authorization:
        declaration.caller === 'client'
          ? `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
          : `Bearer ${analyzer_key}`,
      keyInQuery: `api_key=${analyzer_key}`,
      query: 'tenant_id=acme',
      headers: { 'x-tenant-id': 'acme' },
    })
    t.ok(answer.status < 500, `${nameOf(declaration)}: ${answer.status}`)
    t.notMatch(JSON.stringify(answer.body), /"(?:acme|apps)"/, nameOf(declaration))
    t.equal(own.rowsOf('acme') + own.rowsOf('apps'), before, nameOf(declaration))
  }
})

void t.test('an encoded address asks for the same key', async (t) => {
  const before = own.written()
  for (const declaration of all.filter(({ caller }) => caller !== 'anyone')) {
    const path = declaration.path.replace(/\w(?=\w*$)/, encoded).replace('/api', '/%61pi')
    const answer = await own.ask(declaration, { path, authorization: null, keyInQuery: '' })
    t.ok([401, 404].includes(answer.status), `${path}: ${answer.status}`)
  }
  t.equal(own.written(), before)
})

const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`
