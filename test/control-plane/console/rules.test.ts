/** Access rules in the console: read, written, asked and shown with their effect before they are saved. */
import t, { type Test } from 'tap'
import { HOUR_MS } from '../../../shared/clock.ts'
import type { AccessRule } from '../../../shared/fleet/access-rules.ts'
import { ACTOR, movableClock } from '../../support/control-plane.ts'
import { giveRole, startConsole, type ConsoleAnswer } from '../../support/console.ts'

const PAGE = '/console/tenants/acme/rules'
const REPORTS: AccessRule = { path: '/reports', allow: [{ group: 'finance' }] }
const ADMIN: AccessRule = {
  path: '/admin',
  allow: [{ group: 'finance', strength: 'mfa', max_age: 900 }],
  deny: [{ not_network: 'office' }],
  widen: true,
}

async function startPage(t: Test) {
  const clock = movableClock()
  const world = await startConsole(t, { clock })
  const { services } = world
  await services.tenants.publish('acme', ACTOR)
  await services.groups.create('acme', { name: 'finance' }, ACTOR)
  const account = { username: 'bob', email: 'bob@example.test', name: 'Bob', password: '' }
  const bob = await services.users.create('acme', account, ACTOR)
  const issuedAtMs = clock.nowMs()
  const session = { tenantId: 'acme', sid: 'bobs', userId: bob.userId, ip: '198.51.100.7' }
  await services.sessions.record({
    ...session,
    userAgent: 'test',
    issuedAtMs,
    expiresAtMs: issuedAtMs + HOUR_MS,
  })
  const put = (...rules: AccessRule[]) =>
    services.accessRules.put('acme', { networks: { office: ['192.0.2.0/24'] }, rules }, ACTOR)
  const rules = async () => (await services.accessRules.of('acme')).rules
  return { ...world, clock, bob, put, rules, ada: await world.person('acme') }
}

/** What the forms of a page would send along. */
function hiddenIn({ text }: ConsoleAnswer, action: string): Record<string, string> {
  const [, form = ''] = text.split(`action="${action}"`)
  const fields = form.split('</form>')[0]!.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)
  const unescaped = (value: string) => value.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  return Object.fromEntries(
    [...fields]
      .map(([, name = '', value = '']) => [name, unescaped(value)] as const)
      .filter(([name]) => name !== 'csrf' && name !== 'form_id'),
  )
}

void t.test('each rule is a sentence, and an empty list says how to get the first', async (t) => {
  const { ada, put } = await startPage(t)
  t.match((await ada.get(PAGE)).text, /No access rules yet.*Add the first one/s)
  await put(REPORTS, ADMIN)
  const { text } = await ada.get(PAGE)
  t.match(text, '/reports and everything below it: open to members of finance.')
  t.match(
    text,
    '/admin and everything below it: open to members of finance with a second factor who signed in within the last 15 min, and never to anyone who is signed in from outside the network office. This also holds for people whom a rule above this path would refuse.',
  )
  t.match(text, /192\.0\.2\.0\/24.*\/admin and everything below it/s, 'the network and its rule')
  t.match(text, /Last saved <time.*by operator\./s)
})

void t.test('a rule is shown with its effect, and saved by a button', async (t) => {
  const { ada, rules } = await startPage(t)
  const form = await ada.get(`${PAGE}/new`)
  const hidden = hiddenIn(form, `${PAGE}/new`)
  const preview = await ada.post(`${PAGE}/new`, {
    ...hidden,
    path: '/reports',
    allow_1_group: 'finance',
    allow_2_max_age: '15 min',
    allow_2_mfa: 'on',
    allow_2_signed_in: 'on',
    deny_1_not_group: 'finance',
    methods: ['GET'],
  })
  t.equal(preview.status, 200)
  t.match(
    preview.text,
    'For the 1 person seen in the last 7 days: 1 path that someone could no longer open.',
  )
  t.match(preview.text, /Could no longer open it.*Bob/s)
  t.match(preview.text, 'Which paths people opened isn’t recorded')
  t.same(await rules(), [], 'nothing is saved yet')
  const sent = hiddenIn(preview, `${PAGE}/save`)
  const saved = await ada.post(`${PAGE}/save`, sent)
  t.match(saved, { status: 303, location: new RegExp(`^${PAGE}\\?done=`) })
  t.same(await rules(), [
    {
      path: '/reports',
      methods: ['GET'],
      allow: [{ group: 'finance' }, { signed_in: true, strength: 'mfa', max_age: 900 }],
      deny: [{ not_group: 'finance' }],
    },
  ])
  t.match((await ada.post(`${PAGE}/save`, sent)).text, /Somebody else changed these rules/)
  t.equal((await rules()).length, 1)
})

