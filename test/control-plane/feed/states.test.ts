/** What is kept of a tenant's state from one poll to the next is never older than the last commit. */
import t from 'tap'
import { createFeedStates } from '../../../control-plane/feed/states.ts'
import { deleteMootRevocations } from '../../../control-plane/store/queries/revocations.ts'
import { ACTOR } from '../../support/control-plane.ts'
import { startFeedApi } from '../../support/feed-api.ts'
import { LIMITS } from '../../../shared/limits.ts'

void t.test(
  'a revocation that commits while the state is read is in the next answer',
  async (t) => {
    const { sdkTenant, poll, operator } = await startFeedApi(t)
    await sdkTenant('acme')
    const revoking = operator('POST', '/tenants/acme/revocations', { all: true })
    await Promise.all(Array.from({ length: 50 }, () => poll('acme')))
    await revoking
    const { revoked } = (await poll('acme')).body as { revoked: { all: number } }
    t.ok(revoked.all > 0)
  },
)

void t.test(
  'sign-outs are added to what is known, without reading all of them again',
  async (t) => {
    const { sdkTenant, poll, services, session, clock } = await startFeedApi(t)
    await sdkTenant('acme', { max_session_seconds: 300 })
    await poll('acme')
    const { store, revocations } = services
    const select = store.read.select.bind(store.read)
    let reads = 0
    t.intercept(store.read, 'select', {
      value: (...args: Parameters<typeof select>) => {
        reads += 1
        return select(...args)
      },
    })
    const sidsOf = async () => {
      reads = 0
      const { revoked } = (await poll('acme')).body as { revoked: { sids: object } }
      return Object.keys(revoked?.sids ?? {})
    }
    const revoke = async (sid: string) =>
      revocations.revoke('acme', { sid: await session('acme', sid) }, ACTOR)
    for (const sid of ['s1', '__proto__', 's3']) await revoke(sid)
    t.strictSame(await sidsOf(), ['s1', '__proto__', 's3'])
    t.equal(reads, 0)
    const asMerged = (await poll('acme')).body

    clock.advance(LIMITS.feedStateReadAgainMs - 1)
    await revoke('s4')
    t.strictSame(await sidsOf(), ['s1', '__proto__', 's3', 's4'])
    t.equal(reads, 0)
    await services.store.change(({ queries }) => deleteMootRevocations(queries, Infinity, 3))
    clock.advance(1)
    await revoke('s5')
    t.strictSame(await sidsOf(), ['s4', 's5'], 'what is moot goes, from time to time')
    t.ok(reads > 0)
    t.match(asMerged, { revoked: { all: 0, subjects: {} } })
  },
)

void t.test(
  'with many of them all is written once a second, and no more is kept than instances keep',
  async (t) => {
    const { sdkTenant, services, clock, session } = await startFeedApi(t)
    await sdkTenant('acme')
    const nowSeconds = Math.floor(clock.nowMs() / 1000)
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`old-${at}`, nowSeconds + at]))
    for (const [count, isSmall] of [
      [LIMITS.feedStateSmallEntriesMax - 2, true],
      [LIMITS.feedStateSmallEntriesMax - 1, false],
    ] as const) {
      const { store } = services
      const states = createFeedStates({
        identities: services.identities,
        store,
        clock,
        revocations: { revokedState: async () => ({ all: 0, subjects: {}, sids: many(count) }) },
      })
      const first = await states.current('acme')
      const revoke = async (sid: string) =>
        services.revocations.revoke('acme', { sid: await session('acme', sid) }, ACTOR)
      await revoke(`one-${count}`)
      const second = await states.current('acme')
      t.equal(second?.body(1).includes(`"one-${count}"`), true, 'a little later is no harm')
      await revoke(`two-${count}`)
      const third = await states.current('acme')
      t.equal(third?.body(1).includes(`"two-${count}"`), isSmall)
      t.equal(third === second, !isSmall, 'nothing is written')
      t.equal(first?.body(1).includes(`"one-${count}"`), false)
      clock.advance(LIMITS.feedStateWrittenAgainMs - 1)
      t.equal((await states.current('acme')) === third, true)
      clock.advance(1)
      t.match((await states.current('acme'))?.body(1), `"two-${count}"`)
    }
    const entries = LIMITS.revokedEntriesPerTenantMax
    const large = createFeedStates({
      identities: services.identities,
      store: services.store,
      clock,
      revocations: {
        revokedState: async () => ({ all: 0, subjects: {}, sids: many(entries + 1) }),
      },
    })
    const { revoked } = (await large.current('acme')) ?? {}
    t.equal(revoked?.all, nowSeconds + entries / 2)
    t.ok(Object.keys(revoked?.sids ?? {}).length <= entries / 2)
  },
)

void t.test('a state that is too large to be kept is still told', async (t) => {
  const { sdkTenant, services, poll } = await startFeedApi(t)
  await sdkTenant('acme')
  const states = createFeedStates({
    identities: services.identities,
    store: services.store,
    revocations: services.revocations,
    clock: services.clock,
    bytesMax: 7000,
  })
  t.equal(states.known('acme'), undefined)
  t.ok(await states.current('acme'))
  t.ok(states.known('acme'), 'a small one is kept')
  await services.tenants.patch('acme', { sealed: ['/' + 'a'.repeat(500)] }, ACTOR)
  const state = await states.current('acme')
  t.match(state?.body(1), 'aaaa')
  t.equal(states.known('acme'), undefined)
  t.equal((await poll('acme')).status, 200)
})

void t.test('a reading that a commit overtakes is not what the next one is told', async (t) => {
  const { sdkTenant, services, operator } = await startFeedApi(t)
  await sdkTenant('acme')
  const { store, revocations, clock } = services
  const held: (() => void)[] = []
  let isHeld = () => {}
  const states = createFeedStates({
    identities: services.identities,
    store,
    clock,
    revocations: {
      async revokedState(tenantId) {
        const state = await revocations.revokedState(tenantId)
        await new Promise<void>((resolve) => {
          held.push(resolve)
          isHeld()
        })
        return state
      },
    },
  })
  /** Asks, and goes on when the reading is all but done; what it returns lets it end. */
  const readHeld = async () => {
    const reached = new Promise<void>((resolve) => (isHeld = resolve))
    const reading = states.current('acme')
    await Promise.race([reached, reading])
    return () => {
      held.shift()?.()
      return reading
    }
  }
  const early = await readHeld()
  await revocations.revoke('acme', { all: true }, ACTOR)
  t.equal((await early())?.revoked.all, 0, 'as it was when it was asked')
  const later = await readHeld()
  await operator('PATCH', '/tenants/acme', { name: 'New' })
  const second = await later()
  t.ok(second !== undefined && second.revoked.all > 0)
  t.equal((await (await readHeld())())?.tenant.name, 'New')
})
