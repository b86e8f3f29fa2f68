/** A key per gateway: it stands for one id, is revoked alone, and is replaced without a gap. */
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createAdmission } from '../../../control-plane/fleet/admission.ts'
import { systemClock, type Clock } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { ACTOR, FLEET_KEY, movableClock, startServices } from '../../support/control-plane.ts'
import { createTestLog, until } from '../../support/fleet.ts'
import { fleetPortOf } from '../../support/fleet-port.ts'
import { connectRaw } from '../../support/raw-gateway.ts'
import { createLiveKey } from '../../../control-plane/keys/live-key.ts'

async function startWorld(t: Test, clock: Clock = systemClock) {
  const services = await startServices(t, { clock })
  const port = await fleetPortOf(t, services)
  const connect = (
    id: string,
    key: string,
    headers: Record<string, string> = {},
    isSilent = false,
  ) =>
    connectRaw(t, port, {
      id,
      isSilent,
      webSocket: { headers: { authorization: `Bearer ${key}`, ...headers } },
    })
  /** The status that the door answers. */
  const knock = (key: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve, reject) => {
      const sent = { authorization: `Bearer ${key}`, ...headers }
      const socket = new WebSocket(`ws://127.0.0.1:${port}/fleet`, { headers: sent })
      socket.on('unexpected-response', (_request, response) => {
        resolve(response.statusCode ?? 0)
        socket.terminate()
      })
      socket.on('open', () => {
        resolve(101)
        socket.terminate()
      })
      socket.on('error', reject)
    })
  return { services, gatewayKeys: services.gatewayKeys, connect, knock }
}

void t.test('a gateway with a key of its own is served, and its key is told', async (t) => {
  const { services, gatewayKeys, connect } = await startWorld(t)
  const { key, keyId } = await gatewayKeys.make('edge-1', ACTOR)
  t.match(key, /^gwk_[\w-]{43}\.[\w-]{43}$/)
  const raw = await connect('edge-1', key)
  await raw.wait('synced')
  t.match(services.gateways(), [{ gateway_id: 'edge-1', connected: true, key_id: keyId }])
  t.match(await gatewayKeys.list(), [{ keyId, gatewayId: 'edge-1', lastUsedAt: Number }])
  const rows = JSON.stringify([await gatewayKeys.list(), services.gateways()])
  t.notMatch(rows, key, 'the key itself is nowhere')
})

void t.test('a key cannot claim the id of another gateway, nor can the shared one', async (t) => {
  const { services, gatewayKeys, connect } = await startWorld(t)
  const { key } = await gatewayKeys.make('edge-1', ACTOR)
  await gatewayKeys.make('edge-2', ACTOR)
  const thief = await connect('edge-2', key)
  t.match(await thief.closed, { code: 4003 })
  t.match(thief.received, [{ type: 'refused', reason: /belongs to gateway "edge-1"/ }])
  const shared = await connect('edge-1', FLEET_KEY)
  t.match(await shared.closed, { code: 4003 })
  t.match(shared.received, [{ type: 'refused', reason: /has a key of its own/ }])
  t.same(services.gateways(), [], 'nobody has come in')
})

void t.test('a revoked key is cut off at once and opens nothing, the others go on', async (t) => {
  const { services, gatewayKeys, connect, knock } = await startWorld(t)
  const [one, two] = [
    await gatewayKeys.make('edge-1', ACTOR),
    await gatewayKeys.make('edge-2', ACTOR),
  ]
  const [first, second] = [await connect('edge-1', one.key), await connect('edge-2', two.key)]
  await first.wait('synced')
  await second.wait('synced')
  const ticketSecrets = (gateway: typeof first) =>
    gateway.of('settings').map(({ settings }) => settings.ticket_secret)
  await until(() => [first, second].every((gateway) => ticketSecrets(gateway).length > 0))
  const [known] = ticketSecrets(second)
  await gatewayKeys.revoke('edge-1', one.keyId, ACTOR)
  t.match(await first.closed, { code: 1006 }, 'without a goodbye')
  await until(() => ticketSecrets(second).at(-1) !== known)
  t.ok(
    ticketSecrets(first).every((secret) => secret === known),
    'what it has known of the others is replaced, and it does not hear by what',
  )
  t.equal(await knock(one.key), 401)
  t.equal(second.socket.readyState, WebSocket.OPEN)
  await until(() => services.gateways().some(({ connected }) => !connected))
  const receipt = await services.fleet.revocationsSettled(0)
  t.same(receipt.unreachable, ['edge-1'], 'it still serves what it has')

  await gatewayKeys.remove('edge-2', ACTOR)
  t.match(await second.closed, { code: 1006 })
  t.same((await services.fleet.revocationsSettled(0)).unreachable, ['edge-1'], 'not waited for')
  await t.rejects(gatewayKeys.remove('edge-2', ACTOR), { code: 'gateway_not_found' })
  await t.rejects(gatewayKeys.revoke('edge-1', one.keyId, ACTOR), { code: 'gateway_not_found' })
})

