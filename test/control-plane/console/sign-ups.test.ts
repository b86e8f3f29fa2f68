/** People who wait for an account, in the console and by the operator API. */
import t from 'tap'
import { startApi } from '../../support/api.ts'
import { startConsole } from '../../support/console.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ACTOR } from '../../support/control-plane.ts'

const PAGE = '/console/tenants/acme/sign-ups'

async function wait(store: Store, signUpId: string, tenantId = 'acme') {
  const email = `${signUpId}@company.example`
  await store.change(({ queries, nowMs }) =>
    queries.insert(schema.signUps).values({
      ...{ signUpId, tenantId, email, emailKey: email, name: `N <b>${signUpId}</b>` },
      ...{
        passwordHash: '',
        language: 'de',
        applicationUrl: 'https://app.example/',
        ip: '192.0.2.7',
      },
      ...{ provenAt: nowMs, createdAt: nowMs, expiresAt: nowMs + 1_000_000, toldAt: null },
    }),
  )
  return email
}

void t.test('an administrator approves with one form, and refuses behind a question', async (t) => {
  const mails: { to: string; subject: string }[] = []
  const { services, person } = await startConsole(t, {
    mailTransport: { send: async (mail) => void mails.push(mail), close: () => undefined },
  })
  const { store, policies, users } = services
  const bob = await person('acme')
  t.notMatch((await bob.get('/console/tenants/acme/users')).text, /Account requests/)
  await policies.put('acme', 'password', { sign_up: 'approval' }, ACTOR)
  const empty = await bob.get(PAGE)
  t.match(empty.text, /No requests are waiting/)
  const email = await wait(store, 'sup_1')
  const other = await wait(store, 'sup_2')
  t.match((await bob.get('/console/tenants/acme/users')).text, /Account requests \(2\)/)
  const list = await bob.get(PAGE)
  t.match(list.text, /sup_1@company\.example[\s\S]*192\.0\.2\.7[\s\S]*sup_2@company\.example/)
  t.notMatch(list.text, /<b>sup_1/)
  const approved = await bob.post(`${PAGE}/sup_1/approve`)
  t.match(approved, { status: 303, location: /^\/console\/tenants\/acme\/sign-ups\?done=/ })
  t.match(await users.byLogin('acme', email), { email })
  t.match((await bob.get(`${PAGE}/sup_2/refuse`)).text, /Refuse N[\s\S]*gets no account/)
  t.match(await bob.post(`${PAGE}/sup_2/refuse`), { status: 303 })
  t.equal(await users.byLogin('acme', other), undefined)
  t.match(await bob.post(`${PAGE}/sup_2/approve`), { status: 404 })
  await services.mails.deliver()
  t.match(
    mails.map(({ to, subject }) => [to, subject]),
    [
      [email, /ist bereit/],
      [other, /wurde abgelehnt/],
    ],
  )
})

void t.test('nobody of another tenant, and who may only look decides nothing', async (t) => {
  const { services, person } = await startConsole(t)
  const { store, policies } = services
  await policies.put('acme', 'password', { sign_up: 'approval' }, ACTOR)
  await wait(store, 'sup_1')
  const stranger = await person('other')
  t.equal((await stranger.get(PAGE)).status, 404)
  t.equal((await stranger.post(`${PAGE}/sup_1/approve`)).status, 404)
  t.equal((await stranger.post('/console/tenants/other/sign-ups/sup_1/approve')).status, 404)
  t.equal((await store.read.select().from(schema.signUps)).length, 1)
})

void t.test('by API the same: listed, approved, refused', async (t) => {
  const { call, services, tenant } = await startApi(t)
  await tenant('acme')
  const { store, policies } = services
  await policies.put('acme', 'password', { sign_up: 'approval' }, ACTOR)
  const email = await wait(store, 'sup_1')
  await wait(store, 'sup_2')
  const path = '/api/v1/operator/tenants/acme/sign-ups'
  const first = await call('GET', `${path}?limit=1`)
  t.match(first, {
    status: 200,
    body: { items: [{ sign_up_id: 'sup_1', email, ip: '192.0.2.7' }] },
  })
  const { next } = first.body as { next: string }
  t.match(await call('GET', `${path}?limit=1&cursor=${next}`), {
    body: { items: [{ sign_up_id: 'sup_2' }], next: null },
  })
  t.match(await call('POST', `${path}/sup_1/approve`, {}), { status: 201, body: { email } })
  t.match(await call('POST', `${path}/sup_1/approve`, {}), {
    status: 404,
    body: { error: 'sign_up_not_found' },
  })
  t.match(await call('DELETE', `${path}/sup_2`), { status: 204 })
  t.match(await call('GET', path), { body: { items: [], next: null } })
  t.match(await call('DELETE', `${path}/sup_2`), { status: 404 })
})
