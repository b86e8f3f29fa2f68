import { join } from 'node:path'
import t from 'tap'
import { DAY_MS, SECOND_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { TenantSnapshotSchema } from '../../../shared/fleet/snapshot.ts'
import * as v from 'valibot'
import { ACTOR, movableClock, startServices, temporaryFolder } from '../../support/control-plane.ts'
import { tenantNamed } from '../../support/control-plane.ts'
import { basic, startFeedApi } from '../../support/feed-api.ts'
import { schema } from '../../../control-plane/store/schema.ts'

void t.test('a rotation says until when the secret before it counts', async (t) => {
  const { operator, sdkTenant, clock } = await startFeedApi(t)
  const { client_secret: first } = await sdkTenant('acme')
  const rotate = (body?: unknown) => operator('POST', '/tenants/acme/client-secret/rotate', body)
  const iso = (ms: number) => new Date(ms).toISOString()
  const { status, body } = await rotate()
  t.equal(status, 200)
  t.strictSame(body, {
    tenant_id: 'acme',
    client_id: 'acme-user',
    client_secret: body['client_secret'],
    previous_valid_until: iso(clock.nowMs() + DAY_MS),
  })
  t.match(body['client_secret'], /^scs_/)
  t.not(body['client_secret'], first)
  const most = LIMITS.secretOverlapSecondsMax
  for (const [seconds, until] of [
    [1, iso(clock.nowMs() + SECOND_MS)],
    [most, iso(clock.nowMs() + most * SECOND_MS)],
    [0, null],
  ] as const)
    t.match((await rotate({ overlap_seconds: seconds })).body, { previous_valid_until: until })
  for (const wrong of [-1, 1.5, most + 1, '60', null, true, {}]) {
    const refused = await rotate({ overlap_seconds: wrong })
    t.match(refused, { status: 400, body: { error: 'field_invalid', field: 'overlap_seconds' } })
  }
  t.match(await rotate({ overlap: 1 }), { status: 400, body: { field: 'overlap' } })
  const { items } = await operator('GET', '/audit?tenant_id=acme&limit=1')
  t.match(items[0], { action: 'client_secret.rotated', details: { overlap_seconds: 0 } })
})

void t.test('the feed takes both secrets until the overlap is over, and then one', async (t) => {
  const { operator, sdkTenant, poll, clock } = await startFeedApi(t)
  const rotate = async (seconds: number) => {
    const path = '/tenants/acme/client-secret/rotate'
    const { body } = await operator('POST', path, { overlap_seconds: seconds })
    return String(body['client_secret'])
  }
  const taken = async (...secrets: string[]) => {
    const answers: number[] = []
    for (const secret of secrets)
      answers.push((await poll('acme', { authorization: basic('acme-user', secret) })).status)
    return answers
  }
  const { client_secret: first } = await sdkTenant('acme')
  t.strictSame(await taken(first), [200])
  const second = await rotate(60)
  t.strictSame(await taken(first, second), [200, 200])
  clock.advance(60 * SECOND_MS - 1)
  t.strictSame(await taken(first, second), [200, 200])
  clock.advance(1)
  t.strictSame(await taken(first, second), [401, 200], 'no job has run')

  const third = await rotate(60)
  t.strictSame(await taken(first, second, third), [401, 200, 200])
  const fourth = await rotate(60)
  t.strictSame(await taken(second, third, fourth), [401, 200, 200], 'the oldest is dropped')
  const fifth = await rotate(0)
  t.strictSame(await taken(third, fourth, fifth), [401, 401, 200], 'the old ones end at once')
})

void t.test(
  'gateways hear of the secret before, and of its end, also after a restart',
  async (t) => {
    const file = join(temporaryFolder(t), 'service.db')
    const masterKey = Buffer.alloc(32, 1)
    const clock = movableClock()
    const start = () => startServices(t, { file, masterKey, clock })
    const first = await start()
    for (const id of ['acme', 'other']) {
      await first.tenants.create(tenantNamed(id), ACTOR)
      await first.tenants.publish(id, ACTOR)
    }
    const before = await first.tenants.clientSecret('acme')
    const { secret } = await first.tenants.rotateClientSecret('acme', 3600, ACTOR)
    const snapshot = await first.fleetSource.snapshot('acme')
    t.match(snapshot?.snapshot, { client_secret: secret, previous_client_secret: before })
    t.ok(v.is(TenantSnapshotSchema, snapshot?.snapshot))
    t.strictSame(await first.tenants.clientSecrets('acme'), {
      current: secret,
      previous: { secret: before, untilMs: clock.nowMs() + 3600 * SECOND_MS },
    })

    clock.advance(3600 * SECOND_MS)
    const after = await start()
    t.strictSame(await after.tenants.clientSecrets('acme'), {
      current: secret,
      previous: undefined,
    })
    t.strictSame(
      await after.fleetSource.snapshot('acme'),
      snapshot,
      'the same revision is the same snapshot, whatever the time',
    )
    const told: string[] = []
    after.store.onCommit(({ tenantIds }) => told.push(...tenantIds))
    const { jobs } = after
    await jobs.run()
    t.strictSame(told, ['acme'])
    const ended = await after.fleetSource.snapshot('acme')
    t.ok((ended?.revision ?? 0) > (snapshot?.revision ?? 0))
    t.match(ended?.snapshot, { client_secret: secret })
    t.notOk('previous_client_secret' in (ended?.snapshot ?? {}))
    await jobs.run()
    await jobs.close()
    t.strictSame(told, ['acme'], 'once')
  },
)

void t.test('no secret of a tenant is readable in its rows', async (t) => {
  const services = await startServices(t)
  await services.tenants.create(tenantNamed('acme'), ACTOR)
  const before = await services.tenants.clientSecret('acme')
  await services.tenants.rotateClientSecret('acme', 60, ACTOR)
  const tenant = await services.tenants.get('acme')
  t.notOk(
    Object.keys(tenant).some((name) => /secret/i.test(name)),
    'not handed around either',
  )
  const rows: unknown = await services.store.read.select().from(schema.tenants)
  t.notOk(JSON.stringify(rows).includes(before))
})
