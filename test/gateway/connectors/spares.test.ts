/** How many connections wait to be used: while nobody asks, while somebody does, and in a burst. */
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { ask, dialIn, newConnectorKeys, openDoor } from '../../support/dialled-in.ts'
import { until } from '../../support/fleet.ts'
import { startOrigin } from '../../support/wire.ts'
import { clockOf } from '../../support/clocks.ts'

async function start(t: Test, onRequest?: Parameters<typeof startOrigin>[1]) {
  let nowMs = 1_000_000
  const origin = await startOrigin(t, onRequest)
  const door = await openDoor(t, { clock: clockOf(() => nowMs), tickMs: 1 })
  const keys = newConnectorKeys()
  door.allow({ con_1: keys })
  const dial = async () => {
    const dialled = dialIn(t, door, keys, { origin: origin.url })
    await dialled.until('connected')
    return dialled
  }
  const member = () => [...door.connectors.present()][0]!.member
  return { door, dial, member, pass: (ms: number) => (nowMs += ms) }
}

t.test(
  'none while nobody asks, a few while somebody does, and one for a while after',
  async (t) => {
    const { connectorSparesBusy, connectorSparesIdle, connectorSparesKeptMs } = LIMITS
    const { door, dial, member, pass } = await start(t)
    const { tunnel } = await dial()
    t.match(tunnel.status(), [{ isConnected: true, connections: 0 }])
    t.equal(door.sockets.size, 1, 'its control connection')
    t.match(await ask(door.upstream), { status: 200 }, 'which one is dialled for')
    await until(() => member().spares === connectorSparesBusy)
    pass(connectorSparesKeptMs + 1)
    await until(() => member().spares === connectorSparesIdle)
    pass(LIMITS.connectorLastSpareKeptMs - connectorSparesKeptMs)
    await until(() => member().spares === 0 && member().wanted === 0)
    t.match(await ask(door.upstream), { status: 200 })
  },
)

t.test('one that comes back finds its tenant as it was: asked lately, or not', async (t) => {
  const { door, dial, member, pass } = await start(t)
  const first = await dial()
  await ask(door.upstream)
  // What it is still dialling would come in beside the next one.
  await until(() => member().spares === LIMITS.connectorSparesBusy)
  first.tunnel.close()
  await until(() => [...door.connectors.present()].length === 0)
  const second = await dial()
  await until(() => member().spares === LIMITS.connectorSparesIdle)
  await new Promise((later) => setTimeout(later, 50)) // some looks at what is to be given back
  t.equal(member().wanted, LIMITS.connectorSparesIdle)
  second.tunnel.close()
  await until(() => [...door.connectors.present()].length === 0)
  pass(LIMITS.connectorLastSpareKeptMs + 1)
  await dial()
  t.equal(member().wanted, 0)
})

t.test('what waits in one turn is one burst, and each request has a connection', async (t) => {
  const held: ServerResponse[] = []
  const { door, dial, member } = await start(t, (_request, response) => void held.push(response))
  await dial()
  const answers = Array.from({ length: 20 }, () => ask(door.upstream))
  await until(() => held.length === answers.length)
  t.equal(member().wanted, LIMITS.connectorSparesBusy, 'not twice as many for each of them')
  for (const response of held) response.end('ok')
  for (const answer of answers) t.match(await answer, { status: 200 })
})

t.test('whoever looks at a connector that is idle has its application asked', async (t) => {
  const { dial, member } = await start(t)
  const { tunnel } = await dial()
  const isReached = () => tunnel.status()[0]?.check.reachedMs !== undefined
  while (!isReached()) {
    tunnel.check()
    await new Promise((next) => setTimeout(next, 20))
  }
  await until(() => member().spares === LIMITS.connectorSparesIdle)
})
