/**
 * What a tunnel costs, by three ways to one application: `npm run bench:tunnels [rounds] [seconds]`.
 * What came of it is in `.docs/decisions/0045-reversed-pool.md`.
 */
import { cpuTime } from './cpu.ts'
import { runWrk } from './load/wrk.ts'
import { median } from './measured.ts'
import { startOrigin } from './origin.ts'
import { start, together, type Running } from './processes.ts'
import { createSessions } from './sessions.ts'
import { freePort } from '../test/support/ports.ts'

const [rounds = 5, seconds = 4] = process.argv.slice(2).map(Number)
const WAYS = ['address', 'reversed', 'http2'] as const
const PROGRAMS = 'bench/programs'
const CASES = [
  { name: 'GET 1 KB', load: {} },
  { name: 'one at a time', load: { connections: 1 } },
  { name: 'GET 64 KB', load: { path: '/64k', answerBytes: 64 * 1024 } },
  { name: 'POST 1 KB', load: { method: 'POST' as const, bodyBytes: 1024 } },
]

const sessions = createSessions()
const origin = await startOrigin()

interface Tunnel extends Running {
  readonly edge: Running
  readonly connector: Running | undefined
}

async function startTunnel(way: (typeof WAYS)[number]): Promise<Tunnel> {
  const [port, tunnelPort] = [await freePort(), await freePort()]
  const args = [String(port), way, String(origin.port), String(tunnelPort)]
  const program = `${PROGRAMS}/tunnel-edge.ts`
  const edge = await start(process.execPath, [program, ...args, sessions.certificatePaths.both], {
    port,
  })
  if (way === 'address') return { ...edge, edge, connector: undefined }
  const ends = [way, String(tunnelPort), String(origin.port)]
  const connector = await start(process.execPath, [`${PROGRAMS}/tunnel-connector.ts`, ...ends], {
    port: 0,
    saysReady: true,
  })
  await new Promise((resolve) => setTimeout(resolve, 1500)) // its spare connections are there
  return { ...together(edge, connector), edge, connector }
}

const tunnels = new Map<string, Tunnel>()
for (const way of WAYS) tunnels.set(way, await startTunnel(way))

for (const { name, load } of CASES) {
  const rows = new Map(WAYS.map((way) => [way, newRow()]))
  for (let round = 0; round <= rounds; round++) {
    for (const way of WAYS) {
      const { edge, connector, ...running } = tunnels.get(way)!
      const spent = () => [edge, connector].map((end) => totalUs(end?.pids ?? []))
      const before = spent()
      const { requests, errors, p50Us } = await runWrk(running, {
        ...load,
        asks: sessions.asks,
        seconds: round === 0 ? 2 : seconds,
      })
      const after = spent()
      if (errors > 0) throw new Error(`${way}: ${errors} of ${requests} failed`)
      if (round === 0) continue // warm
      const row = rows.get(way)!
      row.edge.push((after[0]! - before[0]!) / requests)
      row.connector.push((after[1]! - before[1]!) / requests)
      row.p50.push(p50Us)
    }
  }
  console.log(`\n${name}`.padEnd(14), 'edge µs  (× address)  connector µs   p50 µs')
  for (const way of WAYS) {
    const row = rows.get(way)!
    const ratios = row.edge.map((value, at) => value / rows.get('address')!.edge[at]!)
    console.log(
      way.padEnd(14),
      median(row.edge).toFixed(1).padStart(6),
      `   ${median(ratios).toFixed(2)} ± ${((Math.max(...ratios) - Math.min(...ratios)) / 2).toFixed(2)}`,
      median(row.connector).toFixed(1).padStart(12),
      median(row.p50).toFixed(0).padStart(9),
    )
  }
}

interface Row {
  readonly edge: number[]
  readonly connector: number[]
  readonly p50: number[]
}

function newRow(): Row {
  return { edge: [], connector: [], p50: [] }
}

function totalUs(pids: readonly number[]): number {
  const { userUs, kernelUs } = cpuTime(pids)
  return userUs + kernelUs
}

for (const tunnel of tunnels.values()) await tunnel.stop()
await origin.stop()
