/** Rules of paths below each other: what they take to be asked grows with their number, and with nothing else. */
import t from 'tap'
import { compileAccess } from '../../../shared/enforcement/access-rules.ts'
import type { AccessRule } from '../../../shared/fleet/access-rules.ts'

const DEPTH = 12
const SLOTS = [{ group: 'staff', slot: 0, since: 1 }]
const PATH = '/a'.repeat(DEPTH)

/** Two at each path that everybody fulfils, and above all of them one that nobody does. */
const RULES: readonly AccessRule[] = [
  { path: '/', allow: [{ group: 'staff' }] },
  ...Array.from({ length: DEPTH }, (_, at): AccessRule => ({
    path: '/a'.repeat(at + 1),
    allow: [{ not_group: 'staff' }],
  })).flatMap((rule) => [rule, rule]),
]

/** Somebody of no group, and how often they were asked for their groups. */
function somebody() {
  const asked = { times: 0 }
  const facts = {
    ...{ clientAddress: '192.0.2.1', nowSeconds: 10, authTime: 10, isStrong: false },
    groupsVersion: 1,
    get groupBits() {
      asked.times++
      return new Uint8Array([0])
    },
  }
  return { asked, facts }
}

// Each rule that held asked for all that is above: twenty paths with two rules each took a second, thirty
// some minutes, of every worker that anybody of that tenant asked.
t.test('what is above is asked once, however many rules of a path hold', async (t) => {
  const access = compileAccess({ rules: [...RULES], slots: SLOTS }, () => false)
  const host = 'app.test'
  for (const path of [PATH, `${PATH}/x.json`, `/x/..;${PATH}`]) {
    const { asked, facts } = somebody()
    t.equal(access.judge({ host, method: 'GET', path }, facts).kind, 'denied')
    t.ok(asked.times <= 12 * RULES.length, `${path}: ${asked.times}`)
  }
  const { asked, facts } = somebody()
  t.equal(access.explain({ host, method: 'GET', path: PATH }, facts).kind, 'closed')
  t.ok(asked.times <= 4 * RULES.length, `explained: ${asked.times}`)
})

t.test('one that widens still opens what those beside it leave closed', async (t) => {
  const widening: AccessRule = { path: PATH, allow: [{ not_group: 'staff' }], widen: true }
  const rules = [...RULES, widening]
  const access = compileAccess({ rules, slots: SLOTS }, () => false)
  const { facts } = somebody()
  const asked = { host: 'app.test', method: 'GET', path: PATH }
  t.equal(access.judge(asked, facts).kind, 'allowed')
  t.same(access.explain(asked, facts), { kind: 'opened', rules: [rules.length - 1] })
})

// A short name stands for many paths, and what is above all of them was asked for each: 80 ms of a worker.
t.test('what is above several paths is asked once, and told once', async (t) => {
  const names = Array.from({ length: 20 }, (_, at): AccessRule => ({
    path: `/abcdef${String.fromCharCode(97 + at)}`,
    allow: [{ not_group: 'staff' }],
  }))
  const top: AccessRule = {
    path: '/',
    allow: Array.from({ length: 40 }, () => ({ group: 'staff' })),
  }
  const access = compileAccess({ rules: [top, ...names], slots: SLOTS }, () => false)
  const { asked, facts } = somebody()
  const verdict = access.judge({ host: 'app.test', method: 'GET', path: '/abcdef~1' }, facts)
  t.match(verdict, { kind: 'denied', isGroupMissing: true })
  t.equal(verdict.kind === 'denied' && verdict.ways.length, 40)
  t.ok(asked.times <= 4 * (40 + 20), String(asked.times))
})
