/** Interleaved rounds: each measures every peer once, so what else the machine does meets them all. */
import type { BenchCase, Round } from './cases.ts'
import { cpuTime, familyOf, residentBytes } from './cpu.ts'
import { openIdle } from './load/idle.ts'
import type { LoadResult } from './load/load.ts'
import { runWrk } from './load/wrk.ts'
import { newMeasured, type Measured } from './measured.ts'
import type { Peer } from './peers/peer.ts'
import type { Running } from './processes.ts'
import type { Sessions } from './sessions.ts'

export interface Effort {
  readonly rounds: number
  readonly seconds: number
  readonly warmSeconds: number
  /** What is left of the idle connections of a case. */
  readonly idleShare: number
}

export type Field = ReadonlyMap<Peer, Running>

/** Compiled code comes with requests and not with time. */
const WARM_REQUESTS = 100_000
const WARM_TRIES = 6
const SETTLE_MS = 3_000

export async function runRounds(
  { prepare, load }: BenchCase,
  field: Field,
  sessions: Sessions,
  effort: Effort,
): Promise<Map<string, Measured>> {
  const measured = new Map([...field.keys()].map(({ name }) => [name, newMeasured(name)] as const))
  const { seconds } = effort
  for (const [peer, running] of field) {
    const round: Round = { peer, running, sessions, seconds: effort.warmSeconds, number: 0 }
    for (let tries = 0, answered = 0; tries < WARM_TRIES && answered < WARM_REQUESTS; tries++) {
      await prepare?.(round)
      answered += (await load!(round)).requests
    }
  }
  for (let number = 1; number <= effort.rounds; number++)
    for (const [peer, running] of inTurn(field, number)) {
      const round: Round = { peer, running, sessions, seconds, number }
      await prepare?.(round)
      await measure(running, () => load!(round), measured.get(peer.name)!)
    }
  for (const [peer, running] of field)
    measured.get(peer.name)!.residentBytes = residentBytes(running.pids.flatMap(familyOf))
  return measured
}

/** Nobody is always the first behind the same neighbour. */
function inTurn(field: Field, number: number): [Peer, Running][] {
  const peers = [...field]
  return number % 2 === 0 ? peers.reverse() : peers
}

async function measure(
  running: Running,
  load: () => Promise<LoadResult>,
  measured: Measured,
): Promise<void> {
  const pids = running.pids.flatMap(familyOf)
  const besidePids = (running.besidePids ?? []).flatMap(familyOf)
  const allocated = await running.allocatedBytes?.()
  const before = cpuTime(pids)
  const beside = cpuTime(besidePids)
  const result = await load()
  const after = cpuTime(pids)
  const besideAfter = cpuTime(besidePids)
  if (allocated !== undefined)
    measured.allocatedBytes.push(((await running.allocatedBytes!()) - allocated) / result.requests)
  const userUs = after.userUs - before.userUs
  measured.cpuUs.push((userUs + after.kernelUs - before.kernelUs) / result.requests)
  measured.userUs.push(userUs / result.requests)
  if (besidePids.length > 0) {
    const besideUs = besideAfter.userUs + besideAfter.kernelUs - beside.userUs - beside.kernelUs
    measured.besideUs.push(besideUs / result.requests)
  }
  measured.perSecond.push(result.requests / result.seconds)
  measured.p50Us.push(result.p50Us)
  measured.p99Us.push(result.p99Us)
  measured.errors += result.errors
}

export interface IdleMeasured {
  readonly peer: string
  readonly open: number
  readonly beforeBytes: number
  readonly afterBytes: number
}

/** Memory that stays behind the connections: after they have answered once, and fallen silent. */
export async function runIdle(
  connections: number,
  field: Field,
  sessions: Sessions,
  effort: Effort,
): Promise<IdleMeasured[]> {
  const rows: IdleMeasured[] = []
  const { asks } = sessions
  for (const [peer, running] of field) {
    const memory = () => residentBytes(running.pids.flatMap(familyOf))
    await runWrk(running, { asks, seconds: effort.warmSeconds })
    await settle()
    const beforeBytes = memory()
    const clients = await openIdle(running, { connections, asks })
    await settle()
    const afterBytes = memory()
    const open = await clients.count()
    await clients.close()
    rows.push({ peer: peer.name, open, beforeBytes, afterBytes })
  }
  return rows
}

const settle = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
