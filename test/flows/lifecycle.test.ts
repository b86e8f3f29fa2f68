import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { until } from '../support/fleet.ts'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { listening, RawClient, startOrigin } from '../support/wire.ts'

t.test('SIGTERM lets every request finish, and says that it is the last', async (t) => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const origin = await startOrigin(
    t,
    (_request, response) => void held.then(() => response.end('late')),
  )
  const gateway = await startLiveGateway(t, { origin: origin.url, workers: 2 })
  t.match(await gateway.status('/health/ready'), { status: 200 })
  const clients = Array.from({ length: 6 }, () => new RawClient(gateway.port))
  for (const client of clients) {
    client.send(gateway.head('/slow'))
    t.teardown(() => client.close())
  }
  await until(() => origin.begun() === clients.length)
  gateway.program.child.kill('SIGTERM')
  await until(() => gateway.program.child.exitCode === null)
  const ready = await until503(gateway)
  t.match(ready, { status: 'not_ready', reason: 'draining' })
  release()
  for (const client of clients) {
    const answer = await client.answer()
    t.match(answer, { status: 200, isWhole: true })
    t.match(answer?.head, /connection: close/i)
    t.equal(answer?.body.toString(), 'late')
  }
  t.equal(await gateway.program.exited, 0)
})

async function until503(gateway: Awaited<ReturnType<typeof startLiveGateway>>) {
  for (;;) {
    const answer = await gateway.status('/health/ready')
    if (answer.status === 503) return answer.json()
    await answer.text()
  }
}

t.test('a worker that dies is replaced at once, and nobody is refused meanwhile', async (t) => {
  const origin = await startOrigin(t)
  const gateway = await startLiveGateway(t, { origin: origin.url, workers: 2 })
  const [victim = 0] = childrenOf(gateway.program.child.pid!)
  process.kill(victim, 'SIGKILL')
  const load = startSteadyLoad({
    port: gateway.port,
    requests: 200,
    clients: 4,
    head: gateway.head('/', 'Connection: close\r\n'),
    status: 200,
  })
  await load.done
  t.same(load.failures, [])
  await until(() => childrenOf(gateway.program.child.pid!).length === 2)
  for (;;) {
    const metrics = await gateway.metrics()
    if (metrics.get('gateway_workers{state="serving"}') !== 2) continue
    t.equal(metrics.get('gateway_worker_restarts_total{cause="crash"}'), 1)
    break
  }
})

t.test('new workers take over changed settings, and a broken file changes nothing', async (t) => {
  const origin = await startOrigin(t)
  const gateway = await startLiveGateway(t, { origin: origin.url })
  const answer = async () => {
    const client = new RawClient(gateway.port)
    client.send(gateway.head('/', 'X-Request-Id: from-the-balancer\r\n'))
    const head = (await client.answer())?.head ?? ''
    client.close()
    return head
  }
  t.notMatch(await answer(), 'from-the-balancer')
  gateway.configure('  trusted_proxies: ["127.0.0.1"]')
  gateway.program.child.kill('SIGHUP')
  await gateway.heard('the rolling restart has ended')
  t.match(await answer(), 'from-the-balancer')
  gateway.configure('  trusted_proxies: "everybody"')
  gateway.program.child.kill('SIGHUP')
  await gateway.heard('the rolling restart has ended', 2)
  t.match(gateway.program.output, 'the new worker does not start')
  t.match(await answer(), 'from-the-balancer')
})

t.test('ready means configured, and says why not', async (t) => {
  const origin = await startOrigin(t)
  const gateway = await startLiveGateway(t, { origin: origin.url })
  t.match(await gateway.status('/health/live'), { status: 200 })
  t.match(await (await gateway.status('/health/ready')).json(), {
    status: 'ready',
    workers: { wanted: 1, serving: 1 },
  })
  t.match(await gateway.status('/elsewhere'), { status: 404 })
  const posted = await fetch(`http://127.0.0.1:${gateway.statusPort}/metrics`, { method: 'POST' })
  t.match(posted, { status: 405 })
})

t.test('without file descriptors it neither ends nor spins, and recovers', async (t) => {
  const held: (() => void)[] = []
  const server = createServer((_request, response) => void held.push(() => response.end('ok')))
  const port = await listening(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const gateway = await startLiveGateway(t, { origin: `http://127.0.0.1:${port}` })
  const [worker = 0] = childrenOf(gateway.program.child.pid!)
  const open = readdirSync(`/proc/${worker}/fd`).length
  const limited = spawnSync('prlimit', ['--pid', String(worker), `--nofile=${open + 20}`])
  if (limited.error !== undefined) return void t.comment('skipped: there is no prlimit here')
  const sockets = Array.from({ length: 200 }, () => {
    const socket = connect(gateway.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(gateway.head('/'))
    return socket
  })
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  let ended = 0
  for (const socket of sockets) socket.on('close', () => ended++).resume()
  await until(() => ended > 150)
  const cpu = () => {
    const stat = readFileSync(`/proc/${worker}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(stat[11]) + Number(stat[12])
  }
  const second = new RawClient(gateway.statusPort)
  second.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(await second.answer(), { status: 200 })
  second.close()
  // It may have much to do, on a slow machine for a while: who spins never comes to rest.
  const rests = async () => {
    const before = cpu()
    await new Promise((resolve) => setTimeout(resolve, 500))
    return cpu() - before < 25
  }
  let rounds = 0
  while (!(await rests()) && rounds < 60) rounds++
  t.ok(rounds < 60, 'less than a quarter of a second of CPU in half a second')
  for (const socket of sockets) socket.destroy()
  for (const release of held) release()
  server.on('request', (_request, response) => response.end('ok'))
  for (;;) {
    const client = new RawClient(gateway.port)
    client.send(gateway.head('/'))
    const answer = await client.answer()
    client.close()
    if (answer?.status === 200) break
    for (const release of held) release()
  }
  t.same(childrenOf(gateway.program.child.pid!), [worker], 'the very same worker')
})
