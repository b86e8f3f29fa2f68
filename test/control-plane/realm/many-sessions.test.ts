/** One person with many sessions: how many there can be, and that nobody waits for their end. */
import t from 'tap'
import { endingOwn } from '../../../control-plane/realm/account/own-endings.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  ACTOR,
  Browser,
  signIn,
  sidOf,
  startWorld,
  type TestTenant,
  type World,
} from './realm-world.ts'
import { begin, setPolicy } from './steps.ts'

const MOST = LIMITS.sessionsPerPersonMax
const AT_ONCE = LIMITS.sessionsEndedPerChangeMax

async function record(world: World, { tenant, ada }: TestTenant, count: number) {
  const [{ tenantId }, { userId }] = [tenant, ada]
  const issuedAtMs = world.clock.nowMs()
  const whose = { tenantId, userId, ip: '192.0.2.1', userAgent: 'Firefox' }
  const times = { issuedAtMs, expiresAtMs: issuedAtMs + 3_600_000 }
  for (let at = 0; at < count; at++)
    await world.sessions.record({ ...whose, ...times, sid: `sid-${1000 + at}` })
}

/** How many each change has ended; others are none. */
function endings({ store }: World): number[] {
  const ended: number[] = []
  store.onCommit(({ revoked }) => {
    ended.push(Object.keys(revoked.get('acme')?.sids ?? {}).length)
  })
  return ended
}
const some = (ended: readonly number[]) => ended.filter((count) => count > 0)

for (const settings of [{}, { when_full: 'refuse' }] as const)
  t.test(`a person has so many sessions, ${JSON.stringify(settings)}`, async (t) => {
    const world = await startWorld(t)
    const acme = await world.tenant('acme')
    await setPolicy(world, 'session', settings)
    const ended = endings(world)
    const alive = () => world.sessions.aliveOf('acme', acme.ada.userId)
    await record(world, acme, MOST - 1)
    const last = sidOf((await signIn(new Browser(world.baseUrl), acme)).tokens)
    t.same(some(ended), [])
    t.equal((await alive()).length, MOST)
    const next = sidOf((await signIn(new Browser(world.baseUrl), acme)).tokens)
    t.same(some(ended), [1])
    const left = await alive()
    t.same([left.length, left[0], ...left.slice(-2)], [MOST, 'sid-1001', last, next])
    t.equal((await world.sessions.find('acme', 'sid-1000'))?.endReason, 'surplus')
  })

t.test('what is too many from before is ended a few at a time', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await record(world, acme, MOST + AT_ONCE + 9)
  const ended = endings(world)
  await signIn(new Browser(world.baseUrl), acme)
  t.same(some(ended), [AT_ONCE, 10])
})

t.test('a sign-in counts no more of them than there can be', async (t) => {
  const asked: unknown[] = []
  const world = await startWorld(t, {
    adapt: ({ sessions }) => ({
      sessions: {
        ...sessions,
        aliveOf: (...given) => {
          asked.push(given[2])
          return sessions.aliveOf(...given)
        },
      },
    }),
  })
  const acme = await world.tenant('acme')
  await record(world, acme, MOST + 5)
  const { send } = await begin(world, acme)
  await send({ username: 'ada', password: 'wrong' })
  t.same(asked, [MOST + 1])
  t.equal((await world.sessions.aliveOf('acme', acme.ada.userId, MOST + 1)).length, MOST + 1)
})

t.test('who ends all others holds up nobody', async (t) => {
  const world = await startWorld(t)
  const acme = await world.tenant('acme')
  await record(world, acme, 2 * AT_ONCE + 11)
  const ended = endings(world)
  let other: Promise<unknown> | undefined
  world.store.onCommit(() => {
    other ??= world.tenants.patch('acme', { name: 'Another' }, ACTOR)
  })
  await endingOwn(acme, world).endOthers(acme.ada.userId, 'sid-1005', 'request')
  await other
  t.same(some(ended), [AT_ONCE, AT_ONCE, 10])
  t.ok([1, 2].includes(ended.indexOf(0)), 'whoever came meanwhile did not wait for all of them')
  t.same(await world.sessions.aliveOf('acme', acme.ada.userId), ['sid-1005'])
})
