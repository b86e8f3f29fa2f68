/**
 * Whatever size a tenant has, one change holds no more rows than `LIMITS.changeRowsWrittenMax` and
 * `changeRowsReadMax` say: on SQLite everybody else waits for it. Each table of the schema is filled, or
 * says why it is not. With `LARGEST=300` each file says which changes come near.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { DAY_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { createBackChannel } from '../../../control-plane/connections/back-channel.ts'
import type { Declaration } from '../../../control-plane/api/endpoint.ts'
import { DEFAULT_POLICIES } from '../../../control-plane/policy/policies.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { nameOf } from '../api/endpoint-calls.ts'
import { prepareWorld, type EndpointWorld } from '../api/endpoint-world.ts'
import { patching, personNamed, tokenFor, USER } from '../scim/provider.ts'
import { countChanges } from './largest-changes.ts'
import { fill } from './fill.ts'
import { ATTRIBUTE, FILLINGS, GROUP, MANY, TENANT, userOf } from './filled-tenant.ts'

/** Those whose success takes away what others need have a tenant of their own. */
const TAKES_AWAY = /^DELETE |\/(?:revocations|device-revocations|suspend|sign-out)$/

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'

/** Whose groups and attributes change has then to come in anew. */
const RULES = {
  rules: [
    { path: '/support', allow: [{ group: GROUP }] },
    { path: '/research', allow: [{ attr: { [ATTRIBUTE.name]: ATTRIBUTE.value } }] },
  ],
}

const changes = countChanges()
const prepared = await prepareWorld(t, { fill, told: changes.told })

/** What has been too large since the last one. */
function isSmall(t: Test, least = 1) {
  t.same(changes.tooLarge(), { written: [], read: [] })
  t.ok(changes.count >= least, `${changes.count} kinds of changes were counted`)
  const most = Number(process.env['LARGEST'] ?? 0)
  if (most > 0) console.log(changes.report(most))
}

t.test('every table is filled, or says why it is not', async (t) => {
  t.same(Object.keys(FILLINGS).sort(), Object.keys(schema).sort())
})

t.test('what endpoints change', async (t) => {
  const shared = await prepared.copy(t)
  const asked = async (world: EndpointWorld, declaration: Declaration) =>
    changes.during(nameOf(declaration), () => world.ask(declaration))
  const writing = shared.declarations.filter(({ method }) => method !== 'GET')
  const [last, first] = [true, false].map((takesAway) =>
    writing.filter((one) => TAKES_AWAY.test(nameOf(one)) === takesAway),
  ) as [Declaration[], Declaration[]]
  for (const declaration of first) {
    const { status } = await asked(shared, declaration)
    t.not(status, 500, nameOf(declaration))
  }
  for (const declaration of last) {
    const world = await prepared.copy(t)
    const { status } = await asked(world, declaration)
    t.not(status, 500, nameOf(declaration))
    await world.services.close()
  }
  isSmall(t, 60)
})

t.test('what a provider pushes', async (t) => {
  const { services, call, operator } = await prepared.copy(t)
  t.equal((await operator('PUT', `/tenants/${TENANT}/access-rules`, RULES)).status, 200)
  const { token } = await tokenFor(services, TENANT)
  const scim = async (method: string, path: string, body?: unknown) => {
    const asked = () =>
      call(method, `/scim/v2/${TENANT}${path}`, body, { key: token, type: 'application/scim+json' })
    const { status } = await changes.during(`SCIM ${method} ${path}`, asked)
    t.ok(status < 300, `${method} ${path}: ${status}`)
  }
  const [users, group] = ['/Users', '/Groups/grp_support']
  await scim('GET', `${users}?count=200`)
  await scim('POST', users, personNamed('grace'))
  await scim(
    'PATCH',
    `${users}/${userOf(0)}`,
    patching({ op: 'replace', path: 'active', value: false }),
  )
  await scim('PUT', `${users}/${userOf(1)}`, {
    schemas: [USER],
    userName: 'person-1',
    active: true,
  })
  await scim('DELETE', `${users}/${userOf(2)}`)
  const all = Array.from({ length: MANY - 10 }, (_, at) => ({ value: userOf(at + 5) }))
  await scim('PATCH', group, patching({ op: 'remove', path: 'members' }))
  await scim('PATCH', group, patching({ op: 'add', path: 'members', value: all }))
  await scim('PUT', group, { displayName: 'Support', members: [] })
  await scim('PUT', group, { displayName: 'Support', members: all })
  await scim('DELETE', group)
  isSmall(t)
})