void t.test('a revoked key is answered once the other gateways know', async (t) => {
  const { gatewayKeys, connect } = await startWorld(t)
  const bad = await gatewayKeys.make('edge-1', ACTOR)
  const good = await gatewayKeys.make('edge-2', ACTOR)
  const [gone, other] = [await connect('edge-1', bad.key), await connect('edge-2', good.key)]
  await gone.wait('synced')
  const confirm = (sequence = 0) =>
    other.send({ type: 'revoked_applied', sequence, is_durable: true })
  await other.wait('revoked_synced')
  confirm(other.of('revoked_synced')[0]?.sequence)
  await other.wait('settings')
  const known = other.of('settings').length

  let isAnswered = false
  const revoked = gatewayKeys.revoke('edge-1', bad.keyId, ACTOR).finally(() => (isAnswered = true))
  await other.wait('settings', known + 1)
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(isAnswered, false, 'it has been told, and has not said that it goes by it')
  confirm(other.of('settings').at(-1)?.sequence)
  const { applied, pending, unreachable } = await revoked
  t.same([applied, pending, unreachable], [['edge-2'], [], []], 'the one sent away does not count')
})

void t.test('what is read while a key is revoked does not bring the old secret back', async (t) => {
  const { services, gatewayKeys, connect } = await startWorld(t)
  const bad = await gatewayKeys.make('edge-1', ACTOR)
  const good = await gatewayKeys.make('edge-2', ACTOR)
  const other = await connect('edge-2', good.key)
  await other.wait('synced')
  const told = () => other.of('settings').map(({ settings }) => settings.ticket_secret)
  await until(() => told().length > 0)
  const [known] = told()

  const all = services.gatewayDoors.all
  const reading = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  services.gatewayDoors.all = async () => {
    services.gatewayDoors.all = all
    reading.resolve()
    await goOn.promise
    return [{ gateway_id: 'edge-9', address: 'edge-9.example:8443', certificate: 'none' }]
  }
  const round = services.tellSettings.run()
  await reading.promise
  const revoked = gatewayKeys.revoke('edge-1', bad.keyId, ACTOR)
  await until(() => told().at(-1) !== known)
  goOn.resolve()
  await Promise.all([round, revoked])
  await until(() => other.of('settings').some(({ settings }) => settings.gateways !== undefined))
  t.equal(told().indexOf(known, 1), -1, 'after the new secret never again the old one')
})

void t.test('a key that is revoked while its gateway comes in opens nothing', async (t) => {
  const { services, gatewayKeys, connect } = await startWorld(t)
  const { key, keyId } = await gatewayKeys.make('edge-1', ACTOR)
  const raw = await connect('edge-1', key, {}, true)
  await gatewayKeys.revoke('edge-1', keyId, ACTOR)
  t.match(await raw.closed, { code: 1006 }, 'before it has said who it is')
  const { log } = createTestLog()
  const admission = createAdmission({
    fleetKey: createLiveKey(FLEET_KEY),
    sharedKey: 'local',
    keys: gatewayKeys,
    log,
  })
  const credential = { kind: 'own', keyId, gatewayId: 'edge-1' } as const
  t.equal(await admission.refusalOf(credential, 'edge-1'), 'this key has been revoked')
  t.same(services.gateways(), [])
})

void t.test('while one key replaces another both count, and no third', async (t) => {
  const { gatewayKeys, connect } = await startWorld(t)
  const old = await gatewayKeys.make('edge-1', ACTOR)
  const before = await connect('edge-1', old.key)
  await before.wait('synced')
  const next = await gatewayKeys.make('edge-1', ACTOR)
  t.equal(before.socket.readyState, WebSocket.OPEN)
  t.equal((await gatewayKeys.list()).length, LIMITS.gatewayKeysMax)
  await t.rejects(gatewayKeys.make('edge-1', ACTOR), { code: 'gateway_keys_full' })
  const after = await connect('edge-1', next.key)
  t.match(await before.closed, { code: 4000 }, 'the gateway has come back with the new one')
  await after.wait('synced')
  await gatewayKeys.revoke('edge-1', old.keyId, ACTOR)
  t.equal(after.socket.readyState, WebSocket.OPEN)
})

