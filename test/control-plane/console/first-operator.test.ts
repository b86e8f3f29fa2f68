/** How the first operator comes into being, and that nobody else does on that way. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole } from '../../support/console.ts'
import { ALL_TENANTS, rolesIn } from '../../../control-plane/store/queries/console.ts'

const secretIn = (url: string) => new URL(url).searchParams.get('link') ?? ''

const account = (email: string) => ({ email, name: 'Grace Hopper', password: CONSOLE_PASSWORD })

void t.test('of fifty at once with the same link one becomes an operator', async (t) => {
  const { services } = await startConsole(t)
  const { links } = services.consoleAccess
  const { url } = await links.make(false, ACTOR)
  const tries = Array.from({ length: 12 }, (_, index) =>
    links.redeem(secretIn(url), account(`grace${index}@example.test`), 'test'),
  )
  const came = await Promise.allSettled(tries)
  const operators = came.filter(({ status }) => status === 'fulfilled')
  t.equal(operators.length, 1)
  t.equal((await rolesIn(services.store.read, ALL_TENANTS, 2)).length, 1)
  const people = await services.store.read.select().from(schema.users)
  t.equal(people.length, 1, 'no account is left of the others')
})

void t.test('a link is over after 15 minutes, after its use, and with the next one', async (t) => {
  const clock = movableClock()
  const { services, ask } = await startConsole(t, { clock })
  const { links } = services.consoleAccess
  const open = (url: string) => ask(`/console/welcome?link=${secretIn(url)}`, '')

  const first = await links.make(false, ACTOR)
  t.match(await open(first.url), { status: 200, text: /Create account/ })
  t.match(await open(first.url), { status: 200 }, 'opening it uses nothing up')
  const second = await links.make(false, ACTOR)
  t.match(await open(first.url), { status: 410, text: /npm run console-link/ }, 'a newer one')
  clock.advance(LIMITS.consoleLinkMs - 1)
  t.match(await open(second.url), { status: 200 })
  clock.advance(1)
  t.match(await open(second.url), { status: 410 }, 'too old')

  const third = await links.make(false, ACTOR)
  const form = { link: secretIn(third.url), ...account('grace@example.test') }
  const post = (fields: Record<string, string>, headers = {}) =>
    ask('/console/welcome', '', { method: 'POST', form: fields, headers })
  t.match(await post(form, { origin: 'https://evil.example' }), { status: 403 })
  const weak = await post({ ...form, password: 'password1234' })
  t.match(weak, { status: 422, text: /id="password-error"/ }, 'the policy of the realm')
  t.match(weak.text, /value="grace@example\.test"/, 'what was typed is kept')
  t.notMatch(weak.text, 'password1234', 'but for the password')
  t.match(await post(form), { status: 200, text: /Account created/ })
  t.match(await post({ ...form, email: 'eve@example.test' }), { status: 410 }, 'used')
  t.match(await ask('/console/welcome', ''), { status: 410 }, 'none at all')
  await t.rejects(links.make(false, ACTOR), { code: 'operator_exists' })
  t.ok((await links.make(true, ACTOR)).url, 'unless it is meant')
})

void t.test('the link to the first operator is over as soon as there is one', async (t) => {
  const { services, ask, person } = await startConsole(t)
  const { links, roles } = services.consoleAccess
  const { url } = await links.make(false, ACTOR)
  await person('operator')
  const link = secretIn(url)
  t.match(await ask(`/console/welcome?link=${link}`, ''), { status: 410 })
  const eve = account('eve@example.test')
  await t.rejects(links.redeem(link, eve, 'test'), { code: 'ticket_spent' })
  t.equal(await services.users.byLogin('console', eve.email), undefined)

  const meant = secretIn((await links.make(true, ACTOR)).url)
  t.match(await ask(`/console/welcome?link=${meant}`, ''), { status: 200 }, 'unless it is meant')
  const { userId } = await links.redeem(meant, eve, 'test')
  t.equal((await roles.of(userId)).isOperator, true)
})

void t.test('the secret of a link is stored by hash alone', async (t) => {
  const { services } = await startConsole(t)
  const { url } = await services.consoleAccess.links.make(false, ACTOR)
  const rows = await services.store.read.select().from(schema.consoleLinks)
  t.equal(rows.length, 1)
  t.notMatch(JSON.stringify(rows), secretIn(url))
  const audit = await services.store.read.select().from(schema.audit)
  t.notMatch(JSON.stringify(audit), secretIn(url))
})

void t.test('the operator key makes links, and says so where there is an operator', async (t) => {
  const { operator, services, call } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  const path = '/console/operator-links'
  const answer = await operator('POST', path)
  t.match(answer, { status: 201, body: { url: /\/console\/welcome\?link=/ } })
  const { links } = services.consoleAccess
  const secret = secretIn(String(answer.body['url']))
  await links.redeem(secret, account('grace@example.test'), 'test')
  t.match(await operator('POST', path), { status: 409, body: { error: 'operator_exists' } })
  t.match(await operator('POST', path, { force: true }), { status: 201 })
  t.match(await call('POST', `/api/v1/operator${path}`, {}, { key: null }), { status: 401 })
})

void t.test('the realm of the console is no tenant to anybody', async (t) => {
  const { operator, services, call, tenant } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  await services.consoleAccess.ensureRealm()
  await tenant('acme')
  t.same(
    (await operator('GET', '/tenants')).items.map((item) => item['tenant_id']),
    ['acme'],
  )
  t.match(await operator('GET', '/tenants/console'), { status: 404 })
  t.match(await operator('PATCH', '/tenants/console', { name: 'Mine' }), { status: 404 })
  t.match(await operator('DELETE', '/tenants/console'), { status: 404 })
  t.match(await operator('GET', '/tenants/console/users'), { status: 404 })
  t.match(await operator('PUT', '/tenants/console/policies/mfa', { mode: 'off' }), { status: 404 })
  const all = { all: true }
  t.match(await operator('POST', '/tenants/console/revocations', all), { status: 404 })
  const phase = { phase: 'prepare' }
  t.match(await operator('POST', '/tenants/console/keys/rotate', phase), { status: 404 })
  t.match(await call('GET', '/api/v1/tenants/console/public-key'), { status: 404 })
  const { fleetSource, tenants } = services
  for await (const change of fleetSource.all()) t.not(change.tenant_id, 'console')
  t.equal(await fleetSource.snapshot('console').then((change) => change?.snapshot ?? null), null)
  await t.rejects(tenants.goBack('console', ACTOR), { code: 'tenant_not_found' })
})

void t.test('it goes with the address of the service', async (t) => {
  const { services } = await startConsole(t, { baseUrl: 'https://id.example.test' })
  const realm = await services.tenants.find('console')
  t.match(realm, { origin: 'https://id.example.test', mode: 'sdk', status: 'published' })
  if (realm !== undefined)
    t.same(services.tenants.redirectUris(realm), ['https://id.example.test/console/callback'])
  t.equal((await services.policies.of('console')).mfa.mode, 'required')
})
