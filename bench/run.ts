/**
 * npm run bench -- [--cases "GET 1 KB,POST 1 KB"] [--peers edge,nginx] [--rounds 5] [--seconds 4]
 *
 * Interleaved rounds: each round measures every peer once, so that what else the machine does
 * meets all of them. The figure is the median over the rounds.
 */
import { parseArgs } from 'node:util'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'
import { CASES, runLoad } from './load.ts'
import type { LoadCase } from './load.ts'
import { startOrigin } from './origin.ts'
import { PEERS, isAvailable } from './peers.ts'
import type { Peer } from './peers.ts'
import { isInstalled } from './processes.ts'
import type { Running } from './processes.ts'
import { createSessions } from './sessions.ts'

interface Measured {
  readonly cpuUs: number[]
  readonly userUs: number[]
  readonly perSecond: number[]
  readonly p50Us: number[]
  readonly p99Us: number[]
  errors: number
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: CASES.map(({ name }) => name).join() },
    peers: { type: 'string', default: PEERS.map(({ name }) => name).join() },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
  },
})

const sessions = createSessions()

async function measure(load: LoadCase, running: Running, measured: Measured): Promise<void> {
  const pids = running.pids.flatMap(familyOf)
  const before = cpuTime(pids)
  const seconds = Number(values.seconds)
  const result = await runLoad(
    load,
    sessions.cookies,
    running.port,
    seconds,
    Number(values.connections),
  )
  const after = cpuTime(pids)
  const userUs = after.userUs - before.userUs
  measured.cpuUs.push((userUs + after.kernelUs - before.kernelUs) / result.requests)
  measured.userUs.push(userUs / result.requests)
  measured.perSecond.push(result.requests / result.seconds)
  measured.p50Us.push(result.p50Us)
  measured.p99Us.push(result.p99Us)
  measured.errors += result.errors
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN

function report(
  load: LoadCase,
  all: ReadonlyMap<Peer, Measured>,
  memory: ReadonlyMap<Peer, number>,
) {
  const ours = [...all].find(([peer]) => peer.name === 'gateway')?.[1] ?? [...all.values()][0]
  console.log(`\n${load.name}`)
  console.log(
    'peer            CPU µs/req   (min–max)   in user      req/s   p50 µs   p99 µs    RSS MB   ratio to it',
  )
  for (const [peer, { cpuUs, userUs, perSecond, p50Us, p99Us, errors }] of all) {
    const ratio = ours === undefined ? '' : `${(median(ours.cpuUs) / median(cpuUs)).toFixed(2)}×`
    console.log(
      peer.name.padEnd(16) +
        median(cpuUs).toFixed(1).padStart(10) +
        `${Math.min(...cpuUs).toFixed(1)}–${Math.max(...cpuUs).toFixed(1)}`.padStart(14) +
        median(userUs).toFixed(1).padStart(9) +
        median(perSecond).toFixed(0).padStart(11) +
        String(median(p50Us)).padStart(9) +
        String(median(p99Us)).padStart(9) +
        ((memory.get(peer) ?? 0) / 1e6).toFixed(0).padStart(10) +
        ratio.padStart(10) +
        (errors > 0 ? `   ${errors} ERRORS` : ''),
    )
  }
}

async function main(): Promise<void> {
  for (const needed of ['wrk', 'nginx'])
    if (!isInstalled(needed)) throw new Error(`the bench needs ${needed} (apt install ${needed})`)
  const wanted = PEERS.filter(({ name }) => values.peers.split(',').includes(name))
  const peers = wanted.filter(isAvailable)
  for (const peer of wanted)
    if (!peers.includes(peer)) console.log(`skipped: ${peer.name} (not installed)`)

  const origin = await startOrigin()
  const running = new Map<Peer, Running>()
  try {
    for (const peer of peers)
      running.set(peer, await peer.start({ originPort: origin.port, sessions }))
    for (const load of CASES.filter(({ name }) => values.cases.split(',').includes(name))) {
      const all = new Map<Peer, Measured>()
      const memory = new Map<Peer, number>()
      for (const peer of peers)
        all.set(peer, { cpuUs: [], userUs: [], perSecond: [], p50Us: [], p99Us: [], errors: 0 })
      for (const one of running.values()) await runLoad(load, sessions.cookies, one.port, 1, 32) // warm
      for (let round = 0; round < Number(values.rounds); round++)
        for (const [peer, one] of running) await measure(load, one, all.get(peer)!)
      for (const [peer, one] of running) memory.set(peer, residentBytes(one.pids.flatMap(familyOf)))
      report(load, all, memory)
    }
  } finally {
    for (const one of running.values()) await one.stop()
    await origin.stop()
  }
}

await main()
