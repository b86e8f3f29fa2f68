/** By which accounts at providers a user signs in, and how an administrator takes one away. */
import t, { type Test } from 'tap'
import { insertIdentity } from '../../../control-plane/store/queries/connections.ts'
import { apiOf } from '../../support/api.ts'
import { startPeople } from '../../support/console-people.ts'
import { ACTOR } from '../../support/control-plane.ts'

const ISSUER = 'https://id.acme.example'
const HOSTILE = '"><script>alert(1)</script>'

/** Ada and Bob sign in by the same two connections. */
async function startConnected(t: Test) {
  const world = await startPeople(t)
  const { services, create, session, clock } = world
  const [ada, bob] = [await create('ada', 'Ada'), await create('bob', 'Bob')]
  const connect = async (name: string) => {
    const { connectionId } = await services.connections.create(
      'acme',
      {
        ...{ preset: 'oidc', name, issuer: ISSUER, hostedDomain: null, clientId: 'service' },
        ...{ clientSecret: 'a secret of acme', createsPeople: true, mfaValues: [] },
      },
      ACTOR,
    )
    for (const { userId } of [ada, bob])
      await services.store.change(({ queries }) =>
        insertIdentity(queries, {
          ...{ connectionId, issuer: ISSUER, subject: `${HOSTILE} ${userId}`, tenantId: 'acme' },
          ...{ userId, createdAt: clock.nowMs() },
        }),
      )
    clock.advance(1000)
    return connectionId
  }
  const first = await connect('Company')
  const second = await connect('Contractors')
  await session(ada.userId, 'of-ada')
  await session(bob.userId, 'of-bob')
  const alive = async () =>
    (await services.sessions.list('acme', { limit: 10, cursor: undefined })).items
      .filter(({ endedAt }) => endedAt === null)
      .map(({ sid }) => sid)
  const of = ({ userId }: typeof ada) => services.personIdentities.list('acme', userId)
  return { ...world, ada, bob, first, second, alive, of }
}

void t.test(
  'a user’s page names them, and one is taken away by whoever is asked first',
  async (t) => {
    const { services, admin, ada, bob, first, second, alive, of } = await startConnected(t)
    const page = `/console/tenants/acme/users/${ada.userId}`
    const { text } = await admin.get(page)
    t.match(text, /id="connections".*Company.*Contractors/s)
    t.notMatch(text, '<script>alert')
    const asking = await admin.get(`${page}/connections/${first}/remove`)
    t.match(asking.text, /Disconnect Ada from Company\?.*active session.*no password here/s)
    t.equal((await of(ada)).length, 2, 'asking changes nothing')

    const done = await admin.post(`${page}/connections/${first}/remove`, {})
    t.match(done, { status: 303 })
    t.match((await admin.get(done.location)).text, 'Ada is disconnected from Company')
    t.same(
      (await of(ada)).map(({ connectionId }) => connectionId),
      [second],
    )
    t.equal((await of(bob)).length, 2, 'Bob keeps his')
    t.same(await alive(), ['of-bob'], 'whoever came in by it is out')
    t.equal((await admin.post(`${page}/connections/${first}/remove`, {})).status, 404)
    const { items } = await services.auditTrail.list({ limit: 5 }, { tenantId: 'acme' })
    t.match(items[0], { action: 'user.disconnected', content: { connection_id: first } })
  },
)

void t.test('a page of somebody without any says nothing of connections', async (t) => {
  const { admin, create } = await startPeople(t)
  const { userId } = await create('carol')
  t.notMatch((await admin.get(`/console/tenants/acme/users/${userId}`)).text, 'id="connections"')
})

void t.test('the API lists them and takes one away, at every gateway', async (t) => {
  const { services, ada, bob, first, second, alive, of } = await startConnected(t)
  const { operator } = apiOf(services)
  const path = `/tenants/acme/users/${ada.userId}/connections`
  const { items } = await operator('GET', path)
  t.match(items, [
    { connection_id: first, name: 'Company', issuer: ISSUER, subject: `${HOSTILE} ${ada.userId}` },
    { connection_id: second, name: 'Contractors' },
  ])
  t.equal(items.length, 2)
  t.equal((await operator('DELETE', `${path}/${second}`)).status, 204)
  t.match(await operator('DELETE', `${path}/${second}`), {
    status: 404,
    body: { error: 'identity_not_found' },
  })
  t.equal((await operator('DELETE', `${path}/con_nobody`)).status, 404)
  t.equal((await operator('GET', '/tenants/acme/users/nobody/connections')).status, 404)
  t.same(await alive(), ['of-bob'])
  t.same([(await of(ada)).length, (await of(bob)).length], [1, 2])
})
