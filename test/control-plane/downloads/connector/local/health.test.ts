/** When a connector may say that it is ready: a link that brings nothing through is none. */
import t from 'tap'
import {
  healthOf,
  NO_CONNECTION,
} from '../../../../../control-plane/downloads/connector/local/health.ts'
import type { LinkStatus } from '../../../../../control-plane/downloads/connector/tunnel/tunnel.ts'
import { LIMITS } from '../../../../../shared/limits.ts'

const NOW = 1_000_000
const link = (gateway: string, worker: number, how: Partial<LinkStatus> = {}): LinkStatus => ({
  gateway,
  worker,
  isConnected: true,
  connections: 2,
  inUse: 1,
  problem: '',
  reconnects: 0,
  check: { reachedMs: NOW - 1000, problem: '', roundTripMs: 12.34 },
  ...how,
})
const checked = (reachedMs: number | undefined, problem = '') => ({
  check: { reachedMs, problem, roundTripMs: undefined },
})
const AWAY = { isConnected: false, problem: 'gw.example:443 cannot be reached: ECONNREFUSED' }
const judge = (links: LinkStatus[], gateways = ['g1', 'g2'], isDraining = false) =>
  healthOf({ gateways, links, isDraining, nowMs: NOW })

t.test('a check has to have come through', async (t) => {
  const well = judge([link('g1', 1), link('g2', 1)])
  t.match(well, { is_ready: true, is_degraded: false, reason: null, detail: '' })
  t.match(well.gateways[0]?.links[0], {
    state: 'checked',
    problem: '',
    in_use: 1,
    round_trip_ms: 12.3,
    checked_seconds_ago: 1,
  })
  const half = judge([link('g1', 1), link('g2', 1, checked(undefined))])
  t.match(half, { is_ready: true, is_degraded: true })
  t.match(half.gateways, [{ is_ready: true }, { is_ready: false, links: [{ state: 'checking' }] }])
  const none = [link('g1', 1, checked(undefined)), link('g2', 1, AWAY)]
  t.match(judge(none), { reason: 'no_answer', detail: /g1: no check has come through/ })
})

t.test('a gateway that is away takes requests over another one', async (t) => {
  const one = judge([link('g1', 1), link('g2', 1, AWAY)])
  t.match(one, { is_ready: true, is_degraded: true, reason: null, detail: '' })
  t.match(one.gateways[1], { is_ready: false, links: [{ problem: AWAY.problem }] })
  t.match(judge([link('g1', 1, AWAY), link('g2', 1, AWAY)]), {
    is_ready: false,
    reason: 'not_connected',
    detail: /g2: gw\.example:443 cannot be reached: ECONNREFUSED/,
  })
})

t.test('one wedged link of four is not passed over', async (t) => {
  t.equal(LIMITS.connectorCheckedMsMax, 15_000)
  const last = NOW - LIMITS.connectorCheckedMsMax
  const three = [link('g1', 1), link('g1', 2), link('g2', 1)]
  t.match(judge([...three, link('g2', 2, checked(last))]), { is_ready: true, is_degraded: false })
  const wedged = judge([...three, link('g2', 2, checked(last - 1))])
  t.match(wedged, {
    is_ready: false,
    reason: 'no_answer',
    detail: /g2: no check has come through for 15 seconds/,
  })
  t.match(wedged.gateways[1]?.links[1], { state: 'silent' })
})

t.test(
  'what the application answers counts at once, a moment without a connection does not',
  async (t) => {
    const failing = judge([link('g1', 1, checked(NOW - 1000, 'refused'))], ['g1'])
    t.match(failing, {
      is_ready: false,
      reason: 'application',
      detail: /g1: the application refused the connection/,
    })
    t.match(judge([link('g1', 1, checked(NOW - 1000, NO_CONNECTION))], ['g1']), { is_ready: true })
  },
)

t.test('the reasons', async (t) => {
  t.match(judge([], []), { is_ready: false, reason: 'no_gateways' })
  t.match(judge([link('g1', 1), link('g2', 1)], ['g1', 'g2'], true), {
    is_ready: false,
    reason: 'draining',
    detail: 'The connector is stopping.',
  })
})

t.test('a link that has as many requests as it may have is not stuck', (t) => {
  const { connectorConnectionsMax: most, connectorCheckedMsMax } = LIMITS
  const late = checked(NOW - connectorCheckedMsMax - 1, NO_CONNECTION)
  const busy = { connections: most, ...late }
  t.match(judge([link('g1', 1, { ...busy, inUse: most })], ['g1']), { is_ready: true })
  t.match(judge([link('g1', 1, { ...busy, inUse: most - 1 })], ['g1']), { reason: 'no_answer' })
  t.end()
})
