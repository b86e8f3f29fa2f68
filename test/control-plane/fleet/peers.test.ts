/** Gateways of other control planes, as those write them down. */
import t from 'tap'
import { pino } from 'pino'
import { acknowledgeEverywhere } from '../../../control-plane/fleet/everywhere.ts'
import { createGatewayRegistry } from '../../../control-plane/fleet/gateway-registry.ts'
import type { Nodes } from '../../../control-plane/store/engine.ts'
import type { OtherNode } from '../../../control-plane/store/nodes.ts'
import { systemClock } from '../../../shared/clock.ts'
import { until } from '../../support/fleet.ts'

const status = (gateway_id: string, key_id: string | null) => ({
  gateway_id,
  key_id,
  version: '1',
  connected: true,
  connected_at: '2026-01-01T00:00:00.000Z',
  last_seen_at: '2026-01-01T00:00:00.000Z',
  revision: 1,
  lag: 0,
  applied_at: null,
  durable: true,
  rejections: [],
})

const progress = (gatewayId: string, position: number) => ({
  gatewayId,
  position,
  revision: 1,
  isDurable: true,
  isRevokedDurable: true,
  rejected: [],
})

function startEverywhere(t: { teardown(work: () => unknown): void }, others: OtherNode[]) {
  const nodes = {
    say: () => Promise.resolve(),
    others: () => Promise.resolve([...others]),
    prune: () => Promise.resolve(),
  } as unknown as Nodes
  const everywhere = acknowledgeEverywhere({
    links: new Map(),
    registry: createGatewayRegistry(systemClock),
    unsendable: new Map(),
    keys: { seen: () => Promise.resolve([]) },
    log: pino({ level: 'silent' }),
    nodes,
    onCutOff: () => undefined,
  })
  t.teardown(() => everywhere.close())
  return everywhere
}

t.test('gateways of a node that has gone are missed until another has them', async (t) => {
  const gone = { nodeId: 'gone', isLive: false, gateways: [progress('a', 1), progress('b', 1)] }
  const live = { nodeId: 'live', isLive: true, gateways: [progress('b', 9)], status: [] }
  // one whose key does not count any more is nobody's
  const known = [status('a', null), status('b', null), status('former', 'k1')]
  const everywhere = startEverywhere(t, [{ ...gone, status: known }, live])
  t.same(await everywhere.revoked({ sequence: 0, position: 9 }, 60_000), {
    applied: ['b'],
    pending: [],
    notDurable: [],
    unreachable: ['a'],
  })
  t.match(everywhere.gateways(3), [{ gateway_id: 'a', connected: false, lag: 2 }, {}, {}])
})

t.test('an answer waits for what another node says, and for no longer than it may', async (t) => {
  const live = { nodeId: 'live', isLive: true, gateways: [progress('b', 1)], status: [] }
  const others = [live]
  const everywhere = startEverywhere(t, others)
  t.match(await everywhere.revoked({ sequence: 0, position: 1 }, 60_000), { applied: ['b'] })
  const late = everywhere.revoked({ sequence: 0, position: 2 }, 1)
  t.match(await late, { applied: [], pending: ['b'] })
  let isAnswered = false
  const answer = everywhere.revoked({ sequence: 0, position: 2 }, 60_000).finally(() => {
    isAnswered = true
  })
  t.notOk(isAnswered)
  others[0] = { ...live, gateways: [progress('b', 2)] }
  await until(() => isAnswered)
  t.match(await answer, { applied: ['b'], pending: [] })
})