void t.test('what is wrong stands beside its field, and nothing is lost', async (t) => {
  const { ada, rules } = await startPage(t)
  const { version = '' } = hiddenIn(await ada.get(`${PAGE}/new`), `${PAGE}/new`)
  const sent = (form: Record<string, string | readonly string[]>) =>
    ada.post(`${PAGE}/new`, { version, ...form })
  const nobody = await sent({ path: '/reports' })
  t.match(nobody, { status: 422, text: /Choose who may open it/ })
  const wrong = await sent({ path: 'reports', allow_1_group: 'finance' })
  t.match(wrong, { status: 422, text: /id="path-error">Must be a path like/ })
  t.match(wrong.text, /<option value="finance" selected>/, 'what was typed')
  const age = await sent({ path: '/r', allow_2_max_age: 'soon' })
  t.match(age, { status: 422, text: /id="allow_2_max_age-error">Must be a length of time/ })
  const group = await sent({ path: '/r', allow_1_group: 'nobody' })
  t.match(group, { status: 422, text: /about groups of this tenant; create nobody first/ })
  const escaped = await sent({ path: '/a%20b', allow_1_signed_in: 'on' })
  t.match(escaped, { status: 422, text: /Rule 1 must be a plain path/ })
  const mixed = await sent({
    path: '/r',
    allow_1_mfa: 'on',
    allow_1_service: 'svc_0000000000000000',
  })
  t.match(mixed, { status: 422, text: /a machine has nothing else/ })
  t.same(await rules(), [])
})

void t.test('a rule is changed, moved and removed', async (t) => {
  const { ada, put, rules } = await startPage(t)
  await put(REPORTS, ADMIN)
  const form = await ada.get(`${PAGE}/1`)
  t.match(form.text, /value="15 min"/)
  t.match(form.text, /<option value="office" selected>/)
  const { version = '' } = hiddenIn(form, `${PAGE}/1`)
  const preview = await ada.post(`${PAGE}/1`, { version, path: '/admin', allow_1_group: 'finance' })
  t.match(preview.text, /Rule 2.*was .*with a second factor.*is .*members of finance/s)
  await ada.post(`${PAGE}/save`, hiddenIn(preview, `${PAGE}/save`))
  const changed = { path: '/admin', allow: [{ group: 'finance' }] }
  t.same(await rules(), [REPORTS, changed])

  const list = await ada.get(PAGE)
  const up = hiddenIn(list, `${PAGE}/1/move`)
  t.match(up, { to: 'up' })
  t.equal((await ada.post(`${PAGE}/1/move`, up)).status, 303)
  t.same(await rules(), [changed, REPORTS])
  t.match((await ada.post(`${PAGE}/1/move`, up)).text, /Somebody else changed these rules/)
  const down = hiddenIn(await ada.get(PAGE), `${PAGE}/0/move`)
  await ada.post(`${PAGE}/0/move`, down)
  t.same(await rules(), [REPORTS, changed])

  const question = await ada.get(`${PAGE}/0/remove`)
  t.match(question.text, /Remove the rule for \/reports\?.*Could open it.*Bob/s)
  await ada.post(`${PAGE}/save`, hiddenIn(question, `${PAGE}/save`))
  t.same(await rules(), [changed])
  t.equal((await ada.get(`${PAGE}/7`)).status, 404)
  t.equal((await ada.get(`${PAGE}/x`)).status, 404)
})