t.test('what a provider signs out', async (t) => {
  for (const said of [{ sid: 'theirs' }, { sub: 'of-the-user' }]) {
    const { services } = await prepared.copy(t)
    const { store, connections } = services
    const claims = { jti: randomUUID(), events: { [LOGOUT]: {} }, ...said }
    const documents = { proven: async () => claims as never }
    const backChannel = createBackChannel({ store, documents })
    const token = `${btoa('{"alg":"RS256","typ":"logout+jwt"}')}.e30.`
    const connection = await connections.get(TENANT, prepared.prepared.connectionId)
    const taken = () => backChannel.take(connection, token, ACTOR)
    const ended = await changes.during(`logout token ${JSON.stringify(said)}`, taken)
    t.ok(ended > 0)
  }
  isSmall(t)
})

t.test('what gateways and middlewares report at once', async (t) => {
  const { services, clock } = await prepared.copy(t)
  const { enforcement, sessions } = services
  const most = (work: (at: number) => object) =>
    Array.from({ length: LIMITS.eventsPerBatchMax }, (_, at) => work(at)) as never
  const ends = (at: number) => ({
    ...{ tenant_id: TENANT, outcome: 'terminated', reason: 'binding', sid: `sid-fill-${at}` },
    ...{ subject: userOf(at), ip: `192.0.2.${at % 200}` },
  })
  await changes.during('events of a gateway', () => enforcement.receive('edge-1', most(ends)))
  await changes.during('events of an instance', () =>
    enforcement.take(TENANT, 'one', most(ends), 0).catch((error: unknown) => t.fail(String(error))),
  )
  const seen = (at: number) => ({ tenantId: TENANT, sid: `sid-fill-${at}`, atMs: clock.nowMs() })
  await changes.during('sessions in use', () => sessions.seen(most(seen)))
  isSmall(t)
})

t.test('what jobs tidy up after a month, and after years', async (t) => {
  for (const days of [2, 40, 1000]) {
    const { services, clock } = await prepared.copy(t)
    clock.advance(days * DAY_MS)
    await changes.during(`jobs after ${days} days`, () => services.jobs.run())
  }
  isSmall(t)
})

t.test('what everybody is told by: rules, policies, providers', async (t) => {
  const { services, operator } = await prepared.copy(t)
  const ask = async (method: string, path: string, body?: object) => {
    const asked = () => operator(method, `/tenants/${TENANT}${path}`, body)
    const { status } = await changes.during(`${method} ${path}`, asked)
    t.ok(status < 300, `${method} ${path}: ${status}`)
  }
  const jobs = () => changes.during('jobs', () => services.jobs.run())
  const connection = `/connections/${prepared.prepared.connectionId}`
  await ask('PUT', '/access-rules', RULES)
  await ask('PATCH', connection, { attributes: [{ attribute: ATTRIBUTE.name, claim: 'dept' }] })
  await ask('PATCH', connection, { attributes: [] })
  await ask('PUT', '/policies/session', {
    ...DEFAULT_POLICIES.session,
    max_session_seconds: 600,
    concurrent_max: 1,
  })
  await ask('PUT', '/access-rules', { rules: [] })
  await jobs()
  await ask('POST', '/revocations', { all: true })
  await jobs()
  isSmall(t)
})
