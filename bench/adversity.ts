/**
 * `npm run adversity -- [--cases slowloris,stalls,zero-windows,slow-uploads,hang-ups,descriptors,cuts,names,key-updates]
 *                       [--rounds 3] [--slow 5000]`
 *
 * What bad clients, bad applications and a bad machine cost everybody else, on the real gateway with
 * one worker: figures, where the tests only say that it holds. Clients, applications and gateway
 * share this machine, so a figure with and one without are measured in turn.
 */
import { parseArgs } from 'node:util'
import { childrenOf, startLiveGateway } from '../test/support/live-gateway.ts'
import { measureCuts } from './adversity/cuts.ts'
import { measureDescriptors } from './adversity/descriptors.ts'
import { healthText, measureHealthy, median, startSlowClients } from './adversity/healthy.ts'
import type { Healthy } from './adversity/healthy.ts'
import { http2Case } from './adversity/http2.ts'
import { measureKeyUpdates } from './adversity/key-updates.ts'
import { measureNames } from './adversity/names.ts'
import type { Scope } from './adversity/scope.ts'
import { measureStall, startGiantOrigin } from './adversity/stalls.ts'
import { startOrigin } from './origin.ts'

const rounds = (): number => Number(values.rounds)
const seconds = (): number => Number(values.seconds)

const CASES = {
  slowloris,
  stalls,
  'zero-windows': http2Case(['zero-windows', 'used-up-windows'], rounds, seconds),
  'slow-uploads': http2Case(['slow-uploads'], rounds, seconds),
  'hang-ups': http2Case(['hang-ups'], rounds, seconds),
  descriptors,
  cuts: measureCuts,
  names: measureNames,
  'key-updates': measureKeyUpdates,
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: Object.keys(CASES).join() },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
    slow: { type: 'string', default: '5000' },
  },
})

const MIB = 1 << 20
const mib = (bytes: number) => `${(bytes / MIB).toFixed(2)} MiB`

for (const [name, run] of Object.entries(CASES)) {
  if (!values.cases.split(',').includes(name)) continue
  console.log(`\n${name}`)
  const closing: (() => unknown)[] = []
  await run({ teardown: (close) => void closing.unshift(close) })
  for (const close of closing) await close()
}
process.exit()

async function slowloris(scope: Scope) {
  const origin = await startOrigin()
  scope.teardown(() => origin.stop())
  const gateway = await startLiveGateway(scope, { origin: `http://127.0.0.1:${origin.port}` })
  const head = gateway.head('/')
  const postHead = gateway.head('/slow', 'Content-Length: 10000\r\n').replace('GET', 'POST')
  const count = Number(values.slow)
  const seconds = Number(values.seconds)
  await measureHealthy(gateway.port, head, 3) // warm
  const rounds: { without: Healthy; beside: Healthy }[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const without = await measureHealthy(gateway.port, head, seconds)
    const slow = startSlowClients(gateway.port, count, postHead)
    await slow.connected
    const beside = await measureHealthy(gateway.port, head, seconds)
    const open = (await gateway.metrics()).get('gateway_connections{worker="1"}')
    const { cut } = slow.held()
    await slow.stop()
    rounds.push({ without, beside })
    console.log(
      `  round ${round + 1}: ${open} connections at the gateway, ${cut} slow ones cut off`,
    )
  }
  const without = median(rounds.map((round) => round.without))
  const beside = median(rounds.map((round) => round.beside))
  console.log(`  without:             ${healthText(without)}`)
  console.log(`  beside ${count} slow:    ${healthText(beside)}`)
  console.log(`  p99 ratio ${(beside.p99Ms / without.p99Ms).toFixed(2)} (at most 2)`)
}

async function stalls(scope: Scope) {
  const { origin, stop } = await startGiantOrigin()
  scope.teardown(stop)
  const gateway = await startLiveGateway(scope, { origin: `http://127.0.0.1:${origin.port}` })
  const [pid = 0] = childrenOf(gateway.program.child.pid!)
  await measureHealthy(gateway.port, gateway.head('/'), 5) // warm
  const giant = 1 << 30
  const heads = {
    download: gateway.head('/pour'),
    upload: gateway.head('/stall', `Content-Length: ${giant}\r\n`).replace('GET', 'POST'),
  }
  const poured = () => origin.pouredBytes
  const { port } = gateway
  for (const [kind, head] of Object.entries(heads)) {
    const isUpload = kind === 'upload'
    await measureStall({ pid, port, connections: 1, head, isUpload, poured }) // warm
    for (const connections of [1, 1, 1, 100]) {
      const stall = await measureStall({ pid, port, connections, head, isUpload, poured })
      console.log(
        `  1 GiB ${kind}, ${connections} stalled: ${mib(stall.grownBytes)} more resident memory` +
          (connections > 1 ? ` (${mib(stall.grownBytes / connections)} each)` : '') +
          `, ${mib(stall.movedBytes / connections)} moved of each`,
      )
    }
  }
}

async function descriptors(scope: Scope) {
  const origin = await startOrigin()
  scope.teardown(() => origin.stop())
  const gateway = await startLiveGateway(scope, { origin: `http://127.0.0.1:${origin.port}` })
  await measureDescriptors(gateway)
}
