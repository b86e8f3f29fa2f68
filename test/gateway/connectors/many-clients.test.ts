/**
 * Many clients wait for one connector's connections: what that costs is not the square of their number, or
 * a crowd at one slow application would stop all others of the worker.
 */
import t, { type Test } from 'tap'
import type { Member } from '../../../gateway/connectors/member.ts'
import { TenantConnectors } from '../../../gateway/connectors/tenant-connectors.ts'
import { createUpstream } from '../../../gateway/upstream/upstream.ts'
import type { InUse, ResponseSink } from '../../../gateway/wire/upstream-call.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { until } from '../../support/fleet.ts'

const { connectorConnectionsMax: most } = LIMITS
const CLIENTS = 200
const ignore = () => undefined
const SINK: ResponseSink = {
  wantsRawChunks: true,
  onInformational: ignore,
  onHead: ignore,
  onData: ignore,
  onText: ignore,
  onReadEnd: ignore,
  onEnd: ignore,
  onError: ignore,
  onDrain: ignore,
}

/** A connector whose connections are all in use; counts how often they are walked over. */
function start(t: Test) {
  const seen = { walks: 0, asked: 0 }
  const uses = Array.from({ length: most }, (_, at): InUse => {
    return { served: 0, isPooled: true, client: `192.0.2.${at}`, retire: ignore }
  })
  const member = {
    connectorId: 'con_1',
    keyId: 'key_1',
    isDraining: false,
    spares: 0,
    inUse: most,
    wanted: LIMITS.connectorSparesBusy,
    uses() {
      seen.walks++
      return uses
    },
    want: () => void seen.asked++,
    isWell: () => true,
  }
  const connectors = new TenantConnectors({
    nowMs: Date.now,
    connectMs: 60_000,
    isBeginning: () => false,
    awaitedMs: 0,
    elsewhere: () => false,
    hasRoomElsewhere: () => true,
    roomElsewhere: () => () => true,
  })
  connectors.add(member as unknown as Member)
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000 }
  const upstream = createUpstream({ origin: 'http://app.invalid', way: connectors, timeouts })
  t.teardown(() => upstream.close())
  const ask = (client: string) =>
    upstream.request(
      {
        method: 'GET',
        target: '/',
        client,
        lines: 'Host: a\r\n',
        bodyLength: 0,
        hasLength: false,
        firstBody: '',
        isBodyWhole: true,
        isRawChunked: true,
      },
      SINK,
    )
  return { ask, seen, upstream }
}

t.test('one more of them costs as much as the first', async (t) => {
  const { ask, seen, upstream } = start(t)
  for (let at = 0; at < CLIENTS; at++) ask(`10.0.${at}.1`)
  t.equal(upstream.stats().waiting, CLIENTS)
  seen.walks = 0
  ask('10.1.0.1')
  t.ok(seen.walks <= 4, `${seen.walks}`)
})

t.test('and to ask for more on their behalf is one look, not one for each', async (t) => {
  const { ask, seen } = start(t)
  for (let at = 0; at < CLIENTS; at++) ask(`10.0.${at}.1`)
  await until(() => seen.asked > 0)
  Object.assign(seen, { walks: 0, asked: 0 })
  await until(() => seen.asked > 0) // again, as nothing has come
  t.ok(seen.walks <= 4, `${seen.walks}`)
})
