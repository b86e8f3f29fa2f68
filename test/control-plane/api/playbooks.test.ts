/** What somebody types on a bad day: every call of docs/playbooks.md, in its order. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startApi } from '../../support/api.ts'
import { ACTOR, tenantNamed } from '../../support/control-plane.ts'

const PAGE = new URL('../../../docs/playbooks.md', import.meta.url)
const text = readFileSync(PAGE, 'utf8')
const CALL = /^api (GET|POST|PUT|PATCH|DELETE) (\S+)(?: +'([^']*)')?/gm

void t.test('every call is taken', async (t) => {
  const { call, services } = await startApi(t)
  const { tenants, users, gatewayKeys } = services
  await tenants.create(tenantNamed('acme', { hostnames: ['acme.localhost'] }), ACTOR)
  await tenants.publish('acme', ACTOR)
  const { userId } = await users.create(
    'acme',
    { username: 'ada', email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
    ACTOR,
  )
  const { keyId } = await gatewayKeys.make('edge-1', ACTOR)
  const calls = [...text.matchAll(CALL)]
  t.ok(calls.length >= 15)
  for (const [line, method = '', path = '', body] of calls) {
    const at = path.replace(/^'|'$/g, '').replace('KEY_ID', keyId).replace('USER_ID', userId)
    const sent =
      body === undefined ? undefined : (JSON.parse(body.replace('USER_ID', userId)) as object)
    const { status, body: said } = await call(method, `/api/v1/operator${at}`, sent)
    // here no certificate is there to be taken out
    const isFine = status < 300 || said['error'] === 'certificate_not_found'
    t.ok(isFine, `${line}: ${status} ${JSON.stringify(said)}`)
  }
})

void t.test('and its links lead somewhere', async (t) => {
  for (const [, link = ''] of text.matchAll(/\]\(([^)#]+)/g))
    t.ok(existsSync(fileURLToPath(new URL(link, PAGE))), link)
})
