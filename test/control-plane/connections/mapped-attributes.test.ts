/** Which claims of a provider are which attributes of a person: what is missing says nothing. */
import t from 'tap'
import { mappedAttributes } from '../../../control-plane/connections/mapped-attributes.ts'
import { LIMITS } from '../../../shared/limits.ts'

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
  t.same(said({ dept: many }), { attributes: [], names: [] }, 'more than can be: nobody knows')
  t.equal(said({ dept: many.slice(1) }).attributes.length, LIMITS.attributeValuesMax)
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
