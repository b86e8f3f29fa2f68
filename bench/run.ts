/**
 * npm run bench -- [--quick] [--cases "GET 1 KB,HTTP/2"] [--peers gateway,nginx] [--rounds 5] [--seconds 3]
 *
 * What each case does, how to read it and what it leaves out stands in bench/README.md.
 */
import { parseArgs } from 'node:util'
import { CASES, type BenchCase } from './cases.ts'
import { WRK_NEED } from './load/wrk.ts'
import type { Measured } from './measured.ts'
import { ORIGIN_NEED, startOrigin } from './origin.ts'
import type { Peer } from './peers/peer.ts'
import { isThere, type Running } from './processes.ts'
import { printCase, printIdle } from './report.ts'
import { runIdle, runRounds, type Effort } from './rounds.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { printVerdict } from './verdict.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string' },
    peers: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})

const whole: Effort = { rounds: 5, seconds: 3, warmSeconds: 3, idleShare: 1 }
const quick: Effort = { rounds: 3, seconds: 1, warmSeconds: 2, idleShare: 0.2 }
const base = values.quick ? quick : whole
const effort: Effort = {
  ...base,
  rounds: Number(values.rounds ?? base.rounds),
  seconds: Number(values.seconds ?? base.seconds),
}
const results = new Map<string, ReadonlyMap<string, Measured>>()
const announced = new Set<string>()

function skip(what: string, install: string): void {
  if (!announced.has(what)) console.log(`skipped: ${what} (${install})`)
  announced.add(what)
}

/** A shape of the gateway is wanted where the gateway is. */
function isWanted({ name }: Peer): boolean {
  const wanted = values.peers?.split(',')
  return wanted === undefined || wanted.includes(name.startsWith('gateway ') ? 'gateway' : name)
}

async function runCase(one: BenchCase, common: Running, sessions: Sessions): Promise<void> {
  results.set(one.name, new Map())
  if (!isThere(one.need)) return skip(one.name, one.need!.install)
  const origin = (await one.origin?.()) ?? common
  const originPort = origin.port
  const field = new Map<Peer, Running>()
  const begin = async (peer: Peer) => {
    try {
      field.set(peer, await peer.start({ originPort, sessions }))
    } catch (error) {
      skip(peer.name, (error as Error).message)
      process.exitCode = 1
    }
  }
  try {
    for (const peer of one.peers.filter(isWanted)) {
      if (!isThere(peer.need)) skip(peer.name, peer.need!.install)
      else await begin(peer)
    }
    if (one.idleConnections !== undefined) {
      const connections = Math.round(one.idleConnections * effort.idleShare)
      printIdle(one.name, await runIdle(connections, field, sessions, effort))
    } else {
      const measured = await runRounds(one, field, sessions, effort)
      results.set(one.name, measured)
      printCase(one.name, measured)
    }
  } finally {
    for (const running of field.values()) await running.stop()
    if (origin !== common) await origin.stop()
  }
}

async function main(): Promise<void> {
  const missing = [WRK_NEED, ORIGIN_NEED].filter((need) => !isThere(need))
  if (missing.length > 0) {
    console.error(
      'The bench needs wrk as the client and nginx as the application behind every peer.',
    )
    for (const { program, install } of missing) console.error(`${program} is missing: ${install}`)
    process.exitCode = 1
    return
  }
  const wanted = values.cases?.split(/,(?!000)/).map((name) => name.trim())
  const unknown = wanted?.filter((name) => !CASES.some((one) => one.name === name)) ?? []
  if (unknown.length > 0) {
    console.error(
      `No such case: ${unknown.join('; ')}. There are: ${CASES.map(({ name }) => name).join('; ')}`,
    )
    process.exitCode = 1
    return
  }
  const sessions = createSessions()
  const origin = await startOrigin()
  try {
    for (const one of CASES)
      if (wanted?.includes(one.name) ?? true) await runCase(one, origin, sessions)
  } finally {
    await origin.stop()
  }
  printVerdict(results)
}

await main()
