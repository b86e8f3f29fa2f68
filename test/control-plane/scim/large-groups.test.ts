/** A group of 10,000 people, in whatever pieces it comes. */
import t from 'tap'
import type { ScimPersonRow } from '../../../control-plane/store/queries/scim.ts'
import { createScimGroups } from '../../../control-plane/scim/groups.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { patching, personNamed, startProvider } from './provider.ts'

const PEOPLE = 10_000
const AT_ONCE = 1000 // as Entra sends them

/** How often the event loop has gone round. */
function turnsOfOthers() {
  let [turns, isOver] = [0, false]
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  return {
    count() {
      isOver = true
      return turns
    },
  }
}

async function copiesOf(store: Store, person: ScimPersonRow, people: number): Promise<string[]> {
  const ids = Array.from({ length: people }, (_, at) => `usr_${String(at).padStart(32, '0')}`)
  await store.change(async ({ queries }) => {
    for (let from = 0; from < people; from += 500) {
      const some = ids.slice(from, from + 500)
      await queries
        .insert(schema.scimPeople)
        .values(some.map((userId) => ({ ...person, userId, userNameKey: userId })))
    }
  })
  return ids
}

t.test('10,000 members come, stay and go', async (t) => {
  const { scim, pushGroup, services, clock } = await startProvider(t)
  let waitedSeconds = 0

  /** As providers do: again once Retry-After has gone by. */
  async function patiently(...asked: Parameters<typeof scim>) {
    for (;;) {
      const answer = await scim(...asked)
      if (answer.status !== 429) return answer
      const seconds = Number(answer.headers.get('retry-after'))
      waitedSeconds += seconds
      clock.advance(seconds * 1000)
    }
  }

  const [token] = await services.scimTokens.list('acme')
  const first = await services.scimPeople.create({ token: token!, actor: ACTOR }, personNamed('p0'))
  // copies of one who was pushed: how people come is told elsewhere
  const ids = await copiesOf(services.store, first.person, PEOPLE)
  const groupId = await pushGroup('all')
  const rules = { rules: [{ path: '/reports', allow: [{ group: 'all' }] }] }
  await services.accessRules.put('acme', rules, ACTOR)
  const beganMs = performance.now()
  for (let from = 0; from < PEOPLE; from += AT_ONCE) {
    const value = ids.slice(from, from + AT_ONCE).map((id) => ({ $ref: null, value: id }))
    const add = patching({ op: 'Add', path: 'members', value })
    t.equal((await patiently('PATCH', `/Groups/${groupId}`, add)).status, 204)
  }
  const piecesMs = performance.now() - beganMs
  t.ok(waitedSeconds > 0 && waitedSeconds <= 15, 'a thousand members count as several requests')
  const [group] = (await services.scimGroups.list('acme', [], { offset: 0, limit: 1 })).found
  t.equal((await services.scimGroups.membersOf(group!)).length, PEOPLE)
  const others = turnsOfOthers()
  const nobody = patching({ op: 'Remove', path: 'members' })
  t.equal((await patiently('PATCH', `/Groups/${groupId}`, nobody)).status, 204)
  t.ok(others.count() > PEOPLE / 500, 'others have their turn while 10,000 memberships end')
  const members = ids.map((value) => ({ value, type: 'User', display: 'Somebody with a name' }))
  const whole = { displayName: 'all', members }
  t.match(await patiently('PUT', `/Groups/${groupId}`, whole), { status: 200 })
  const half = { displayName: 'all', members: members.slice(PEOPLE / 2) }
  const answer = await patiently('PUT', `/Groups/${groupId}`, half)
  t.equal((answer.body['members'] as unknown[]).length, PEOPLE / 2)
  t.equal((await scim('DELETE', `/Groups/${groupId}`)).status, 204)
  t.comment(
    `in pieces ${piecesMs.toFixed()} ms and ${waitedSeconds} s of waiting, all ${(performance.now() - beganMs).toFixed()} ms`,
  )
})

/** The attack: twenty thousand members in one request, and nobody signs in while they are written down. */
t.test('members that come with one request are written some in each change', async (t) => {
  const { services, clock } = await startProvider(t)
  const [token] = await services.scimTokens.list('acme')
  const first = await services.scimPeople.create({ token: token!, actor: ACTOR }, personNamed('p0'))
  const ids = await copiesOf(services.store, first.person, 1200)
  let changes: number[] = []
  const change: Store['change'] = (work) =>
    services.store.change(async (change) => {
      const isIn = () => change.queries.$count(schema.groupMembers)
      const before = await isIn()
      const result = await work(change)
      changes.push((await isIn()) - before)
      return result
    })
  const scimGroups = (rate = { burst: 10_000, perSecond: 1 }) =>
    createScimGroups({ store: { ...services.store, change }, clock, rate })
  const groups = scimGroups()
  const resource = (members: readonly string[]) => {
    return { displayName: 'all', members: members.map((value) => ({ value })) }
  }
  const { group } = await groups.create('acme', resource(ids), ACTOR)
  t.same(changes, [0, 250, 250, 250, 250, 200, 0])
  changes = []
  await groups.replace('acme', group.groupId, resource(ids.slice(0, 10)), ACTOR)
  t.same(changes, [-250, -250, -250, -250, -190, 0])
  changes = []
  const few = scimGroups({ burst: 1000, perSecond: 1 })
  const all = few.replace('acme', group.groupId, resource(ids), ACTOR)
  await t.rejects(all, { code: 'rate_limited' })
  t.same(changes, [], 'refused as a whole, before any has come')
  await groups.replace('acme', group.groupId, resource(ids), ACTOR)
  changes = []
  await groups.remove('acme', group.groupId, ACTOR)
  t.same(changes, [-250, -250, -250, -250, -200, 0])
})
