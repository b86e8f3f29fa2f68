import t from 'tap'
import { readIndex } from '../../../gateway/last-known-good/stored-records.ts'

const read = (content: unknown) => readIndex({ kind: 'read', content, isOld: false })

t.test('an index is taken whole, or not at all', (t) => {
  const ada: unknown[] = ['ada', 1, 2, '2.f', ['ada.example', 'a.example']]
  t.same(read([]), { kind: 'read', record: [] })
  t.same(read([ada, ['bob', 0, 0, '', []]]), { kind: 'read', record: [ada, ['bob', 0, 0, '', []]] })
  for (const [name, content] of Object.entries({
    'no list': {},
    'no entry': [null],
    'an object': [Object.assign({}, ada)],
    'too short': [ada.slice(0, 4)],
    'too long': [[...ada, 1]],
    'no id': [ada.with(0, 7)],
    'an id that is a path': [ada.with(0, '../ada')],
    'a sync below zero': [ada.with(1, -1)],
    'a revision that is a text': [ada.with(2, '2')],
    'half a revision': [ada.with(2, 1.5)],
    'no version': [ada.with(3, null)],
    'no hosts': [ada.with(4, 'ada.example')],
    'a host in capitals': [ada.with(4, ['ADA.example'])],
    'a host that is none': [ada.with(4, ['ada.example', { length: 3 }])],
    'one of two': [ada, ada.with(4, ['a b'])],
  }))
    t.match(read(content), { kind: 'damaged' }, name)
  t.end()
})
