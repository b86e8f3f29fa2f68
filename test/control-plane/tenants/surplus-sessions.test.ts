/** A stricter session policy ends whoever has too many sessions, and reads no more than that asks. */
import t from 'tap'
import { schema } from '../../../control-plane/store/schema.ts'
import { upsertPolicy } from '../../../control-plane/store/queries/policies.ts'
import { upsertRevocations } from '../../../control-plane/store/queries/revocations.ts'
import { aliveCountsAfter } from '../../../control-plane/store/queries/sessions.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, startServices, tenantNamed } from '../../support/control-plane.ts'

async function startSessions(t: Parameters<typeof startServices>[0], people: number, every = 1) {
  const services = await startServices(t)
  const { tenants, store, clock } = services
  await tenants.create(tenantNamed('acme'), ACTOR)
  const atMs = clock.nowMs()
  const times = { createdAt: atMs, issuedAt: atMs, lastSeenAt: atMs, expiresAt: atMs + 3_600_000 }
  const ofRequest = { tenantId: 'acme', ip: '192.0.2.1', userAgent: 'Firefox' }
  await store.change(async ({ queries }) => {
    for (let at = 0; at < people; at++) {
      const session = { ...ofRequest, ...times, userId: `usr_${at}` }
      const sids = at % every === 0 ? ['a', 'b'] : ['b']
      const own = sids.map((sid) => ({ ...session, sid: `${sid}${at}` }))
      await queries.insert(schema.sessions).values(own)
    }
  })
  const alive = async () =>
    (await store.read.select().from(schema.sessions)).filter(({ endedAt }) => endedAt === null)
  const revoked: string[] = []
  store.onCommit((committed) => {
    revoked.push(...Object.keys(committed.revoked.get('acme')?.sids ?? {}))
  })
  return { ...services, alive, revoked }
}

void t.test('whoever has too many is found a few people at a time', async (t) => {
  const most = LIMITS.peopleCountedAtOnceMax
  const { policies, store, clock, alive } = await startSessions(t, 2 * most + 1, 50)
  const pages: number[] = []
  let counted = 0
  for (let after: string | undefined = ''; after !== undefined;) {
    const nowMs = clock.nowMs()
    const people = await aliveCountsAfter(store.read, 'acme', after, nowMs, most)
    counted += people.reduce((sum, { alive }) => sum + alive, 0)
    pages.push(people.length)
    after = people.at(-1)?.userId
  }
  t.strictSame(pages, [most, most, 1, 0])
  t.equal(counted, (await alive()).length)
  await policies.put('acme', 'session', { concurrent_max: 1 }, ACTOR)
  t.strictSame(
    (await alive()).map(({ sid }) => sid).filter((sid) => sid.startsWith('a')),
    [],
    'the other one began as late, and stays',
  )
  t.equal((await alive()).length, 2 * most + 1)
})

void t.test(
  'whose sessions are counted only where fewer are left to them than before',
  async (t) => {
    const { policies, alive, revoked } = await startSessions(t, 2)
    await policies.put('acme', 'session', { concurrent_max: 1, when_full: 'refuse' }, ACTOR)
    t.equal((await alive()).length, 4)
    await policies.put('acme', 'session', { concurrent_max: 2, when_full: 'end_oldest' }, ACTOR)
    t.equal((await alive()).length, 4)
    await policies.put('acme', 'session', { concurrent_max: 1 }, ACTOR)
    t.equal(revoked.length, 2)
    const others = await startSessions(t, 2)
    const strict = { concurrent_max: 1, when_full: 'end_oldest' } as const
    await others.store.change(({ queries }) =>
      upsertPolicy(queries, { tenantId: 'acme', name: 'session', settings: strict, updatedAt: 1 }),
    )
    await others.policies.put('acme', 'session', strict, ACTOR)
    await others.policies.put('acme', 'session', { concurrent_max: 2 }, ACTOR)
    t.same(others.revoked, [], 'whoever has more has come since, and lost one then')
  },
)

void t.test('what has been ended for all is not ended once more for each', async (t) => {
  const { policies, store, clock, revoked } = await startSessions(t, 2)
  const notBefore = Math.floor(clock.nowMs() / 1000) + 1
  await store.change(({ queries, nowMs }) =>
    upsertRevocations(queries, [
      {
        tenantId: 'acme',
        kind: 'all',
        target: '',
        notBefore,
        createdAt: nowMs,
        keptUntil: nowMs + 3_600_000,
      },
    ]),
  )
  await policies.put('acme', 'session', { concurrent_max: 1 }, ACTOR)
  t.same(revoked, [])
})
