/** People that a provider pushes: made, read, changed and gone, and their sessions with them. */
import t from 'tap'
import { insertScimPerson } from '../../../control-plane/store/queries/scim.ts'
import { insertUser } from '../../../control-plane/store/queries/users.ts'
import { ENFORCED_BY_NOBODY } from '../../../control-plane/store/enforced.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { ada, ENTERPRISE, patching, personNamed, recordSession, startProvider } from './provider.ts'

/** How often the event loop goes round meanwhile. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<[number, T]> {
  let [turns, isOver] = [0, false]
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  const done = await work()
  isOver = true
  return [turns, done]
}

t.test('a person is made as a provisioned account, and read as it was sent', async (t) => {
  const { scim, services } = await startProvider(t)
  const made = await scim('POST', '/Users', ada)
  t.match(made, { status: 201, body: { ...ada, meta: { resourceType: 'User' } } })
  t.equal(made.headers.get('content-type'), 'application/scim+json')
  const id = made.body['id'] as string
  t.equal(made.headers.get('location'), `http://localhost:8080/scim/v2/acme/Users/${id}`)
  t.match(await scim('GET', `/Users/${id}`), { status: 200, body: { id, ...ada } })
  t.match(await services.users.get('acme', id), {
    username: 'ada@acme.example',
    email: 'ada@acme.example',
    name: 'Ada Lovelace',
    passwordHash: '',
    emailProvenAt: null,
    isDisabled: false,
  })
})

t.test(
  'a userName that is not the address of the person is theirs at the provider alone',
  async (t) => {
    const { push, scim, services } = await startProvider(t)
    const id = await push({ ...ada, userName: 'ada@acme.onmicrosoft.example' })
    const { username, email } = await services.users.get('acme', id)
    t.same([username, email], ['ada@acme.example', 'ada@acme.example'])
    const filter = encodeURIComponent('userName eq "ADA@acme.onmicrosoft.example"')
    t.match(await scim('GET', `/Users?filter=${filter}`), { body: { totalResults: 1 } })
  },
)

t.test('active: false ends the sessions of a person before the answer is given', async (t) => {
  const { push, scim, services } = await startProvider(t)
  const userId = await push()
  await recordSession(services, 'sid-ada', userId)
  const asked = Promise.withResolvers<void>()
  const enforced = Promise.withResolvers<void>()
  services.store.enforceBy(async () => {
    asked.resolve()
    await enforced.promise
    return { ...ENFORCED_BY_NOBODY, unreachable: ['edge-2'] }
  })
  let isAnswered = false
  const answer = scim(
    'PATCH',
    `/Users/${userId}`,
    patching({ op: 'Replace', path: 'active', value: 'False' }),
  )
  void answer.then(() => (isAnswered = true))
  await asked.promise
  t.notOk(isAnswered, 'gateways are waited for')
  enforced.resolve()
  t.match(await answer, { status: 200, body: { active: false } })
  const { subjects } = await services.revocations.revokedState('acme')
  t.ok(subjects[userId])
  const { items } = await services.sessions.list('acme', { limit: 10 })
  t.match(items, [{ sid: 'sid-ada', endReason: 'user_disabled' }])
  t.ok((await services.users.get('acme', userId)).isDisabled)
  const [newest] = await services.scimLog.list('acme', 1)
  t.match(newest, { method: 'PATCH', detail: /^Some gateways have not confirmed yet/ })
})

t.test('a person who is deleted is gone with their sessions, and may come again', async (t) => {
  const { push, scim, services } = await startProvider(t)
  const userId = await push()
  await recordSession(services, 'sid-ada', userId)
  t.equal((await scim('DELETE', `/Users/${userId}`)).status, 204)
  t.ok((await services.revocations.revokedState('acme')).subjects[userId])
  for (const method of ['GET', 'DELETE'])
    t.match(await scim(method, `/Users/${userId}`), { status: 404, body: { status: '404' } })
  t.equal(await services.users.find('acme', userId), undefined)
  t.not(await push(), userId)
})

t.test('PUT replaces what is known of a person, and not whether they may come in', async (t) => {
  const { push, scim } = await startProvider(t)
  const userId = await push({ ...ada, active: false, title: 'Countess' })
  const answer = await scim('PUT', `/Users/${userId}`, {
    userName: 'ada@acme.example',
    displayName: 'A. L.',
  })
  t.match(answer, {
    status: 200,
    body: { displayName: 'A. L.', active: false, externalId: 'ext-ada' },
  })
  t.notOk('title' in answer.body)
  t.match(await scim('PUT', `/Users/${userId}`, { displayName: 'x' }), { status: 400 })
})

t.test('lists are pages that count from 1', async (t) => {
  const { push, scim, clock } = await startProvider(t)
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await push(personNamed(name))
    clock.advance(1)
  }
  const named = async (query: string) => {
    const { body } = await scim('GET', `/Users?${query}`)
    const names = (body['Resources'] as { userName: string }[]).map(({ userName }) => userName)
    return [body['totalResults'], body['startIndex'], body['itemsPerPage'], names.join('')]
  }
  t.same(await named('startIndex=1&count=2'), [5, 1, 2, 'ab'])
  t.same(await named('startIndex=5&count=2'), [5, 5, 1, 'e'])
  t.same(await named('startIndex=0&count=-3'), [5, 1, 0, ''])
  t.same(await named('startIndex=6'), [5, 6, 0, ''])
  t.same(await named(''), [5, 1, 5, 'abcde'])
  t.match(await scim('GET', '/Users?startIndex=two'), {
    status: 400,
    body: { scimType: 'invalidValue' },
  })
})

t.test('very many people are listed in their order, with others in between', async (t) => {
  const { push, scim, services } = await startProvider(t)
  const first = await push(personNamed('first', { externalId: 'one' }))
  const { person, user } = await services.scimPeople.get('acme', first)
  const most = 2300 // more than are looked at in a turn, and all of one moment
  const idOf = (at: number) => `usr_f${String(at).padStart(31, '0')}`
  await services.store.change(async ({ queries }) => {
    for (let at = 0; at < most; at++) {
      const userId = idOf(at)
      const keys = { usernameKey: userId, emailKey: userId, isDisabled: at % 2 === 1 }
      await insertUser(queries, { ...user, userId, ...keys })
      await insertScimPerson(queries, { ...person, userId, userNameKey: userId })
    }
  })
  const ids = [first, ...Array.from({ length: most }, (_, at) => idOf(at))].sort()
  const listed = async (query: string) => {
    const { body } = await scim('GET', `/Users?${query}`)
    const found = (body['Resources'] ?? []) as { id: string }[]
    return [body['totalResults'], found.map(({ id }) => id)]
  }
  t.same(await listed('startIndex=2201&count=3'), [most + 1, ids.slice(2200, 2203)])
  const isOff = (id: string) => id !== first && Number(id.slice(5)) % 2 === 1
  const off = ids.filter(isOff)
  const [turns, seen] = await turnsDuring(() =>
    listed('filter=active%20eq%20false&startIndex=1100&count=3'),
  )
  t.same(seen, [off.length, off.slice(1099, 1102)])
  t.ok(turns > 1, `${turns} turns`)
  t.same(await listed('filter=active%20eq%20true&count=0'), [ids.length - off.length, []])
  const both = encodeURIComponent('active eq true and externalId eq "one"')
  t.same((await listed(`filter=${both}&count=0`))[0], ids.length - off.length)
  const mail = encodeURIComponent('emails.value eq "first@acme.example"')
  t.same(await listed(`filter=${mail}`), [1, [first]])
})

t.test(
  'an administrator who renames somebody is not overruled by what has not changed',
  async (t) => {
    const { push, scim, services } = await startProvider(t)
    const userId = await push()
    await services.users.patch('acme', userId, { name: 'Countess' }, ACTOR)
    await scim('PATCH', `/Users/${userId}`, patching({ op: 'add', path: 'title', value: 'x' }))
    t.equal((await services.users.get('acme', userId)).name, 'Countess')
    await scim(
      'PATCH',
      `/Users/${userId}`,
      patching({ op: 'replace', path: 'displayName', value: 'Ada L.' }),
    )
    t.equal((await services.users.get('acme', userId)).name, 'Ada L.')
  },
)

t.test('what a provider says of somebody at work is what rules can ask for', async (t) => {
  const { push, scim, services } = await startProvider(t)
  const ofWork = { costCenter: '4130', organization: 'Acme', division: 'Machines' }
  const all = { ...ofWork, department: 'Audit', manager: { value: 'boss-1', displayName: 'Boss' } }
  const userId = await push({ ...ada, userType: 'Employee', title: 'Lead', [ENTERPRISE]: all })
  const held = async () => {
    const rows = await services.personAttributes.list('acme', userId)
    t.ok(rows.every(({ source }) => source === 'scim'))
    return rows.map(({ name, value }) => `${name}=${value}`)
  }
  t.same(await held(), [
    'cost_center=4130',
    'department=Audit',
    'division=Machines',
    'manager=boss-1',
    'organization=Acme',
    'title=Lead',
    'user_type=Employee',
  ])
  t.match((await scim('GET', `/Users/${userId}`)).body, {
    userType: 'Employee',
    [ENTERPRISE]: { ...ofWork, department: 'Audit', manager: { value: 'boss-1' } },
  })
  const rules = [{ path: '/', allow: [{ attr: { department: 'Audit' } }] }]
  await services.accessRules.put('acme', { rules }, ACTOR)
  const change = (...operations: object[]) =>
    scim('PATCH', `/Users/${userId}`, patching(...operations))
  const outdated = async () =>
    Object.keys((await services.revocations.revokedState('acme')).claims ?? {})
  await change({ op: 'Replace', path: `${ENTERPRISE}:manager.displayName`, value: 'Other' })
  await change({ op: 'Add', path: `${ENTERPRISE}:manager`, value: { displayName: 'Other' } })
  t.ok((await held()).includes('manager=boss-1'), 'what a manager is called is not who it is')
  t.same(await outdated(), [], 'nothing that a rule asks for')
  await change(
    { op: 'Replace', path: `${ENTERPRISE}:manager`, value: 'boss-2' },
    { op: 'Replace', path: `${ENTERPRISE}:department`, value: 'Sales' },
    { op: 'Remove', path: `${ENTERPRISE}:division` },
    { op: 'Add', path: `${ENTERPRISE}:constructor`, value: 'x' },
  )
  t.same(await outdated(), [userId])
  const polluting = { op: 'Add', path: `${ENTERPRISE}:__proto__`, value: 'x' }
  t.equal((await change(polluting)).status, 400)
  t.same(await held(), [
    'cost_center=4130',
    'department=Sales',
    'manager=boss-2',
    'organization=Acme',
    'title=Lead',
    'user_type=Employee',
  ])
  await services.personAttributes.put(
    { tenantId: 'acme', userId },
    [{ name: 'department', value: 'Audit' }],
    ACTOR,
  )
  await scim('PUT', `/Users/${userId}`, ada)
  const left = await services.personAttributes.list('acme', userId)
  t.same(
    left.map(({ value, source }) => [value, source]),
    [['Audit', 'local']],
    'what is left out is gone, and what an administrator says stays',
  )
})

t.test('nobody who is new has a token that says otherwise', async (t) => {
  const { services, push, scim } = await startProvider(t)
  const rules = [{ path: '/', allow: [{ attr: { title: 'Lead' } }] }]
  await services.accessRules.put('acme', { rules }, ACTOR)
  const userId = await push({ ...ada, title: ' Lead ' })
  const outdated = async () =>
    Object.keys((await services.revocations.revokedState('acme')).claims ?? {})
  const held = await services.personAttributes.list('acme', userId)
  t.same(
    held.map(({ value }) => value),
    ['Lead'],
    'as a claim is read: nothing around it',
  )
  t.same(await outdated(), [], 'or gateways would be told of each person who is pushed')
  await scim('PATCH', `/Users/${userId}`, patching({ op: 'Remove', path: 'title' }))
  t.same(await outdated(), [userId])
})
