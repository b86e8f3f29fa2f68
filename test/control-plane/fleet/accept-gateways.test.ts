import t from 'tap'
import { WebSocket } from 'ws'
import { LIMITS } from '../../../shared/limits.ts'
import { FLEET_KEY, startControlPlane, startGateway, until } from '../../support/fleet.ts'
import { connectRaw } from '../../support/raw-gateway.ts'

/** The status of a refused handshake, or 101. */
function knock(port: number, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
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
}

t.test('only the fleet key opens the fleet path', async (t) => {
  const { port } = await startControlPlane(t)
  const authorization = `Bearer ${FLEET_KEY}`
  t.equal(await knock(port, '/fleet', { authorization }), 101)
  t.equal(await knock(port, '/fleet', { authorization: `bearer ${FLEET_KEY}` }), 101)
  t.equal(await knock(port, '/fleet', {}), 401)
  for (const wrong of [
    'Bearer ',
    'Bearer wrong',
    `Bearer ${FLEET_KEY}x`,
    `Bearer ${FLEET_KEY.slice(0, -1)}`,
    FLEET_KEY,
    `Basic ${Buffer.from(FLEET_KEY).toString('base64')}`,
  ])
    t.equal(await knock(port, '/fleet', { authorization: wrong }), 401, wrong)
  for (const path of ['/', '/fleet/', '/fleet?key=1', '/Fleet'])
    t.equal(await knock(port, path, { authorization }), 404, path)
})

t.test('a gateway of another format is told why it is refused', async (t) => {
  const control = await startControlPlane(t)
  const raw = await connectRaw(t, control.port, { format: 2 })
  t.match(await raw.closed, { code: 4003 })
  t.match(raw.received, [{ type: 'refused', reason: /format 2 .* only 1/ }])
  t.same(control.hub.gateways(), [])
})

t.test('a connection that does not say hello is closed', async (t) => {
  const control = await startControlPlane(t, { timing: { helloMsMax: 20 } })
  const raw = await connectRaw(t, control.port, { isSilent: true })
  t.match(await raw.closed, { code: 4002 })
})

t.test('a connection that has not said hello yet keeps nobody from stopping', async (t) => {
  const control = await startControlPlane(t, { timing: { helloMsMax: 600_000 } })
  const raw = await connectRaw(t, control.port, { isSilent: true })
  await control.kill()
  t.match(await raw.closed, { code: 1001 })
  await control.start()
})

t.test('a newer connection of a gateway replaces the older one', async (t) => {
  const control = await startControlPlane(t)
  const older = await connectRaw(t, control.port, { id: 'edge-1' })
  await older.wait('synced')
  const newer = await connectRaw(t, control.port, { id: 'edge-1' })
  t.match(await older.closed, { code: 4000 })
  await newer.wait('synced')
  const [gateway, ...others] = control.hub.gateways()
  t.match(gateway, { gateway_id: 'edge-1', connected: true })
  t.same(others, [])
})

t.test('what a replaced connection still says is void', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const older = await connectRaw(t, control.port, { id: 'edge-1' })
  await older.wait('synced')
  older.socket.pause() // so that it does not see that it is closed
  const newer = await connectRaw(t, control.port, { id: 'edge-1' })
  await newer.wait('synced')
  older.send({ type: 'applied', epoch: 'epoch-1', revision: 1, is_durable: true })
  for (let round = 2; round < 6; round += 1) {
    newer.send({ type: 'resync', reason: 'to let time pass' })
    await newer.wait('welcome', round)
  }
  t.equal(control.hub.gateways()[0]?.revision, 0)
})

t.test('hostile messages close at most the connection that sent them', async (t) => {
  const control = await startControlPlane(t)
  control.put('ada')
  const gateway = startGateway(t, { port: control.port })
  await control.settled(1)

  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const closing: [string, string | Buffer, number][] = [
    ['not JSON', '{"type":', 1007],
    ['empty', '', 1007],
    ['binary', Buffer.from([0xff, 0x00]), 1007],
    ['too big', `"${'x'.repeat(LIMITS.fleetMessageBytesMax)}"`, 1009],
    [
      'a second hello',
      '{"type":"hello","id":"a","version":"0","format":1,"epoch":"","revision":0}',
      1002,
    ],
  ]
  for (const [name, text, code] of closing) {
    const raw = await connectRaw(t, control.port, { id: 'hostile' })
    await raw.wait('synced')
    raw.socket.send(text, { binary: Buffer.isBuffer(text) })
    t.match(await raw.closed, { code }, name)
  }

  const raw = await connectRaw(t, control.port, { id: 'hostile' })
  await raw.wait('synced')
  for (const text of [
    deep,
    `{"type":"consumed","messages":${deep}}`,
    'null',
    '0',
    '[]',
    '{}',
    '{"type":null}',
    '{"type":"__proto__"}',
    '{"type":"constructor"}',
    '{"type":"applied","epoch":1,"revision":"x"}',
    '{"type":"applied","epoch":"epoch-1","revision":-1,"is_durable":true}',
    '{"type":"applied","epoch":"epoch-1","revision":1e400,"is_durable":true}',
    '{"type":"consumed","messages":1.5}',
    '{"__proto__":{"type":"applied"},"type":"rejected","tenant_id":"__proto__","revision":1,"reason":"x"}',
    `{"type":"rejected","tenant_id":"a","revision":1,"reason":"${'x'.repeat(1001)}"}`,
    '{"type":"events","batch":1,"events":[{"tenant_id":"__proto__","outcome":"x"}]}',
    '{"type":"activity","sessions":{"length":1e9}}',
  ])
    raw.sendText(text)
  raw.send({ type: 'resync', reason: 'still here' })
  await raw.wait('welcome', 2)
  t.equal(raw.socket.readyState, WebSocket.OPEN)
  t.equal(({} as Record<string, unknown>)['type'], undefined)

  await control.settled(control.put('ada'))
  t.equal(gateway.registry.byId('ada')?.tenant.revision, 2)
})

t.test('a malformed first word is refused', async (t) => {
  const control = await startControlPlane(t)
  for (const hello of [
    '{"type":"hello"}',
    `{"type":"hello","id":"${'x'.repeat(101)}","version":"0","format":1,"epoch":"","revision":0}`,
    '{"type":"hello","id":"a","version":"0","format":"1","epoch":"","revision":0}',
    '{"type":"hello","id":"a","version":"0","format":1,"epoch":"","revision":-1}',
  ]) {
    const raw = await connectRaw(t, control.port, { isSilent: true })
    raw.sendText(hello)
    t.match(await raw.closed, { code: 4003 }, hello.slice(0, 60))
  }
})

t.test('a gateway that gives no sign of life is dropped', async (t) => {
  const control = await startControlPlane(t, { timing: { heartbeatMs: 10, silenceMsMax: 50 } })
  const alive = await connectRaw(t, control.port, { id: 'alive' })
  const dead = await connectRaw(t, control.port, { id: 'dead', webSocket: { autoPong: false } })
  t.match(await dead.closed, { code: 1006 })
  await until(() => control.hub.gateways().some(({ connected }) => !connected))
  t.match(control.hub.gateways(), [
    { gateway_id: 'alive', connected: true },
    { gateway_id: 'dead', connected: false },
  ])
  t.equal(alive.socket.readyState, WebSocket.OPEN)
})
