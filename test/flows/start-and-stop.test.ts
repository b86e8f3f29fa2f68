// long: starts and ends all programs again and again
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { startControlPlane, temporaryFolder, until } from '../support/fleet.ts'
import { LIVE_HOST, startLiveGateway } from '../support/live-gateway.ts'
import { freePort } from '../support/ports.ts'
import { Program, SECRETS } from '../support/programs.ts'
import { listening, RawClient } from '../support/wire.ts'
import { createLiveKey } from '../../control-plane/keys/live-key.ts'

t.test(
  'a gateway that has never been configured is alive, not ready, and serves nobody',
  async (t) => {
    const control = await startControlPlane(t, {
      fleetKey: createLiveKey(SECRETS.SERVICE_FLEET_KEY),
    })
    control.put('app', { edge_urls: { [LIVE_HOST]: `http://${LIVE_HOST}` } })
    await control.kill()
    const folder = temporaryFolder(t)
    const [port, statusPort] = [await freePort(), await freePort()]
    const file = join(folder, 'config.yaml')
    writeFileSync(
      file,
      `data_dir: ${folder}/data
gateway:
  listen: 127.0.0.1:${port}
  status_listen: 127.0.0.1:${statusPort}
  id: fresh
  control_plane: http://127.0.0.1:${control.port}
`,
    )
    const program = new Program('gateway/main.ts', ['--config', file], SECRETS)
    t.teardown(() => program.stop('SIGKILL'))
    await program.ready
    const status = (path: string) => fetch(`http://127.0.0.1:${statusPort}${path}`)
    const ask = async () => {
      const client = new RawClient(port)
      client.send(`GET / HTTP/1.1\r\nHost: ${LIVE_HOST}\r\nAccept: application/json\r\n\r\n`)
      const answer = await client.answer()
      client.close()
      return answer
    }
    t.match(await status('/health/live'), { status: 200 })
    const ready = await status('/health/ready')
    t.equal(ready.status, 503)
    t.match(await ready.json(), { status: 'not_ready', reason: 'not_configured', detail: String })
    t.match(await (await status('/metrics')).text(), /^gateway_configured 0$/m)
    t.match(await ask(), { status: 503, head: /retry-after: /i })

    await control.start()
    await control.settled(1)
    for (;;) {
      const now = await status('/health/ready')
      await now.text()
      if (now.status === 200) break
    }
    t.match(await ask(), { status: 401 }, 'and from then on it serves')
  },
)

t.test('an event stream that never ends holds a stop to its maximum, and no longer', async (t) => {
  const streams: ServerResponse[] = []
  const server = createServer((_request, response) => {
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\n\n')
    streams.push(response)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const gateway = await startLiveGateway(t, {
    origin: `http://127.0.0.1:${await listening(server)}`,
  })
  const client = new RawClient(gateway.port)
  t.teardown(() => client.close())
  client.send(gateway.head('/events'))
  await client.until((received) => received.includes('data: first'))
  gateway.program.child.kill('SIGTERM')
  let isOver = false
  void client.closed.then(() => (isOver = true))
  let sent = 0
  const events = setInterval(() => streams[0]?.write(`data: ${++sent}\n\n`), 200)
  t.teardown(() => clearInterval(events))
  await until(() => client.received.includes('data: 50\n'))
  t.notOk(isOver, 'ten seconds after the word to stop, events still arrive')
  t.equal(await gateway.program.exited, 0)
  await client.closed
  t.match(await client.answer(), { status: 200, isWhole: false }, 'nobody takes it for whole')
})
