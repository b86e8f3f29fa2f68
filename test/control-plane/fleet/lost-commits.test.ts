/** A database that comes back without its last commits, and gateways that have seen them. */
import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createMemorySource } from '../../support/fleet-source.ts'
import { servedAt, startControlPlane, startGateway, statusOf, until } from '../../support/fleet.ts'
import { connectRaw, type RawGateway } from '../../support/raw-gateway.ts'
import { clockOf } from '../../support/clocks.ts'

const NOW = Math.floor(Date.now() / 1000)

t.test('a gateway that is ahead begins an epoch, and hands up what is revoked', async (t) => {
  const source = createMemorySource()
  const handedUp: unknown[] = []
  const control = await startControlPlane(t, {
    source,
    async onHeld(gatewayId, tenants) {
      handedUp.push([gatewayId, tenants])
      for (const { tenant_id, revoked } of tenants) {
        source.revoke(tenant_id, revoked)
        control.hub.revoked(tenant_id, revoked)
      }
    },
  })
  control.put('ada', { name: 'Before' })
  control.put('bob')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(2)
  control.revoke('ada', { sids: { gone: NOW + 500 }, subjects: { __proto__: NOW + 400 } })
  await control.hub.revocationsSettled(60_000)
  t.same(handedUp, [], 'nothing while nothing is lost')

  await control.kill()
  source.replace('epoch-1', 0)
  source.put('ada', { name: 'From the replica' })
  await control.start()
  await until(() => handedUp.length > 0)
  t.match(handedUp, [['edge-1', [{ tenant_id: 'ada', revoked: { sids: { gone: NOW + 500 } } }]]])
  await until(() => servedAt(gateway.registry, 'ada.example')?.name === 'From the replica')
  await until(() => statusOf(gateway.registry, 'bob.example') === 404)
  t.equal(gateway.registry.byId('ada')?.revoked.sids.get('gone'), NOW + 500)

  const other = await connectRaw(t, control.port, { id: 'edge-2' })
  await other.wait('synced')
  t.match(other.of('welcome'), [{ epoch: 'epoch-1+', revision: 1 + LIMITS.fleetEpochRevisions }])
  t.match(other.of('revoked'), [{ tenant_id: 'ada', revoked: { sids: { gone: NOW + 500 } } }])
  const alarm = control.lines.find(({ msg }) => msg.startsWith('the database has lost commits'))
  t.match(alarm, { level: 50, gateway_id: 'edge-1', revision: 1, ahead: 1 })
})

t.test('who is ahead of it by far, or again at once, is not believed', async (t) => {
  let nowMs = Date.now()
  const clock = clockOf(() => nowMs)
  const source = createMemorySource()
  const control = await startControlPlane(t, { source, clock })
  control.put('ada')
  const say = (revision: number, epoch = 'epoch-1') =>
    connectRaw(t, control.port, { epoch, revision })

  const far = await say(2 + LIMITS.fleetAheadRevisionsMax)
  await far.wait('synced')
  t.match(far.of('welcome'), [{ is_full: true, epoch: 'epoch-1', revision: 1 }], 'N + 1')
  t.equal((await (await say(1 + LIMITS.fleetAheadRevisionsMax)).closed).code, 1012, 'N')

  const { epoch, revision } = await source.position()
  t.equal(epoch, 'epoch-1+')
  const again = await say(revision + 1, epoch)
  await again.wait('synced')
  t.match(again.of('welcome'), [{ is_full: true, epoch, revision }])
  nowMs += LIMITS.fleetEpochMsMin
  t.equal((await (await say(revision + 1, epoch)).closed).code, 1012)
  t.equal((await source.position()).epoch, 'epoch-1++')
})

t.test('of several who are ahead, one begins it', async (t) => {
  const source = createMemorySource()
  const control = await startControlPlane(t, { source })
  control.put('ada')
  const all = await Promise.all(
    ['a', 'b', 'c'].map((id) => connectRaw(t, control.port, { id, epoch: 'epoch-1', revision: 5 })),
  )
  const sentAway = new Set<RawGateway>()
  for (const raw of all) void raw.closed.then(() => sentAway.add(raw))
  // or gets all of it
  await until(() => all.every((raw) => sentAway.has(raw) || raw.of('synced').length > 0))
  t.equal((await source.position()).epoch, 'epoch-1+')
})
