/** Somebody on whom very much hangs is removed, and others write meanwhile. */
import t from 'tap'
import { removeUser } from '../../../control-plane/accounts/user-removal.ts'
import { insertKnownDevice } from '../../../control-plane/store/queries/devices.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import type { Store } from '../../../control-plane/store/store.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, movableClock, startServices, tenantNamed } from '../../support/control-plane.ts'

const ADA = { username: 'ada', email: 'ada@acme.example', name: 'Ada', password: 'long enough' }

t.test(
  'nobody comes in from the first slice on, and a removal that is cut off goes on',
  async (t) => {
    const clock = movableClock()
    const { store, tenants, users, sessions } = await startServices(t, { clock })
    await tenants.create(tenantNamed('acme'), ACTOR)
    const [ada, bob] = [
      await users.create('acme', ADA, ACTOR),
      await users.create('acme', { ...ADA, username: 'bob', email: 'bob@acme.example' }, ACTOR),
    ]
    const most = LIMITS.rowsDeletedAtOnceMax
    const rows = (userId: string, count: number) =>
      Array.from({ length: count }, (_, at) => ({
        ...{ tenantId: 'acme', userId, group: `group ${at}`, source: 'scim' as const },
        ...{ createdAt: 1, endedAt: at },
      }))
    await store.change(async ({ queries }) => {
      for (const row of rows(ada.userId, 2 * most + 10))
        await queries.insert(schema.pastMembers).values(row)
      await queries.insert(schema.pastMembers).values(rows(bob.userId, 5))
    })
    const session = { tenantId: 'acme', userId: ada.userId, ip: '', userAgent: '' }
    const times = { issuedAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 3_600_000 }
    await sessions.record({ ...session, sid: 'of-ada', ...times })

    const leftOf = async (userId: string) =>
      (await store.read.select().from(schema.pastMembers)).filter((one) => one.userId === userId)
    let changes = 0
    const change: Store['change'] = async (work) => {
      if (changes++ === 1) throw new Error('the process ends here')
      return store.change(work)
    }
    await t.rejects(
      removeUser({ change }, { tenantId: 'acme', userId: ada.userId }, ACTOR),
      /ends here/,
    )
    t.equal((await leftOf(ada.userId)).length, most + 10, 'one slice is gone')
    t.match(await users.get('acme', ada.userId), { isDisabled: true })
    t.match(await sessions.find('acme', 'of-ada'), { endReason: 'user_disabled' })

    await users.remove('acme', ada.userId, ACTOR)
    await t.rejects(users.get('acme', ada.userId), { code: 'user_not_found' })
    t.same(await leftOf(ada.userId), [])
    t.equal((await leftOf(bob.userId)).length, 5)
    await users.remove('acme', bob.userId, ACTOR)
    const trail = (await store.read.select().from(schema.audit)).map((one) => [
      one.action,
      one.userId,
    ])
    t.same(
      trail.slice(-3),
      [
        ['user.changed', ada.userId],
        ['user.removed', ada.userId],
        ['user.removed', bob.userId],
      ],
      'who has little is removed at once',
    )
  },
)

t.test('the browsers of one person are so many', async (t) => {
  const { store, tenants, users } = await startServices(t)
  await tenants.create(tenantNamed('acme'), ACTOR)
  const { userId } = await users.create('acme', ADA, ACTOR)
  const most = LIMITS.knownDevicesPerPersonMax
  const browser = { tenantId: 'acme', userAgent: '', ip: '', replacedHash: null, replacedAt: null }
  await store.change(async ({ queries }) => {
    for (let at = 0; at < most + 2; at++)
      await insertKnownDevice(queries, {
        ...browser,
        ...{
          userId,
          deviceId: `dev_${at}`,
          cookieHash: `hash ${at}`,
          createdAt: 1,
          lastSeenAt: at,
        },
      })
    const others = { ...browser, userId: 'somebody', createdAt: 1, lastSeenAt: 0 }
    await insertKnownDevice(queries, { ...others, deviceId: 'dev_other', cookieHash: 'other' })
  })
  const left = await store.read.select().from(schema.knownDevices)
  t.equal(left.filter((one) => one.userId === userId).length, most)
  const ids = left.map(({ deviceId }) => deviceId)
  for (const [deviceId, isLeft] of [
    ['dev_0', false],
    ['dev_1', false],
    ['dev_2', true],
    ['dev_other', true],
  ] as const)
    t.equal(ids.includes(deviceId), isLeft, deviceId)
})
