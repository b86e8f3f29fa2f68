import { setImmediate as breathe } from 'node:timers/promises'
import t from 'tap'
import { createGatewayRegistry } from '../../../control-plane/fleet/gateway-registry.ts'
import { createAcknowledgements } from '../../../control-plane/fleet/acknowledgements.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { clockOf } from '../../support/clocks.ts'

const clock = clockOf(() => Date.UTC(2026, 0, 2))

t.test('a gateway that has left stays on the list with its last revision', async (t) => {
  const registry = createGatewayRegistry(clock)
  registry.connected('edge-1', '1.2.3', 4)
  registry.applied('edge-1', 7, false)
  registry.disconnected('edge-1')
  t.same(registry.list(9, []), [
    {
      gateway_id: 'edge-1',
      version: '1.2.3',
      connected: false,
      key_id: null,
      connected_at: '2026-01-02T00:00:00.000Z',
      last_seen_at: '2026-01-02T00:00:00.000Z',
      revision: 7,
      lag: 2,
      applied_at: '2026-01-02T00:00:00.000Z',
      durable: false,
      rejections: [],
    },
  ])
})

t.test('so many gateways are known, the least recent one is forgotten', async (t) => {
  const registry = createGatewayRegistry(clock)
  const max = LIMITS.fleetGatewaysKnownMax
  for (let count = 0; count < max; count += 1) registry.connected(`edge-${count}`, '1', 0)
  t.equal(registry.list(0, []).length, max)
  registry.connected('one-more', '1', 0)
  const known = registry.list(0, []).map(({ gateway_id }) => gateway_id)
  t.equal(known.length, max)
  t.ok(known.includes('one-more'))
  t.notOk(known.includes('edge-0'))
})

t.test('so many rejections are kept per gateway, the oldest is forgotten', async (t) => {
  const registry = createGatewayRegistry(clock)
  const max = LIMITS.fleetRejectionsKeptMax
  registry.connected('edge-1', '1', 0)
  for (let count = 0; count < max; count += 1) registry.rejected('edge-1', `t${count}`, 1, 'bad')
  const rejections = () => registry.list(0, [])[0]!.rejections
  t.equal(rejections().length, max)
  registry.rejected('edge-1', 't0', 2, 'bad again')
  t.equal(rejections().length, max)
  registry.rejected('edge-1', 'one-more', 1, 'bad')
  t.equal(rejections().length, max)
  t.match(rejections()[0], { tenant_id: 't2' })
  t.match(rejections().at(-2), { tenant_id: 't0', revision: 2, reason: 'bad again' })
  registry.forgive('t0')
  t.notOk(rejections().some(({ tenant_id }) => tenant_id === 't0'))
})

t.test('a rejection of a gateway that is not known is left out', async (t) => {
  const registry = createGatewayRegistry(clock)
  registry.rejected('__proto__', 'ada', 1, 'bad')
  t.same(registry.list(0, []), [])
})

t.test('so many callers can wait for a receipt, the next one is answered at once', async (t) => {
  let hasRevoked = false
  const receipts = createAcknowledgements({
    connected: () => ['edge-1'],
    hasApplied: () => false,
    hasRejected: () => false,
    hasRevoked: () => hasRevoked,
  })
  const waiting = Array.from({ length: LIMITS.fleetReceiptsWaitingMax }, () =>
    receipts.applied(1, 60_000),
  )
  t.same(await receipts.applied(1, 60_000), { applied: [], pending: ['edge-1'] })
  let isSettled = false
  const revoked = receipts.revoked({ sequence: 1, position: null }, 60_000).then((receipt) => {
    isSettled = true
    return receipt
  })
  await breathe()
  t.notOk(isSettled, 'a revocation has places of its own')
  hasRevoked = true
  receipts.check()
  t.same(await revoked, { applied: ['edge-1'], pending: [] })
  receipts.close()
  t.equal((await Promise.all(waiting)).length, LIMITS.fleetReceiptsWaitingMax)
})
