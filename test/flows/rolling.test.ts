// long: everything is replaced, one after the other, under load
import t from 'tap'
import { until } from '../support/fleet.ts'
import { childrenOf, startLiveGateway } from '../support/live-gateway.ts'
import { startSteadyLoad } from '../support/steady-load.ts'
import { startOrigin } from '../support/wire.ts'

for (const { workers, requests } of [
  { workers: 1, requests: 8000 },
  { workers: 2, requests: 12_000 },
])
  t.test(`rolling restarts of ${workers} fail no request`, async (t) => {
    const origin = await startOrigin(t, (_request, response) => {
      response.end('ok')
      origin.seen.length = 0
    })
    const gateway = await startLiveGateway(t, { origin: origin.url, workers })
    const before = childrenOf(gateway.program.child.pid!)
    const load = startSteadyLoad({
      port: gateway.port,
      requests,
      clients: 16,
      head: gateway.head(),
      status: 200,
    })
    for (let roll = 1; roll <= 2; roll++) {
      // Each begins while requests are being answered.
      await until(() => load.answered() >= roll * 1000, 60_000)
      gateway.program.child.kill('SIGHUP')
      await gateway.heard('the rolling restart has ended', roll)
    }
    await load.done
    t.same(load.failures, [])
    t.equal(load.answered(), requests)
    t.ok(load.closed() > 0, 'connections were asked to leave')
    const after = childrenOf(gateway.program.child.pid!)
    t.equal(after.length, workers)
    t.same(
      after.filter((pid) => before.includes(pid)),
      [],
      'all of them are new',
    )
    const metrics = await gateway.metrics()
    t.equal(metrics.get('gateway_worker_restarts_total{cause="rolling"}'), 2 * workers)
    t.equal(metrics.get('gateway_worker_restarts_total{cause="crash"}'), 0)
    const counted = [...metrics].filter(([name]) => name.startsWith('gateway_requests_total'))
    t.equal(
      counted.reduce((sum, [, count]) => sum + count, 0),
      requests,
      'no count is lost with the worker that held it',
    )
  })