void t.test('a change that was made up is refused', async (t) => {
  const { ada, rules } = await startPage(t)
  const { version = '' } = hiddenIn(await ada.get(`${PAGE}/new`), `${PAGE}/new`)
  for (const edit of ['', '{}', '{"kind":"put","rule":{}}', '{"kind":"all","content":{"rules":1}}'])
    t.match((await ada.post(`${PAGE}/save`, { edit, version })).status, /4\d\d/, edit)
  t.same(await rules(), [])
})

void t.test('networks, the contact and all rules as JSON', async (t) => {
  const { ada, services, rules } = await startPage(t)
  const network = { name: 'office', entries: '192.0.2.0/24\n2001:db8::/32' }
  const preview = await ada.post(`${PAGE}/networks`, network)
  await ada.post(`${PAGE}/save`, hiddenIn(preview, `${PAGE}/save`))
  const { networks } = await services.accessRules.of('acme')
  t.same(networks, { office: ['192.0.2.0/24', '2001:db8::/32'] })
  t.match(await ada.post(`${PAGE}/networks`, { name: 'A B', entries: '192.0.2.1' }), {
    status: 422,
    text: /id="name-error">Must be the name of a network/,
  })
  t.match(await ada.post(`${PAGE}/networks`, { name: 'b', entries: 'nowhere' }), {
    status: 422,
    text: /The network b must be addresses/,
  })
  t.match(
    (await ada.post(`${PAGE}/networks`, { name: '__proto__', entries: '192.0.2.1' })).status,
    422,
  )

  const contact = hiddenIn(await ada.get(PAGE), `${PAGE}/contact`)
  await ada.post(`${PAGE}/contact`, { ...contact, contact: 'help@example.test' })
  t.match(await services.accessRules.of('acme'), { contact: 'help@example.test' })
  t.match(await ada.post(`${PAGE}/contact`, { ...contact, contact: 'javascript:alert(1)' }), {
    status: 422,
    text: /id="contact-error">Must be an email address/,
  })

  const json = await ada.get(`${PAGE}/json`)
  t.match(json.text, /help@example\.test/)
  const hidden = hiddenIn(json, `${PAGE}/json`)
  const all = { rules: [REPORTS] }
  const shown = await ada.post(`${PAGE}/json`, { ...hidden, rules: JSON.stringify(all) })
  t.match(shown.text, /Could no longer open it.*Bob/s)
  await ada.post(`${PAGE}/save`, hiddenIn(shown, `${PAGE}/save`))
  t.same(await services.accessRules.of('acme'), all)
  const again = hiddenIn(await ada.get(`${PAGE}/json`), `${PAGE}/json`)
  t.match(await ada.post(`${PAGE}/json`, { ...again, rules: '{"rules":[],"rules":[]}' }), {
    status: 422,
    text: /valid JSON/,
  })
  t.match(
    await ada.post(`${PAGE}/json`, { ...again, rules: '{"rules":[{"path":"/a","allow":[]}]}' }),
    {
      status: 422,
      text: /rules\.0\.allow must be a list of 1 to/,
    },
  )
  t.same(await rules(), [REPORTS])
})

