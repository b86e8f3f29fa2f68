/** Who is let in to the console by others: by mail, with one role, and out again. */
import t from 'tap'
import { CONSOLE_REALM } from '../../../control-plane/store/reserved.ts'
import { startApi } from '../../support/api.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { CONSOLE_PASSWORD, startConsole } from '../../support/console.ts'

const PEOPLE = '/console/people'

void t.test('an administrator is invited by mail, and sees that tenant alone', async (t) => {
  const mails: { to: string; subject: string; text: string }[] = []
  const mailTransport = {
    send: async (mail: (typeof mails)[number]) => void mails.push(mail),
    close: () => undefined,
  }
  const { services, person, signedIn } = await startConsole(t, { mailTransport })
  const grace = await person('operator')
  const form = { email: 'bob@example.test', name: 'Bob', tenant_id: 'acme' }
  const sent = await grace.post(PEOPLE, form)
  t.match(sent, { status: 303, location: /^\/console\/people\?tenant_id=acme&done=/ })
  await services.mails.deliver()
  t.match(mails, [
    {
      to: 'bob@example.test',
      subject: "You're invited to the console",
      text: /realms\/console\/account\/invitation\?ticket=/,
    },
  ])
  t.match((await grace.get(`${PEOPLE}?tenant_id=acme`)).text, /Bob.*bob@example\.test.*Invited/s)

  const bob = await services.users.byLogin('console', 'bob@example.test')
  const asBob = await signedIn(bob?.userId ?? '')
  t.equal((await asBob.get('/console/tenants/acme')).status, 200)
  t.equal((await asBob.get('/console/tenants/other')).status, 404)
  await grace.post(PEOPLE, { ...form, tenant_id: 'other' })
  t.equal((await asBob.get('/console/tenants/other')).status, 200, 'a second role, at once')

  const remove = `${PEOPLE}/${asBob.userId}/remove`
  t.match((await grace.get(`${remove}?tenant_id=acme`)).text, /Remove Bob\?/)
  t.match(await grace.post(remove, { tenant_id: 'acme' }), { status: 303 })
  t.equal((await asBob.get('/console/tenants/acme')).status, 404)
  t.equal((await asBob.get('/console/tenants/other')).status, 200)
  await grace.post(remove, { tenant_id: 'other' })
  t.equal((await asBob.get('/console/tenants/other')).status, 302, 'with the last role the account')
  t.equal(await services.users.byLogin('console', 'bob@example.test'), undefined)
})

void t.test('the last operator stays, and whoever removes themselves sees it', async (t) => {
  const { services, person } = await startConsole(t)
  const { roles } = services.consoleAccess
  const grace = await person('operator', 'grace')
  const remove = (someone: { userId: string }) => `${PEOPLE}/${someone.userId}/remove`
  const alone = await grace.post(remove(grace))
  t.match(alone, { status: 409, text: /last_operator/ })
  t.equal((await roles.of(grace.userId)).isOperator, true)

  const invited = await person('operator', 'not come yet')
  t.match(await grace.post(remove(grace)), { status: 409 }, 'an invitation alone runs nothing')
  await services.users.choosePassword('console', invited.userId, CONSOLE_PASSWORD, ACTOR)
  t.match((await grace.get(PEOPLE)).text, /grace.*This is you/s)
  t.match((await grace.get(remove(grace))).text, /This is you\./)
  t.match(await grace.post(remove(grace)), { status: 303 })
  t.equal((await roles.of(grace.userId)).isOperator, false)
})

void t.test('a page about nobody, or about another tenant’s person, is not there', async (t) => {
  const { person } = await startConsole(t)
  const grace = await person('operator')
  const ada = await person('acme')
  t.match(await grace.get(`${PEOPLE}/nobody/remove`), { status: 404 })
  t.match(await grace.get(`${PEOPLE}/${ada.userId}/remove`), { status: 404 }, 'no operator')
  t.match(await grace.get(`${PEOPLE}/${ada.userId}/remove?tenant_id=other`), { status: 404 })
  t.match(await grace.get(`${PEOPLE}/${ada.userId}/remove?tenant_id=acme`), { status: 200 })
})

void t.test('every administrator of very many is on a page', async (t) => {
  const { services, operator, tenant } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  await tenant('acme')
  const invited: string[] = []
  for (let index = 0; index < 5; index++) {
    const body = { email: `bob${index}@example.test`, tenant_id: 'acme' }
    invited.push(String((await operator('POST', '/console/people', body)).body['user_id']))
  }
  const found: string[] = []
  let next: string | null = ''
  for (let pages = 0; next !== null && pages < 5; pages++) {
    const cursor: string = next === '' ? '' : `&cursor=${next}`
    const answer = await operator('GET', `/console/people?tenant_id=acme&limit=2${cursor}`)
    t.ok(answer.items.length <= 2)
    found.push(...answer.items.map((item) => String(item['user_id'])))
    next = answer.next
  }
  t.same(found.sort(), invited.sort())
})

