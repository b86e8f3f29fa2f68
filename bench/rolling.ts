/**
 * `npm run rolling`: 100,000 requests over kept connections while the workers are replaced twenty
 * times. Prints how many failed, and ends with 1 if any did.
 */
import { parseArgs } from 'node:util'
import { until } from '../test/support/fleet.ts'
import { startLiveGateway } from '../test/support/live-gateway.ts'
import { startSteadyLoad } from '../test/support/steady-load.ts'
import { startOrigin } from './origin.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    restarts: { type: 'string', default: '20' },
    workers: { type: 'string', default: '2' },
    clients: { type: 'string', default: '32' },
    /** A new connection for every request. */
    fresh: { type: 'boolean', default: false },
  },
})
const [requests, restarts, workers] = [values.requests, values.restarts, values.workers].map(Number)

const teardowns: (() => unknown)[] = []
const scope = { teardown: (close: () => unknown) => void teardowns.push(close) }
const origin = await startOrigin()
scope.teardown(() => origin.stop())
const gateway = await startLiveGateway(scope, {
  origin: `http://127.0.0.1:${origin.port}`,
  workers: workers!,
})
const load = startSteadyLoad({
  port: gateway.port,
  requests: Infinity,
  clients: Number(values.clients),
  head: gateway.head('/', values.fresh ? 'Connection: close\r\n' : ''),
  status: 200,
})
const rollsMax = Math.ceil(restarts! / workers!)
for (let roll = 1; roll <= rollsMax; roll++) {
  gateway.program.child.kill('SIGHUP')
  await gateway.heard('the rolling restart has ended', roll)
  console.log(
    `${roll * workers!} workers replaced, ${load.answered()} answered, ${load.failures.length} failed`,
  )
}
await until(() => load.answered() >= requests!, 600_000)
load.stop()
await load.done
const { failures } = load
console.log(
  `${load.answered()} requests over ${rollsMax * workers!} restarted workers: ${failures.length} failed`,
)
for (const failure of new Set(failures)) console.log(`  ${failure}`)
for (const teardown of teardowns.reverse()) await teardown()
process.exit(failures.length === 0 ? 0 : 1)
