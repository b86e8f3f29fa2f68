/** What Entra and Okta really send, request by request, and what becomes of a person and a group. */
import t from 'tap'
import { ada, ENTERPRISE, GROUP, patching, startProvider, USER } from './provider.ts'

const WORK = 'emails[type eq "work"].value'

const created = {
  Entra: {
    schemas: [USER, ENTERPRISE],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName: 'test_user_ab6490ee@acme.onmicrosoft.example',
    active: true,
    addresses: [{ primary: false, type: 'work', country: 'Norway', formatted: 'Oslo' }],
    displayName: 'Test User',
    emails: [{ primary: true, type: 'work', value: 'test.user@acme.example' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    phoneNumbers: [{ primary: true, type: 'mobile', value: '123' }],
    roles: [],
    title: 'Manager',
    [ENTERPRISE]: { department: 'Sales', employeeNumber: '42', manager: '26118915' },
  },
  Okta: {
    schemas: [USER],
    userName: 'test.user@acme.example',
    name: { givenName: 'Test', familyName: 'User', middleName: 'X' },
    emails: [
      { primary: true, value: 'test.user@acme.example', type: 'work' },
      { primary: false, value: 'at.home@mail.example', type: 'home' },
    ],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq-Long-Enough',
    active: true,
  },
} as const

const NOT_KEPT = {
  Entra: ['addresses', 'phonenumbers', 'roles'],
  Okta: ['name.middlename', 'further emails', 'locale'],
} as const

for (const [provider, body] of Object.entries(created))
  t.test(`${provider} creates a person; what is not kept is named in the log`, async (t) => {
    const { scim, services } = await startProvider(t)
    const looked = `/Users?filter=${encodeURIComponent(`userName eq "${body.userName}"`)}`
    const empty = { totalResults: 0, Resources: [] }
    t.match(await scim('GET', `${looked}&startIndex=1&count=100`), { status: 200, body: empty })
    const made = await scim('POST', '/Users', body)
    const { userName, externalId, displayName, active } = body
    t.match(made, { status: 201, body: { userName, externalId, displayName, active } })
    t.notMatch(JSON.stringify(made.body), /password|1mz050nq|addresses|home/)
    t.match(await scim('GET', looked), { body: { totalResults: 1, Resources: [made.body] } })
    const user = await services.users.get('acme', made.body['id'] as string)
    t.match(user, { passwordHash: '', email: 'test.user@acme.example' })
    const [, newest] = await services.scimLog.list('acme', 5)
    t.match(newest, { method: 'POST', status: 201 })
    for (const name of NOT_KEPT[provider as 'Entra']) t.match(newest?.detail, name)
  })

/** Operations, and what a person is then, beside what they were. */
const PATCHES: Readonly<Record<string, readonly [operations: readonly object[], after: object]>> = {
  'Entra: an address and a name': [
    [
      { op: 'Replace', path: WORK, value: 'new@acme.example' },
      { op: 'Replace', path: 'name.familyName', value: 'Byron' },
    ],
    {
      emails: [{ value: 'new@acme.example', type: 'work', primary: true }],
      name: { givenName: 'Ada', familyName: 'Byron' },
    },
  ],
  'Entra: a userName': [
    [{ op: 'Replace', path: 'userName', value: '5b50642d@acme.onmicrosoft.example' }],
    { userName: '5b50642d@acme.onmicrosoft.example', emails: ada.emails },
  ],
  'Entra: disabled, as text': [
    [{ op: 'Replace', path: 'active', value: 'False' }],
    { active: false },
  ],
  'Entra: disabled, as JSON': [
    [{ op: 'Replace', path: 'active', value: false }],
    { active: false },
  ],
  'Entra: disabled, as a list': [
    [{ op: 'Replace', path: 'active', value: [{ $ref: null, value: 'False' }] }],
    { active: false },
  ],
  'Entra: without a path, dotted and with URNs': [
    [
      {
        op: 'Add',
        value: {
          displayName: 'A. L.',
          'name.givenName': 'Augusta',
          [WORK]: 'new@acme.example',
          [`${ENTERPRISE}:department`]: 'Engines',
          [`${USER}:title`]: 'Countess',
          active: 'True',
        },
      },
    ],
    {
      displayName: 'A. L.',
      name: { givenName: 'Augusta', familyName: 'Lovelace' },
      emails: [{ value: 'new@acme.example' }],
      title: 'Countess',
      [ENTERPRISE]: { department: 'Engines' },
    },
  ],
  'Entra: of the enterprise schema': [
    [
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Engines' },
      { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'usr_boss' },
      { op: 'Add', path: ENTERPRISE.toUpperCase(), value: { EmployeeNumber: 7 } },
    ],
    {
      schemas: [USER, ENTERPRISE],
      [ENTERPRISE]: { department: 'Engines', employeeNumber: '7', manager: { value: 'usr_boss' } },
    },
  ],
  'Entra: attributes that are not kept do no harm': [
    [
      { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '123' },
      { op: 'Replace', path: 'addresses[type eq "work"].formatted', value: 'Oslo' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'admin' },
      { op: 'Replace', path: 'emails[type eq "home"].value', value: 'home@mail.example' },
      { op: 'Add', path: 'urn:ietf:params:scim:schemas:extension:acme:2.0:User:badge', value: '1' },
      { op: 'Replace', path: 'TITLE', value: 'Countess' },
    ],
    { title: 'Countess', emails: ada.emails },
  ],
  'Entra: what is removed': [
    [
      { op: 'Remove', path: 'name.givenName' },
      { op: 'Remove', path: 'externalId' },
    ],
    { externalId: undefined, name: { givenName: undefined, familyName: 'Lovelace' } },
  ],
  'Okta: deactivated': [[{ op: 'replace', value: { active: false } }], { active: false }],
  'Okta: a name, in part': [
    [{ op: 'replace', value: { name: { familyName: 'Byron' }, displayName: 'Ada Byron' } }],
    { displayName: 'Ada Byron', name: { givenName: 'Ada', familyName: 'Byron' } },
  ],
  'Okta: addresses as a whole': [
    [
      {
        op: 'replace',
        path: 'emails',
        value: [
          { value: 'home@mail.example', type: 'home', primary: false },
          { value: 'new@acme.example', type: 'work', primary: true },
        ],
      },
    ],
    { emails: [{ value: 'new@acme.example', type: 'work', primary: true }] },
  ],
}

for (const [title, [operations, after]] of Object.entries(PATCHES))
  t.test(`a person after ${title}`, async (t) => {
    const { scim, push } = await startProvider(t)
    const id = await push()
    const answer = await scim('PATCH', `/Users/${id}`, patching(...operations))
    const { meta: _, ...same } = { ...ada, meta: {} }
    t.match(answer, { status: 200, body: { ...same, schemas: [USER], ...after, id } })
    t.same((await scim('GET', `/Users/${id}`)).body, answer.body)
  })

t.test('Okta replaces a person as a whole, and activates them again', async (t) => {
  const { scim, push } = await startProvider(t)
  const id = await push({ ...created.Okta, active: false })
  const body = { ...created.Okta, id, meta: { resourceType: 'User' }, displayName: 'T. User' }
  t.match(await scim('PUT', `/Users/${id}`, body), {
    status: 200,
    body: { id, displayName: 'T. User', active: true },
  })
})

t.test('Entra pushes a group', async (t) => {
  const { scim, push, membersOf } = await startProvider(t)
  const adaId = await push()
  const looked = `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "Sales"')}`
  t.match(await scim('GET', looked), { body: { totalResults: 0 } })
  const made = await scim('POST', '/Groups', {
    schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'Sales',
    meta: { resourceType: 'Group' },
  })
  t.match(made, { status: 201, body: { displayName: 'Sales', members: [] } })
  const id = made.body['id'] as string
  t.match(await scim('GET', looked), { body: { totalResults: 1, Resources: [{ id }] } })
  const member = [{ $ref: null, value: adaId }]
  const patch = async (operation: object) =>
    t.equal((await scim('PATCH', `/Groups/${id}`, patching(operation))).status, 204)
  await patch({ op: 'Replace', path: 'displayName', value: 'Sales EMEA' })
  await patch({ op: 'Add', path: 'members', value: member })
  t.same(await membersOf(id), [adaId])
  const asks = encodeURIComponent(`id eq "${id}" and members eq "${adaId}"`)
  t.match(await scim('GET', `/Groups?filter=${asks}`), { body: { totalResults: 1 } })
  await patch({ op: 'Remove', path: 'members', value: member })
  t.same(await membersOf(id), [])
  t.equal((await scim('DELETE', `/Groups/${id}`)).status, 204)
})

t.test('Okta pushes a group', async (t) => {
  const { scim, push, membersOf } = await startProvider(t)
  const adaId = await push()
  const members = [{ value: adaId, display: 'ada@acme.example' }]
  const made = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Test', members })
  const id = made.body['id'] as string
  t.match(made, { status: 201, body: { members: [{ value: adaId }] } })
  const operations = [
    { op: 'replace', value: { id, displayName: 'Test SCIMv2' } },
    { op: 'remove', path: `members[value eq "${adaId}"]` },
  ]
  t.equal((await scim('PATCH', `/Groups/${id}`, patching(...operations))).status, 204)
  t.match(await scim('GET', `/Groups/${id}`), { body: { displayName: 'Test SCIMv2', members: [] } })
  await scim('PATCH', `/Groups/${id}`, patching({ op: 'add', path: 'members', value: members }))
  t.same(await membersOf(id), [adaId])
  const body = { schemas: [GROUP], id, displayName: 'Test SCIMv2', members: [] }
  t.match(await scim('PUT', `/Groups/${id}`, body), { status: 200, body: { members: [] } })
})

t.test('what there is to push is described', async (t) => {
  const { scim } = await startProvider(t)
  t.match(await scim('GET', '/ServiceProviderConfig'), {
    status: 200,
    body: { patch: { supported: true }, bulk: { supported: false }, filter: { supported: true } },
  })
  t.match(await scim('GET', '/ResourceTypes'), { body: { totalResults: 2 } })
  t.match(await scim('GET', '/ResourceTypes/Group'), { body: { endpoint: '/Groups' } })
  t.match(await scim('GET', '/Schemas'), { body: { totalResults: 3 } })
  t.match(await scim('GET', `/Schemas/${USER}`), { body: { id: USER, name: 'User' } })
  t.match(await scim('GET', '/Schemas/nothing'), { status: 404, body: { status: '404' } })
})

const FILTERS: readonly (readonly [filter: string, total: number])[] = [
  ['userName eq "ADA@acme.example"', 1],
  ['username EQ "ada@acme.example"', 1],
  [`${USER}:userName eq "ada@acme.example"`, 1],
  ['externalId eq "ext-ada"', 1],
  ['externalId eq "EXT-ada"', 0],
  ['emails[type eq "work"].value eq "Ada@acme.example"', 1],
  ['emails.value eq "ada@acme.example"', 1],
  ['emails eq "ada@acme.example"', 1],
  ['emails[type eq "work" and value eq "ada@acme.example"]', 1],
  ['displayName eq "ada lovelace"', 1],
  ['active eq true', 1],
  ['active eq "False"', 0],
  ['userName eq "ada@acme.example" and active eq true', 1],
  ['userName eq "ada@acme.example" and active eq false', 0],
  ['id eq "usr_nobody"', 0],
  [`userName eq "x' OR '1'='1"`, 0],
  ['userName eq "\\u0000"', 0],
]

t.test('filters find whom they mean', async (t) => {
  const { scim, push } = await startProvider(t)
  await push()
  for (const [filter, total] of FILTERS) {
    const answer = await scim('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    t.match(answer, { status: 200, body: { totalResults: total } }, filter)
  }
})
