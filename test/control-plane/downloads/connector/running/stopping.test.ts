/** How it ends: requests under way are finished, a second signal waits for nothing. */
import { connect, createServer, type AddressInfo } from 'node:net'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  openKey,
  publicKeyOf,
} from '../../../../../control-plane/downloads/connector/state/own-keys.ts'
import type { Joined } from '../../../../../control-plane/downloads/connector/state/state-folder.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { connectorHere, startJoinable } from '../../../../support/connector-program.ts'
import { ask, openDoor } from '../../../../support/dialled-in.ts'
import { freePort } from '../../../../support/ports.ts'
import { startOrigin } from '../../../../support/wire.ts'

async function start(t: Test, address?: (port: number) => Promise<string>, origin?: string) {
  let release = () => {}
  let asked = () => {}
  const isAsked = new Promise<void>((resolve) => (asked = resolve))
  const application = await startOrigin(t, (request, response) => {
    if (request.url !== '/slow') return void response.end('ok')
    release = () => response.end('slow')
    asked()
  })
  const service = await startJoinable(t)
  const door = await openDoor(t)
  await service.services.gatewayDoors.connected('gateway-1', {
    address: (await address?.(door.port)) ?? door.address,
    certificate: door.certificate,
  })
  const here = connectorHere(t, {
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_CONNECTOR_TOKEN: await service.token(),
  })
  const state = join(here.home, 'state')
  await here.call(['join', '--origin', origin ?? application.url, '--state', state])
  const { connector_id: connectorId, key } = JSON.parse(
    readFileSync(join(state, 'connector.json'), 'utf8'),
  ) as Joined
  const pair = { privateKey: openKey(key), publicKey: publicKeyOf(key), keyId: key.key_id }
  door.allow({ [connectorId]: pair })
  const running = here.start(['run', '--state', state, '--local-port', 'none'])
  await running.logged('"msg":"connected"')
  return { door, running, isAsked, release: () => release(), application }
}

t.test('a request that is under way is answered, and then it ends', async (t) => {
  t.equal(LIMITS.connectorDrainMsMax, 30_000)
  const { door, running, isAsked, release } = await start(t)
  const slow = ask(door.upstream, { target: '/slow' })
  await isAsked
  running.signal('stop')
  await running.logged('stopping')
  release()
  t.match(await slow, { status: 200, body: 'slow' })
  t.match(await running.ended, { code: 0, err: /"msg":"stopped"/ })
})

t.test('what it cannot read ends it before it has begun, and nothing is left open', async (t) => {
  const service = await startJoinable(t)
  const here = connectorHere(t, {
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_CONNECTOR_TOKEN: await service.token(),
  })
  const state = join(here.home, 'state')
  await here.call(['join', '--origin', 'http://127.0.0.1:1', '--state', state])
  const port = await freePort()
  const run = ['run', '--state', state, '--local-port', String(port)]
  chmodSync(join(state, 'gateways.jws'), 0o644)
  t.match(await here.call(run), { code: 1, err: /chmod 600 .*gateways\.jws/ })
  await t.rejects(fetch(`http://127.0.0.1:${port}/status`))
  chmodSync(join(state, 'gateways.jws'), 0o600)
  const again = here.start(run)
  await again.logged('the list of gateways is followed')
  again.signal('stop')
  t.match(await again.ended, { code: 0 })
})

t.test('a second signal ends it at once', async (t) => {
  const { door, running, isAsked } = await start(t)
  const slow = ask(door.upstream, { target: '/slow' })
  await isAsked
  running.signal('stop')
  running.signal('stop')
  t.match(await running.ended, { code: 0, err: /stopped at once/ })
  t.match(await slow, { status: 502 })
})

t.test('gateway and application at addresses of IPv6', async (t) => {
  const relay = async (port: number) => {
    const server = createServer((socket) => {
      const onward = connect(port, '127.0.0.1')
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
    t.teardown(() => server.close())
    return `[::1]:${(server.address() as AddressInfo).port}`
  }
  const origin = await startOrigin(t)
  const { door, running } = await start(
    t,
    relay,
    `http://${await relay(Number(new URL(origin.url).port))}`,
  )
  t.match(await ask(door.upstream), { status: 200, body: 'ok' })
  t.equal(origin.seen.length, 1)
  running.signal('stop')
  await running.ended
})
