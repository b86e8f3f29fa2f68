/** `status` beside a connector that runs, one that does not, and a stranger on its port. */
import t from 'tap'
import { LINK_STATES } from '../../../../../control-plane/downloads/connector/local/health.ts'
import { openDoor } from '../../../../support/dialled-in.ts'
import { answering, CONNECTOR, joinedHere } from '../../../../support/joined-connector.ts'
import { freePort } from '../../../../support/ports.ts'
import { startOrigin } from '../../../../support/wire.ts'

t.test('it asks the connector that runs, and says when it does not', async (t) => {
  const origin = await startOrigin(t)
  const door = await openDoor(t)
  const { address, certificate } = door
  const gateways = [{ gateway_id: 'gateway-1', address, certificate }]
  const connector = await joinedHere(t, { origin: origin.url, gateways })
  door.allow({ [CONNECTOR]: connector.keys })
  const port = String(await freePort())

  const before = await connector.call('status', '--local-port', port)
  t.match(before, { code: 3, err: '' })
  t.match(before.out, `web-1 (${CONNECTOR}) of acme: not running`)
  t.match(before.out, new RegExp(`Nothing listens on port ${port}.*service-connector run`))
  t.match(before.out, `gateway-1 at ${address} (as kept from the last run)`)

  const running = connector.start('run', '--local-port', port)
  await running.logged('ready, metrics and status')
  let ready = await connector.call('status', '--local-port', port)
  while (ready.code !== 0) ready = await connector.call('status', '--local-port', port)
  t.match(ready.out, `web-1 (${CONNECTOR}) of acme: ready\n`)
  t.match(
    ready.out,
    /gateway-1: ready\n +worker 1: checked \d+ s ago, round trip [\d.]+ ms, \d conn/,
  )

  const asJson = await connector.call('status', '--local-port', port, '--json')
  t.match(JSON.parse(asJson.out), {
    state: 'ready',
    connector_id: CONNECTOR,
    origin: origin.url,
    kept: { gateways: [{ gateway_id: 'gateway-1', address }], problem: '' },
    running: { process_id: process.pid, gateways: [{ links: [{ state: LINK_STATES[0] }] }] },
  })
  for (const { out, err } of [before, ready, asJson])
    t.notOk(`${out}${err}`.includes(connector.privateKey), 'the key is nowhere')

  const found = await connector.call('status', '--json')
  t.match(
    JSON.parse(found.out),
    { state: 'ready' },
    'the port is read where the connector keeps it',
  )
  running.signal('stop')
  t.match(await running.ended, { code: 0 })
  t.match(await connector.call('status', '--local-port', port), { code: 3 })
  t.match(await connector.call('status'), { code: 3, out: new RegExp(`listens on port ${port}`) })

  const silent = connector.start('run', '--local-port', 'none')
  await silent.logged('the connector starts')
  t.match(await connector.call('status'), { code: 3, out: /no local port to ask/ })
  silent.signal('stop')
  await silent.ended
})

t.test('who is no connector, or another one, is not taken for it', async (t) => {
  const connector = await joinedHere(t)
  const stranger = await answering(t, (_request, response) => response.end('<html>hello</html>'))
  const asked = await connector.call('status', '--local-port', String(stranger.port), '--json')
  t.match(asked, { code: 3 })
  t.match(JSON.parse(asked.out), { state: 'unknown', problem: /Another program/, running: null })

  const another = await answering(t, (_request, response) =>
    response.end(
      JSON.stringify({
        tenant_id: 'acme',
        connector_id: 'con_2',
        version: '1.0.0',
        origin: 'http://127.0.0.1:3000',
        process_id: 1,
        up_seconds: 1,
        is_ready: true,
        is_degraded: false,
        reason: null,
        detail: '',
        gateways: [],
        opened: {},
        list: { sequence: 1, confirmed_seconds_ago: null },
        control_plane_problem: '',
      }),
    ),
  )
  const second = await connector.call('status', '--local-port', String(another.port))
  t.match(second, { code: 3, out: /another connector on this machine.*--local-port/ })
})

t.test('ports are checked, and none is one', async (t) => {
  const connector = await joinedHere(t)
  for (const port of ['65536', 'x', '-1', '1.5'])
    t.match(await connector.call('status', `--local-port=${port}`), { code: 2, err: /1 to 65535/ })
  for (const none of ['none', '0'])
    t.match(await connector.call('status', '--local-port', none), {
      code: 3,
      out: /not known to be/,
    })
})