void t.test(
  'the pages of a tenant lead to who administers it, or let one invite them',
  async (t) => {
    const { person } = await startConsole(t)
    const grace = await person('operator')
    const ada = await person('acme')
    const link = 'href="/console/people?tenant_id=acme"'
    for (const page of ['users', 'settings'])
      t.match((await grace.get(`/console/tenants/acme/${page}`)).text, link, page)
    const { text } = await ada.get('/console/tenants/acme/users')
    t.notMatch(text, link)
    t.match(text, 'href="/console/tenants/acme/administrators"', 'where they invite one themselves')
  },
)

void t.test('nobody is invited to what is not there', async (t) => {
  const { services, person } = await startConsole(t)
  const grace = await person('operator')
  for (const tenantId of ['nobody', 'console'])
    t.match(
      await grace.post(PEOPLE, { email: 'bob@example.test', tenant_id: tenantId }),
      { status: /404|422/ },
      tenantId,
    )
  t.equal(await services.users.byLogin('console', 'bob@example.test'), undefined)
})

void t.test('a removed tenant takes its administrators’ roles with it', async (t) => {
  const { services, person } = await startConsole(t)
  const ada = await person('acme')
  await services.tenants.remove('acme', { name: 'test', requestId: 'test' })
  t.equal((await ada.get('/console/tenants/acme')).status, 404)
  t.same((await services.consoleAccess.roles.of(ada.userId)).tenantIds, [], 'nor by its next owner')
})

void t.test('the last operator stays one, by API as well', async (t) => {
  const { operator, services } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  const path = '/console/people'
  const invite = async (name: string) => {
    const { body } = await operator('POST', path, { email: `${name}@example.test` })
    const userId = String(body['user_id'])
    const password = 'by the long pier at noon'
    await services.users.patch(CONSOLE_REALM, userId, { password }, ACTOR)
    return `${path}/${userId}`
  }
  const [ada, bob] = [await invite('ada'), await invite('bob')]
  const viewer = { read_only: true }
  t.match(await operator('PATCH', ada, viewer), { status: 200, body: { role: 'viewer' } })
  const last = await operator('PATCH', bob, viewer)
  t.match(last, { status: 409, body: { error: 'last_operator' } })
  t.match((await operator('GET', path)).items, [{ role: 'viewer' }, { role: 'operator' }])
  t.match(await operator('PATCH', ada, { read_only: false }), { body: { role: 'operator' } })
  t.match(await operator('PATCH', bob, viewer), { status: 200 })
})

void t.test('the same by API', async (t) => {
  const { operator, services, tenant } = await startApi(t)
  await services.consoleAccess.ensureRealm()
  await tenant('acme')
  const path = '/console/people'
  const body = { email: 'bob@example.test', name: 'Bob', tenant_id: 'acme' }
  const { body: invited } = await operator('POST', path, body)
  const { items } = await operator('GET', `${path}?tenant_id=acme`)
  t.match(items, [{ user_id: invited['user_id'], role: 'administrator', email: body.email }])
  t.same((await operator('GET', path)).items, [], 'no operator')
  const one = `${path}/${String(invited['user_id'])}`
  t.match(await operator('DELETE', one), { status: 404 }, 'has no such role')
  t.match(await operator('PATCH', one, { read_only: true }), { status: 404 }, 'has no such role')
  const ofTenant = `${one}?tenant_id=acme`
  t.match(await operator('PATCH', ofTenant, { read_only: true }), {
    status: 200,
    body: { user_id: invited['user_id'], role: 'viewer' },
  })
  t.match(await operator('PATCH', ofTenant, { read_only: true }), { status: 200 }, 'once more')
  const trail = (await services.auditTrail.list({ limit: 1 }, { tenantId: 'acme' })).items
  const change = { from: { role: 'administrator' }, to: { role: 'viewer' } }
  t.match(trail, [{ action: 'console.role_changed', actor: 'operator', content: change }])
  t.match(await operator('PATCH', ofTenant, {}), { status: 400 }, 'nothing is left out')
  t.match(await operator('PATCH', ofTenant, { read_only: false }), {
    body: { role: 'administrator' },
  })
  t.match(await operator('DELETE', `${one}?tenant_id=acme`), { status: 204 })
  t.same((await operator('GET', `${path}?tenant_id=acme`)).items, [])
  t.match(await operator('POST', path, { ...body, tenant_id: 'nobody' }), { status: 404 })
})
