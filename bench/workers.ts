/**
 * `node bench/workers.ts`: CPU per request of the whole gateway, all checks and all telemetry on,
 * with one worker and with two, in interleaved rounds.
 */
import { parseArgs } from 'node:util'
import { startLiveGateway } from '../test/support/live-gateway.ts'
import { cpuTime, familyOf } from './cpu.ts'
import { startOrigin } from './origin.ts'
import { runWrk } from './wrk.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    workers: { type: 'string', default: '1,2' },
    config: { type: 'string', default: '' },
  },
})

const teardowns: (() => unknown)[] = []
const scope = { teardown: (close: () => unknown) => void teardowns.push(close) }
const origin = await startOrigin()
const crews = []
for (const workers of values.workers.split(',').map(Number)) {
  const gateway = await startLiveGateway(scope, {
    origin: `http://127.0.0.1:${origin.port}`,
    workers,
    config: values.config,
  })
  crews.push({ workers, gateway, us: [] as number[], perSecond: [] as number[], shares: '' })
}

for (let round = -1; round < Number(values.rounds); round++)
  for (const crew of crews) {
    const pids = familyOf(crew.gateway.program.child.pid!)
    const before = pids.map((pid) => cpuTime([pid]))
    const { port } = crew.gateway
    const result = await runWrk({
      port,
      head: crew.gateway.head(),
      seconds: Number(values.seconds),
      connections: Number(values.connections),
    })
    if (result.errors > 0) throw new Error(`${result.errors} requests failed`)
    const each = pids.map((pid, index) => {
      const after = cpuTime([pid])
      return after.userUs + after.kernelUs - before[index]!.userUs - before[index]!.kernelUs
    })
    if (round < 0) continue // warm
    const sum = each.reduce((total, us) => total + us, 0)
    crew.us.push(sum / result.requests)
    crew.perSecond.push(result.requests / result.seconds)
    crew.shares = each.map((us) => `${Math.round((100 * us) / sum)} %`).join(' ')
  }

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
console.log('workers   CPU µs/req (min–max)      req/s   shares of primary and workers')
for (const { workers, us, perSecond, shares } of crews) {
  const range = `(${Math.min(...us).toFixed(1)}–${Math.max(...us).toFixed(1)})`
  console.log(
    `${workers}         ${median(us).toFixed(1)} ${range}   ${median(perSecond).toFixed(0)}   ${shares}`,
  )
}
console.log(`ratio: ${(median(crews.at(-1)!.us) / median(crews[0]!.us)).toFixed(3)}`)
await origin.stop()
for (const teardown of teardowns.reverse()) await teardown()
process.exit(0)
