/** A key is replaced while requests go on: the second tunnel takes over, and nothing is cut off. */
import t, { type Test } from 'tap'
import { Tunnels } from '../../../../../control-plane/downloads/connector/running/tunnels.ts'
import { Tunnel } from '../../../../../control-plane/downloads/connector/tunnel/tunnel.ts'
import { applicationAddress } from '../../../../../control-plane/downloads/connector/tunnel/splice.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import {
  ask,
  newConnectorKeys,
  openDoor,
  TENANT,
  type Door,
} from '../../../../support/dialled-in.ts'
import { startOrigin } from '../../../../support/wire.ts'

const [OLD, NEW] = [newConnectorKeys(), newConnectorKeys()]
const keyOf = (keyId: string) => ({ key_id: keyId, private_key: '', made_at: '' })

function start(t: Test, door: Door, origin: string, keyId = 'k0') {
  const told: string[] = []
  let moved = () => {}
  const isMoved = new Promise<void>((resolve) => (moved = resolve))
  let connected = () => {}
  const isConnected = new Promise<void>((resolve) => (connected = resolve))
  const tunnels = new Tunnels(keyOf(keyId), {
    open: ({ key_id: id }, onEvent) =>
      new Tunnel({
        identity: {
          tenantId: TENANT,
          connectorId: 'con_1',
          keyId: id,
          privateKey: (id === 'k0' ? OLD : NEW).privateKey,
          program: '0.0.0',
        },
        application: applicationAddress(origin),
        dialling: { timeoutMs: 60_000 },
        random: () => 0.1,
        nowMs: () => performance.now(),
        applicationMs: 60_000,
        onEvent,
      }),
    onEvent(event) {
      told.push(event.type)
      if (event.type === 'connected') connected()
    },
    onMoved: () => moved(),
  })
  t.teardown(() => tunnels.close())
  const { address, certificate } = door
  tunnels.follow([{ gateway_id: 'gateway-1', address, certificate }])
  return { tunnels, told, isMoved, isConnected }
}

t.test('the next key takes over, and a request that is under way is answered', async (t) => {
  t.equal(LIMITS.connectorKeyDrainMsMax, 3600 * 1000)
  let answerSlow = () => {}
  let asked = () => {}
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const origin = await startOrigin(t, (request, response) => {
    if (request.url !== '/slow') return void response.end('ok')
    answerSlow = () => response.end('slow')
    asked()
  })
  const door = await openDoor(t)
  door.allow({ con_1: NEW }, { con_1: OLD })
  const { tunnels, isConnected, isMoved, told } = start(t, door, origin.url)
  await isConnected
  const slow = ask(door.upstream, { target: '/slow' })
  await isAsked
  tunnels.moveTo(keyOf('k1'))
  t.notOk(tunnels.isOnlyOn('k0') && tunnels.isOnlyOn('k1'))
  const present = () => [...door.connectors.present()].map(({ member }) => member.keyId)
  while (present()[0] !== 'k1') t.equal((await ask(door.upstream)).status, 200)
  for (let count = 0; count < 20; count++) t.equal((await ask(door.upstream)).status, 200)
  t.strictSame(present(), ['k1'], 'it is one connector, not two')
  t.notOk(tunnels.isOnlyOn('k1'), 'the old key is needed still')
  answerSlow()
  t.match(await slow, { status: 200, body: 'slow', failure: '' })
  await isMoved
  t.ok(tunnels.isOnlyOn('k1'))
  door.allow({ con_1: NEW })
  t.equal((await ask(door.upstream)).status, 200, 'and now it is not')
  t.notOk(told.includes('lost'))
})

t.test('a key that gateways do not know takes over nothing', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  door.allow({}, {})
  const { tunnels, isMoved } = start(t, door, origin.url)
  tunnels.moveTo(keyOf('k1'))
  while (door.logged.length < 2) await new Promise((next) => setTimeout(next, 5))
  t.notOk(tunnels.isOnlyOn('k1'))
  t.ok(tunnels.isOnlyOn('k0'))
  // After a last step that was not written down only the next key counts.
  door.allow({ con_1: NEW })
  await isMoved
  t.ok(tunnels.isOnlyOn('k1'))
  t.equal((await ask(door.upstream)).status, 200)
})
