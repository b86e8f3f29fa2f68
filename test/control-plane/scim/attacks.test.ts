/** What somebody with a token of one tenant must not get at, and what no body may do to us. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { ada, patching, personNamed, startProvider, tokenFor } from './provider.ts'

const local = {
  username: 'lo',
  email: 'lo@acme.example',
  name: 'Lo',
  password: 'a long password 42',
}
const UNIQUENESS = { status: 409, body: { status: '409', scimType: 'uniqueness' } }

t.test('nobody who was here before is taken over, by whatever name or address', async (t) => {
  const { scim, push, services, operator } = await startProvider(t)
  const before = await services.users.create('acme', local, ACTOR)
  const attempts = [
    { ...ada, emails: [{ type: 'work', value: 'LO@acme.example' }] },
    { ...ada, userName: 'lo@acme.example' },
    { ...ada, userName: 'ＬＯ' },
    { ...ada, userName: 'Lo@ACME.example', emails: [{ type: 'work', value: 'x@acme.example' }] },
  ]
  for (const body of attempts) t.match(await scim('POST', '/Users', body), UNIQUENESS)
  const id = await push()
  const changes = [
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'lo@acme.example' },
    { op: 'replace', path: 'userName', value: 'lo@acme.example' },
    { op: 'replace', path: 'userName', value: 'LO' },
  ]
  for (const change of changes)
    t.match(await scim('PATCH', `/Users/${id}`, patching(change)), UNIQUENESS)
  t.match(await scim('PUT', `/Users/${id}`, attempts[0]), UNIQUENESS)
  t.same(await services.users.get('acme', before.userId), before)
  t.match(await scim('GET', `/Users/${id}`), { body: ada })
  t.equal((await operator('GET', '/tenants/acme/users')).items.length, 2)
  const found = await scim(
    'GET',
    `/Users?filter=${encodeURIComponent('emails eq "lo@acme.example"')}`,
  )
  t.match(found, { body: { totalResults: 0 } }, 'a provider does not see whom it has not made')
})

t.test('an account that an administrator hands over is the provider’s, as it was', async (t) => {
  const { scim, operator, services } = await startProvider(t)
  const before = await services.users.create('acme', local, ACTOR)
  const path = `/tenants/acme/users/${before.userId}/hand-over`
  const answer = { status: 200, body: { user_id: before.userId, user_name: 'lo@acme.example' } }
  t.match(await operator('POST', path), answer)
  t.match(await operator('POST', path), answer, 'once more is the same')
  t.equal((await operator('POST', '/tenants/other/users/x/hand-over')).status, 404)
  t.equal((await operator('POST', path.replace('acme', 'other'))).status, 404)
  const filter = encodeURIComponent('userName eq "lo@acme.example"')
  const found = { totalResults: 1, Resources: [{ id: before.userId, active: true }] }
  t.match(await scim('GET', `/Users?filter=${filter}`), { body: found })
  t.same(await services.users.get('acme', before.userId), before)
  const own = `/Users/${before.userId}`
  const disabling = patching({ op: 'replace', path: 'active', value: false })
  t.match(await scim('PATCH', own, disabling), { status: 200, body: { active: false } })
  t.match(await services.users.get('acme', before.userId), { username: 'lo', isDisabled: true })
})

t.test('two people cannot have one userName, nor one address', async (t) => {
  const { scim, push } = await startProvider(t)
  await push()
  t.match(await scim('POST', '/Users', { ...ada, userName: 'ADA@acme.example' }), UNIQUENESS)
  t.match(await scim('POST', '/Users', { ...ada, userName: 'other' }), UNIQUENESS)
  const at = await Promise.all(
    Array.from({ length: 10 }, () => scim('POST', '/Users', personNamed('bob'))),
  )
  t.equal(at.filter(({ status }) => status === 201).length, 1, 'of ten at once one gets in')
})

t.test('ids of others are nobody’s: another tenant’s, and of people not made here', async (t) => {
  const { call, scim, push, pushGroup, services } = await startProvider(t)
  const { token: key } = await tokenFor(services, 'other')
  const other = async (method: string, path: string, body?: object) =>
    call(method, `/scim/v2/other${path}`, body, { key })
  const [userId, groupId] = [await push(), await pushGroup('finance')]
  const before = await services.users.create('acme', local, ACTOR)
  const foreign = [
    `/Users/${userId}`,
    `/Groups/${groupId}`,
    '/Users/__proto__',
    '/Groups/constructor',
  ]
  const disabling = patching({ op: 'replace', path: 'active', value: false })
  const renaming = patching({ op: 'replace', path: 'displayName', value: 'x' })
  for (const path of foreign) {
    const body = path.startsWith('/Users') ? disabling : renaming
    t.match(await other('GET', path), { status: 404, body: { status: '404' } }, path)
    t.equal((await other('PATCH', path, body)).status, 404, path)
    t.equal((await other('PUT', path, { ...ada, displayName: 'x' })).status, 404, path)
    t.equal((await other('DELETE', path)).status, 404, path)
  }
  const own = `/Users/${before.userId}`
  for (const method of ['GET', 'DELETE']) t.equal((await scim(method, own)).status, 404)
  t.equal((await scim('PATCH', own, disabling)).status, 404)
  t.same(await services.users.get('acme', before.userId), before)
  t.match(await scim('GET', `/Users/${userId}`), { body: { active: true } })
  t.match(await scim('GET', `/Groups/${groupId}`), { body: { displayName: 'finance' } })
  const members = [{ value: userId }]
  const made = await other('POST', '/Groups', { displayName: 'theirs', members })
  t.match(made, { status: 201, body: { members: [] } }, 'a foreign person is no member')
  for (const all of ['/Users', '/Groups?filter=displayName%20eq%20%22finance%22'])
    t.match(await other('GET', all), { body: { totalResults: 0 } })
})

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

t.test('names that mean something to JavaScript mean nothing here', async (t) => {
  const { scim, push, pushGroup, clock } = await startProvider(t)
  const id = await push()
  const groupId = await pushGroup('finance')
  const bodies = NAMES.flatMap((name) => [
    `{"Operations":[{"op":"add","path":"${name}.polluted","value":"yes"}]}`,
    `{"Operations":[{"op":"add","path":"name.${name}","value":{"polluted":"yes"}}]}`,
    `{"Operations":[{"op":"replace","path":"${name}","value":{"polluted":"yes"}}]}`,
    `{"Operations":[{"op":"add","value":{"${name}":{"polluted":"yes"}}}]}`,
    `{"Operations":[{"op":"add","value":{"${name}.polluted":"yes"}}]}`,
    `{"Operations":[{"op":"add","value":{"name":{"${name}":{"polluted":"yes"}}}}]}`,
    `{"Operations":[{"op":"add","path":"emails[${name} eq \\"x\\"].${name}","value":"yes"}]}`,
    `{"Operations":[{"op":"add","path":"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:${name}","value":{"polluted":"yes"}}]}`,
    `{"${name}":{"polluted":"yes"},"Operations":[{"op":"add","path":"title","value":null}]}`,
  ])
  for (const raw of bodies)
    for (const path of [`/Users/${id}`, `/Groups/${groupId}`]) {
      clock.advance(50) // some a second, so that none is refused for the rate
      const { status } = await scim('PATCH', path, undefined, { raw })
      t.ok([200, 204, 400].includes(status), raw)
    }
  const answer = await scim('PUT', `/Users/${id}`, undefined, {
    raw: JSON.stringify(ada).replace('{', '{"__proto__":{"active":false},'),
  })
  t.match(answer, { status: 400, body: { scimType: 'invalidValue' } })
  t.same(Object.keys(Object.prototype), [])
  t.notOk('polluted' in {}, 'nothing was written to what all objects have')
  t.notOk('polluted' in Object || 'polluted' in Function.prototype)
  t.match(await scim('GET', `/Users/${id}`), { body: ada })
  t.match(await scim('GET', `/Groups/${groupId}`), { body: { displayName: 'finance' } })
})

const BODIES: readonly (readonly [title: string, raw: string, status: number, detail: RegExp])[] = [
  ['no JSON', '{', 400, /JSON/],
  ['nothing', '', 400, /JSON/],
  ['a list', '[]', 400, /JSON object/],
  ['a key twice', '{"userName":"a@x.example","userName":"b@x.example"}', 400, /twice/],
  ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 400, /deep/],
  ['no userName', '{"emails":[{"value":"a@x.example"}]}', 400, /userName/],
  ['no address', '{"userName":"a"}', 400, /emails\[type eq "work"\]/],
  ['a wrong address', '{"userName":"a","emails":[{"value":"a"}]}', 400, /address/],
  ['a userName that is a list', '{"userName":["a@x.example","b"]}', 400, /"userName" must be/],
  ['a name out of sight', '{"userName":"a\\u202eb@x.example"}', 400, /invisible/],
  ['a NUL', '{"userName":"a\\u0000@x.example"}', 400, /invisible/],
  ['half a character', '{"userName":"\\ud800@x.example"}', 400, /"userName" must be/],
  ['a userName too long', `{"userName":"${'a'.repeat(255)}"}`, 400, /254/],
  ['active as a number', '{"userName":"a@x.example","active":1}', 400, /true or false/],
  ['a name that is text', '{"userName":"a@x.example","name":"A"}', 400, /"name" must be/],
  ['addresses that are numbers', '{"userName":"a","emails":[1]}', 400, /"emails"/],
]

t.test('what is no person is refused, with what to do', async (t) => {
  const { scim, operator } = await startProvider(t)
  for (const [title, raw, status, detail] of BODIES)
    t.match(await scim('POST', '/Users', undefined, { raw }), { status, body: { detail } }, title)
  const type = 'text/plain'
  t.match(await scim('POST', '/Users', ada, { type }), { status: 415, body: { status: '415' } })
  const large = 'x'.repeat(LIMITS.scimBodyBytesMax + 1)
  t.match(await scim('POST', '/Users', undefined, { raw: large }), { status: 413 })
  const many = JSON.stringify({
    members: Array.from({ length: LIMITS.scimValuesMax + 1 }, () => 1),
  })
  t.match(await scim('POST', '/Groups', undefined, { raw: many }), { status: 413 })
  t.same((await operator('GET', '/tenants/acme/users')).items, [])
})

const OPERATIONS: readonly (readonly [operation: unknown, scimType: string])[] = [
  [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
  [{ path: 'title', value: 'x' }, 'invalidSyntax'],
  [{ op: 'remove' }, 'noTarget'],
  [{ op: 'add', value: 'x' }, 'invalidSyntax'],
  [{ op: 'add', path: 'title' }, 'invalidSyntax'],
  [{ op: 'add', path: 'emails[type eq "work"', value: 'x' }, 'invalidPath'],
  [{ op: 'add', path: 'a.b.c', value: 'x' }, 'invalidPath'],
  [{ op: 'add', path: 'title title', value: 'x' }, 'invalidPath'],
  [{ op: 'add', path: 7, value: 'x' }, 'invalidValue'],
  [{ op: 'add', path: 'x'.repeat(LIMITS.scimPathCharactersMax + 1), value: 'x' }, 'invalidPath'],
  [{ op: 'remove', path: 'userName' }, 'mutability'],
  [{ op: 'remove', path: 'active' }, 'mutability'],
  [{ op: 'replace', path: 'active', value: 'maybe' }, 'invalidValue'],
  ['add', 'invalidValue'],
]

t.test('an operation that is none is refused, and none of those beside it is done', async (t) => {
  const { scim, push } = await startProvider(t)
  const id = await push()
  const first = { op: 'replace', path: 'title', value: 'Countess' }
  for (const [operation, scimType] of OPERATIONS) {
    const body = { Operations: [first, operation] }
    const refused = { status: 400, body: { scimType } }
    t.match(await scim('PATCH', `/Users/${id}`, body), refused, JSON.stringify(operation))
  }
  const many = Array.from({ length: LIMITS.scimOperationsMax + 1 }, () => first)
  for (const Operations of [undefined, [], 'x', many])
    t.match(await scim('PATCH', `/Users/${id}`, { Operations }), { status: 400 })
  t.notOk('title' in (await scim('GET', `/Users/${id}`)).body)
})

const FILTERS = [
  'userName',
  'userName eq',
  'userName eq ada',
  'userName co "a"',
  'userName eq "a" or userName eq "b"',
  'not (userName eq "a")',
  '(userName eq "a")',
  'userName eq "a" and',
  'password eq "x"',
  '__proto__ eq "x"',
  'emails[type eq "home"].value eq "x"',
  'active eq "yes"',
  'userName eq "a',
  'userName eq "\\x"',
  Array.from({ length: 11 }, () => 'active eq true').join(' and '),
  `userName eq "${'a'.repeat(1000)}"`,
]

t.test('filters beyond eq and and are refused as such', async (t) => {
  const { scim, clock } = await startProvider(t)
  for (const filter of FILTERS)
    for (const path of ['/Users', '/Groups']) {
      clock.advance(50)
      const answer = await scim('GET', `${path}?filter=${encodeURIComponent(filter)}`)
      const refused = { status: 400, body: { scimType: 'invalidFilter' } }
      t.match(answer, refused, `${path} ${filter.slice(0, 60)}`)
    }
})

t.test('what is not there is 404, and another method 405, in SCIM’s own words', async (t) => {
  const { scim } = await startProvider(t)
  for (const path of ['/nothing', '/Bulk', '/Me', '/Users/a/b', '/'])
    t.match(await scim('GET', path), { status: 404, body: { status: '404' } }, path)
  for (const [method, path] of [
    ['DELETE', '/Users'],
    ['POST', '/Users/x'],
    ['POST', '/Schemas'],
  ] as const)
    t.match(await scim(method, path), { status: 405, body: { status: '405' } })
})

t.test('a list has so many at most', async (t) => {
  const { scim, services, clock } = await startProvider(t)
  const [token] = await services.scimTokens.list('acme')
  for (let at = 0; at <= LIMITS.scimPageItemsMax; at++)
    await services.scimPeople.create({ token: token!, actor: ACTOR }, personNamed(`p${at}`))
  clock.advance(1000)
  const body = { totalResults: LIMITS.scimPageItemsMax + 1, itemsPerPage: LIMITS.scimPageItemsMax }
  t.match(await scim('GET', '/Users?count=100000'), { status: 200, body })
})