void t.test('who can open a path is answered by the rule that decides', async (t) => {
  const { put, clock, services, bob, person } = await startPage(t)
  let asker = await person('acme')
  const who = (query: Record<string, string>) =>
    asker.get(`${PAGE}/who?${new URLSearchParams(query).toString()}`)
  t.notMatch((await who({})).text, /id="answer"/)
  const before = new Date(clock.nowMs()).toISOString().slice(0, 16).replace('T', ' ')
  clock.advance(HOUR_MS)
  asker = await person('acme') // a session of the console ends meanwhile
  await put(REPORTS, ADMIN)
  const no = await who({ path: '/reports/1?x=2', person: 'bob' })
  t.match(no.text, /No<.*Bob can’t open \/reports\/1\..*None of the ways.*Rule 1: \/reports/s)
  const then = await who({ path: '/reports', person: 'bob@example.test', at: before })
  t.match(then.text, /Yes<.*Bob could open \/reports\..*No rule names this path/s)
  const membership = { tenantId: 'acme', group: 'finance', userId: bob.userId, source: 'local' }
  await services.groups.add(membership as never, ACTOR)
  t.match((await who({ path: '/reports', person: 'bob' })).text, /Yes<.*Opened by:.*Rule 1/s)
  const denied = await who({ path: '/admin', person: 'bob', ip: '198.51.100.7', factor: 'on' })
  t.match(denied.text, /No<.*Refused by:.*Rule 2: never anyone who is signed in from outside/s)
  const asked = await who({ path: '/admin', person: 'bob', ip: '192.0.2.7' })
  t.match(asked.text, /Only after more proof.*second factor/s)
  const strong = { path: '/admin', person: 'bob', ip: '192.0.2.7', factor: 'on', ago: '10 min' }
  t.match((await who(strong)).text, /Yes<.*Opened by:.*Rule 2/s)
  t.match((await who({ ...strong, ago: '1 h' })).text, /Only after more proof/)
  t.match(await who({ path: '/x', person: 'nobody' }), { status: 422, text: /No user has the/ })
  t.match(await who({ path: '/x' }), { status: 422, text: /Enter a person/ })
  t.match(await who({ path: 'x', person: 'bob' }), { status: 422, text: /Must be a path as/ })
  t.match(await who({ path: '/x', person: 'bob', ip: 'here' }), {
    status: 422,
    text: /an IP address/,
  })
  t.match(await who({ path: '/x', person: 'bob', at: 'once' }), { status: 422, text: /in UTC/ })
  t.match(await who({ path: '/x', person: 'bob', ago: 'x' }), {
    status: 422,
    text: /length of time/,
  })
})

void t.test('groups are made, filled and deleted', async (t) => {
  const { ada, services, bob, put } = await startPage(t)
  const groups = '/console/tenants/acme/groups'
  t.match((await ada.get(groups)).text, /finance/)
  t.match(
    (await ada.post(groups, { name: 'admins', description: '' })).location,
    `${groups}/admins`,
  )
  t.match(await ada.post(groups, { name: 'Admins' }), { status: 409, text: /already has a group/ })
  t.match((await ada.get(`${groups}/admins`)).text, /No members yet/)
  await ada.post(`${groups}/admins/add`, { person: 'bob' })
  t.match((await ada.get(`${groups}/admins`)).text, /Bob.*Added here.*Remove/s)
  t.match(await ada.post(`${groups}/admins/add`, { person: 'eve' }), {
    status: 422,
    text: /No user has the username or email/,
  })
  const scim = { tenantId: 'acme', group: 'admins', userId: bob.userId, source: 'scim' } as const
  await services.groups.add(scim, ACTOR)
  t.match((await ada.get(`${groups}/admins`)).text, /Provisioning/)
  await ada.post(`${groups}/admins/remove`, { user_id: bob.userId })
  const { items } = await services.groups.members('acme', 'admins', { limit: 5 })
  t.same(
    items.map(({ source }) => source),
    ['scim'],
  )
  await put(REPORTS)
  t.match((await ada.post(`${groups}/finance/delete`)).text, /Access rules use this group/)
  t.match((await ada.get(`${groups}/admins/delete`)).text, /Delete admins\?/)
  await ada.post(`${groups}/admins/delete`)
  t.same(
    (await services.groups.list('acme')).map(({ name }) => name),
    ['finance'],
  )
})