void t.test('there are only so many gateways', async (t) => {
  const { services, gatewayKeys } = await startWorld(t)
  const { schema } = await import('../../../control-plane/store/schema.ts')
  await services.store.change(async ({ queries }) => {
    for (let made = 0; made < LIMITS.fleetGatewaysKnownMax; made++)
      await queries.insert(schema.gatewayKeys).values({
        ...{ keyId: `key-${made}`, gatewayId: `edge-${made}`, keyHash: `hash-${made}` },
        ...{ createdAt: 0, lastUsedAt: null },
      })
  })
  await t.rejects(gatewayKeys.make('one-more', ACTOR), { code: 'gateways_full' })
  t.match(await gatewayKeys.make('edge-7', ACTOR), { gatewayId: 'edge-7' }, 'N is fine')
})

void t.test('a gateway that has been seen is known after a restart, away or not', async (t) => {
  const { services, gatewayKeys, connect } = await startWorld(t)
  await gatewayKeys.make('never-seen', ACTOR)
  const { key } = await gatewayKeys.make('edge-1', ACTOR)
  const raw = await connect('edge-1', key)
  await raw.wait('synced')
  raw.socket.terminate()
  await until(() => services.gateways().some(({ connected }) => !connected))
  services.fleet.forget('edge-1') // as a program that has just started knows nobody
  t.same((await services.fleet.revocationsSettled(0)).unreachable, ['edge-1'])
})

void t.test('so is one that came with the fleet key of this machine, for a day', async (t) => {
  const clock = movableClock(Date.now())
  const { services, gatewayKeys, connect } = await startWorld(t, clock)
  const raw = await connect('beside', FLEET_KEY)
  await raw.wait('synced')
  const unreachable = async () => (await services.fleet.revocationsSettled(0)).unreachable
  const goes = async (gateway: typeof raw) => {
    gateway.socket.terminate()
    await until(() => services.gateways().every(({ connected }) => !connected))
    services.fleet.forget('beside') // as a program that has just started knows nobody
  }
  clock.advance(LIMITS.keylessGatewayKeptMs)
  await services.jobs.run()
  await goes(raw)
  t.same(await unreachable(), ['beside'], 'it was here still when the day was over')
  clock.advance(LIMITS.keylessGatewayKeptMs)
  t.same(await unreachable(), [], 'a day later it is of no fleet any more')

  const again = await connect('beside', FLEET_KEY)
  await again.wait('synced')
  await goes(again)
  await gatewayKeys.remove('beside', ACTOR)
  t.same(await unreachable(), [], 'nor is one that was removed')
  await t.rejects(gatewayKeys.remove('beside', ACTOR), { code: 'gateway_not_found' })
})

void t.test('the fleet key of this machine opens the door to this machine alone', async (t) => {
  const { knock, gatewayKeys } = await startWorld(t)
  t.equal(await knock(FLEET_KEY), 101)
  for (const name of ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP'])
    t.equal(await knock(FLEET_KEY, { [name]: '192.0.2.1' }), 401, `${name}: through a proxy`)
  const { key } = await gatewayKeys.make('edge-1', ACTOR)
  t.equal(await knock(key, { 'X-Forwarded-For': '192.0.2.1' }), 101, 'a key of its own does')

  const { log, lines } = createTestLog()
  const elsewhere = { address: '192.0.2.1', isForwarded: false }
  const local = { address: '::ffff:127.0.0.1', isForwarded: false }
  for (const [sharedKey, may] of [
    ['local', undefined],
    ['anywhere', { kind: 'shared', number: 1 }],
    ['nowhere', undefined],
  ] as const) {
    const options = { fleetKey: createLiveKey(FLEET_KEY), sharedKey, keys: gatewayKeys, log }
    const admission = createAdmission(options)
    t.same(await admission.authenticate(FLEET_KEY, elsewhere), may, sharedKey)
    t.match(lines.at(-1), { address: '192.0.2.1', advice: /api\/v1\/operator\/gateways/ })
    const own = sharedKey === 'nowhere' ? undefined : { kind: 'shared', number: 1 }
    t.same(await admission.authenticate(FLEET_KEY, local), own)
    t.equal(await admission.authenticate(`${FLEET_KEY}x`, local), undefined)
  }
})
