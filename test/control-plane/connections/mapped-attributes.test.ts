/** Which claims of a provider are which attributes of a person: what is missing says nothing. */
import t from 'tap'
import {
  mappedAttributes,
  takeUnmappedAttributes,
} from '../../../control-plane/connections/mapped-attributes.ts'
import { insertAttributes } from '../../../control-plane/store/queries/attributes.ts'
import { isAnother } from '../../../control-plane/tenants/person-attributes.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Change, Store } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const MAPPING = [
  { attribute: 'department', claim: 'dept' },
  { attribute: 'floor', claim: 'https://acme.example/floor' },
]

function said(claims: Record<string, unknown>) {
  const { attributes, names = new Set() } = mappedAttributes(MAPPING, claims)
  return { attributes: attributes.map(({ name, value }) => `${name}=${value}`), names: [...names] }
}

t.test('a claim that is missing says nothing, an empty one takes the attribute away', async (t) => {
  t.same(said({}), { attributes: [], names: [] })
  for (const dept of [null, '', '  ', [], [''], {}, ['a\u0000'], ['x'.repeat(201)]])
    t.same(said({ dept }), { attributes: [], names: ['department'] }, JSON.stringify(dept))
  const many = Array.from({ length: LIMITS.attributeValuesMax + 1 }, (_, at) => `v${at}`)
  const crowded = mappedAttributes(MAPPING, { dept: many })
  t.same(crowded.attributes, [], 'of more than can be none is given')
  t.same([...(crowded.names ?? [])], ['department'])
  const row = { tenantId: 'acme', userId: 'usr_a', name: 'department', createdAt: 1 }
  const held = (value: string) => [{ ...row, value, source: 'connection' } as const]
  t.notOk(isAnother(held('v3'), 'connection', crowded), 'what is said among them stays')
  t.ok(isAnother(held('audit'), 'connection', crowded), 'and what is said no more is gone')
  t.equal(said({ dept: many.slice(1) }).attributes.length, LIMITS.attributeValuesMax)
})

t.test('nobody has more by a connection than a person may have', async (t) => {
  const values = Array.from({ length: LIMITS.attributeValuesMax }, (_, at) => `v${at}`)
  const mapping = Array.from({ length: LIMITS.connectionAttributesMax }, (_, at) => {
    return { attribute: `a${at}`, claim: 'all' }
  })
  const { attributes, names, still } = mappedAttributes(mapping, { all: values })
  t.equal(attributes.length, LIMITS.attributesPerPersonMax)
  t.equal(names?.size, mapping.length, 'and of all of them it is the word')
  t.equal(still?.size, mapping.length * values.length - attributes.length)
})

t.test('texts, numbers and truths count, each once, as they are spelled', async (t) => {
  t.same(said({ dept: ' audit ', 'https://acme.example/floor': 3 }), {
    attributes: ['department=audit', 'floor=3'],
    names: ['department', 'floor'],
  })
  t.same(said({ dept: ['Audit', 'sales', 'sales', true, { a: 1 }, null] }).attributes, [
    'department=Audit',
    'department=sales',
    'department=true',
  ])
})

t.test('no claim is one that everything has', async (t) => {
  for (const claim of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const mapping = [{ attribute: 'department', claim }]
    t.same([...(mappedAttributes(mapping, {}).names ?? [])], [], claim)
    const sent = JSON.parse(`{"${claim}":"audit"}`) as Record<string, unknown>
    t.same(mappedAttributes(mapping, sent).attributes, [{ name: 'department', value: 'audit' }])
  }
})

/** With how many statements it writes. */
function counting(store: Store) {
  const count = { writes: 0 }
  const counted = (change: Change): Change => {
    const queries = new Proxy(change.queries, {
      get(target, name) {
        if (name === 'insert' || name === 'delete' || name === 'update') count.writes++
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    return { ...change, queries }
  }
  const change: Store['change'] = (work) => store.change((change) => work(counted(change)))
  return { count, store: { ...store, change } }
}

t.test('what is mapped no more is taken from a hundred people at a time, together', async (t) => {
  const clock = movableClock()
  const { tenants, accessRules, revocations, store, auditTrail } = await startServices(t, { clock })
  await tenants.create(tenantNamed('acme'), ACTOR)
  const rules = [{ path: '/', allow: [{ attr: { department: 'audit' } }] }]
  await accessRules.put('acme', { rules }, ACTOR)
  const row = (userId: string, value: string, source: 'connection' | 'scim' = 'connection') => {
    return { tenantId: 'acme', name: 'department', userId, value, source, createdAt: 1 }
  }
  const take = async (rows: ReturnType<typeof row>[]) => {
    await store.change(({ queries }) => insertAttributes(queries, rows))
    const counted = counting(store)
    await takeUnmappedAttributes(counted.store, 'acme', ACTOR)
    return counted.count.writes
  }
  const one = await take([row('usr_first', 'audit')])
  const people = Array.from({ length: 100 }, (_, at) => `usr_${at}`)
  const all = await take([
    ...people.map((userId) => row(userId, 'audit')),
    row('usr_0', 'tax'),
    row('usr_1', 'audit', 'scim'),
  ])
  t.ok(all <= 2 * one, `${all} writes for a hundred people, ${one} for one`)
  const left = await store.read.select().from(schema.personAttributes)
  t.same(left, [row('usr_1', 'audit', 'scim')], 'what another source says stays')
  t.equal((await store.read.select().from(schema.pastAttributes)).length, 102)
  const { claims = {} } = await revocations.revokedState('acme')
  const outdated = ['usr_first', ...people.filter((userId) => userId !== 'usr_1')]
  t.same(Object.keys(claims).sort(), outdated.sort(), 'whose tokens say what is so no more')
  const { items } = await auditTrail.list({ limit: 5 }, { tenantId: 'acme' })
  const said = { source: 'connection', added: [] }
  t.same(
    items.slice(0, 2).map(({ content }) => content),
    [
      { users: 100, ...said, removed: ['department=audit', 'department=tax'] },
      { user_id: 'usr_first', ...said, removed: ['department=audit'] },
    ],
  )
})