void t.test('very many rules and groups are on pages of their own', async (t) => {
  const { ada, services, put } = await startPage(t)
  const many = Array.from({ length: 103 }, (_, at): AccessRule => ({ ...REPORTS, path: `/p${at}` }))
  await put(...many)
  const numbersOf = ({ text }: ConsoleAnswer) =>
    [...text.matchAll(/(\d+)\. <span class="said">/g)].map(([, number]) => Number(number))
  const first = await ada.get(PAGE)
  t.equal(numbersOf(first).length, 100)
  t.match(first.text, `${PAGE}?cursor=100`)
  t.same(numbersOf(await ada.get(`${PAGE}?cursor=100`)), [101, 102, 103])
  t.equal(numbersOf(await ada.get(`${PAGE}?cursor=500`)).length, 100, 'fewer by now')
  t.equal((await ada.get(`${PAGE}?cursor=x`)).status, 400)
  const groups = '/console/tenants/acme/groups'
  for (let at = 10; at < 63; at++) await services.groups.create('acme', { name: `g${at}` }, ACTOR)
  const namesOf = ({ text }: ConsoleAnswer) =>
    [...text.matchAll(/groups\/(g\d\d)"/g)].map(([, name]) => name)
  t.equal(namesOf(await ada.get(groups)).length, 49)
  t.same(namesOf(await ada.get(`${groups}?cursor=g58`)), ['g59', 'g60', 'g61', 'g62'])
  t.same(namesOf(await ada.get(`${groups}?limit=2&cursor=g10`)), ['g11', 'g12'])
})

void t.test('who may only look sees rules and groups, and nothing to press', async (t) => {
  const { put, person, services } = await startPage(t)
  await put(REPORTS, ADMIN)
  const eve = await person(undefined)
  await giveRole(services, eve.userId, 'acme', true)
  const { text } = await eve.get(PAGE)
  t.match(text, /members of finance/)
  t.notMatch(text, /Add a rule|\/remove"|\/move"|Save contact/)
  t.notMatch((await eve.get('/console/tenants/acme/groups/finance')).text, /Add a person|Delete/)
  t.match((await eve.get(`${PAGE}/who?path=/reports&person=bob`)).text, /Bob can’t open/)
})

void t.test('a rule asks for attributes: typed, shown, and told what is wrong', async (t) => {
  const { ada, put, rules, bob, services } = await startPage(t)
  await put()
  const rule: AccessRule = {
    path: '/audit',
    allow: [{ attr: { department: 'audit, tax', floor: 'a=b' } }],
  }
  const typed = {
    path: '/audit',
    allow_1_attr: 'department = audit, tax\r\nfloor = a=b\r\n',
    version: hiddenIn(await ada.get(`${PAGE}/new`), `${PAGE}/new`)['version'] ?? '',
  }
  for (const [attr, wish] of [
    ['department', /NAME = VALUE/],
    ['Department = audit', /lower-case/],
    ['__proto__ = x', /NAME = VALUE/],
    ['floor = 1\nfloor = 2', /each name once/],
  ] as const) {
    const wrong = await ada.post(`${PAGE}/new`, { ...typed, allow_1_attr: attr })
    t.equal(wrong.status, 422, attr)
    t.match(wrong.text, wish, attr)
  }
  const preview = await ada.post(`${PAGE}/new`, typed)
  t.match(preview.text, 'with department “audit, tax” with floor “a=b”')
  await ada.post(`${PAGE}/save`, hiddenIn(preview, `${PAGE}/save`))
  t.same(await rules(), [rule])
  const form = await ada.get(`${PAGE}/0`)
  t.match(form.text, 'department = audit, tax\nfloor = a=b')

  const page = `/console/tenants/acme/users/${bob.userId}`
  t.match((await ada.get(page)).text, 'No attributes.')
  const wrong = await ada.post(`${page}/attributes`, { attribute_lines: 'audit' })
  t.equal(wrong.status, 422)
  const attributes = 'department = audit, tax\nfloor = a=b'
  t.equal((await ada.post(`${page}/attributes`, { attribute_lines: attributes })).status, 303)
  t.match((await ada.get(page)).text, /audit, tax.*an administrator/s)
  t.match((await ada.get(`${page}/attributes`)).text, attributes)
  const asked = await ada.get(`${PAGE}/who?path=/audit&person=bob`)
  t.match(asked.text, /Yes.*Attributes: department = audit, tax, floor = a=b/s)
  await services.personAttributes.put({ tenantId: 'acme', userId: bob.userId }, [], ACTOR)
  t.match((await ada.get(`${PAGE}/who?path=/audit&person=bob`)).text, /can’t open/)
})
