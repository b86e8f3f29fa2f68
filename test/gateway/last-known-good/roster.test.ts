import t from 'tap'
import { Roster } from '../../../gateway/last-known-good/roster.ts'

function rosterOf(...tenantIds: string[]) {
  const roster = new Roster()
  for (const tenantId of tenantIds) roster.fill(tenantId)
  return roster
}

t.test('it is the one that was written down with the very same tenants', (t) => {
  const written = rosterOf('ada', 'bob', 'cleo').written()
  for (const before of [written, { roster: written.roster }]) {
    t.ok(rosterOf('cleo', 'ada', 'bob', 'ada').is(before))
    for (const others of [[], ['ada', 'bob'], ['ada', 'bob', 'dora'], ['ada', 'bob', 'cleo', 'x']])
      t.notOk(rosterOf(...others).is(before), others.join())
  }
  const many = Array.from({ length: 1_000 }, (_, at) => `t-${at}`)
  const ofMany = rosterOf(...many).written()
  for (const gone of many) t.notOk(rosterOf(...many.filter((id) => id !== gone)).is(ofMany))
  t.end()
})

t.test('however it has come about, it is written down alike', (t) => {
  const written = rosterOf('ada', 'bob').written()
  const known = rosterOf('ada')
  t.ok(known.is(rosterOf('ada').written()))
  known.add('bob')
  known.add('bob')
  known.add('cleo')
  known.delete('cleo')
  known.delete('dora')
  t.same(known.written(), written)
  t.match(written, { roster: /^[0-9a-f]{64}$/ }, 'as versions of before read it')
  t.end()
})
