/** Kills at random moments under load. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beginRun, type FaultReport } from './judged.ts'
import { startWorld, type DatabaseKind, type Teardown, type World } from './world.ts'

export interface FaultOptions {
  readonly kills: number
  readonly database: DatabaseKind
  readonly nodes: number
  readonly seed: number
  readonly onKill?: (progress: Progress) => void
}

export interface Progress {
  readonly kills: number
  readonly what: string
  readonly acknowledged: number
  readonly lost: number
}

/** Acknowledged changes and sign-ins up to the next kill, at most. */
const ANSWERS_MAX = 40
const MOMENT_MAX_MS = 40
const MET_MS = 120_000

export async function runFaults(t: Teardown, options: FaultOptions): Promise<FaultReport> {
  const { kills, database, nodes, seed } = options
  const world = await startWorld(t, database, nodes)
  const random = randomFrom(seed)
  const faults = faultsOf(world, nodes)
  let answered = () => {}
  const run = await beginRun(t, world, () => answered())
  const { load } = run

  for (let kill = 1; kill <= kills; kill++) {
    await new Promise<void>((resolve, reject) => {
      let left = 1 + Math.floor(random() * ANSWERS_MAX)
      const late = setTimeout(
        () => reject(new Error(`nothing was answered for ${MET_MS} ms behind kill ${kill - 1}`)),
        MET_MS,
      )
      answered = () => {
        left -= 1
        if (left > 0) return
        clearTimeout(late)
        resolve()
      }
    })
    answered = () => {}
    await sleep(random() * MOMENT_MAX_MS)
    const what = await struck(faults, random)
    const [acknowledged, lost] = [load.count('acknowledged'), load.count('lost')]
    options.onKill?.({ kills: kill, what, acknowledged, lost })
  }

  return run.judge({ kills })
}

interface Fault {
  readonly what: string
  /** Whether there was something to strike. */
  strike(pick: number): boolean | Promise<boolean>
}

async function struck(faults: readonly Fault[], random: () => number): Promise<string> {
  for (;;) {
    const fault = faults[Math.floor(random() * faults.length)]!
    // a database that is coming back refuses to say whose connections there are
    const isStruck = await Promise.resolve(fault.strike(random())).catch(() => false)
    if (isStruck) return fault.what
    await sleep(MOMENT_MAX_MS)
  }
}

/** Whoever is listed more often is killed more often. */
function faultsOf(world: World, nodes: number): Fault[] {
  const program = (name: string): Fault => ({ what: name, strike: () => world.killProgram(name) })
  const controlPlanes = Array.from({ length: nodes }, (_, at) => program(`node-${at}`))
  const gateways = world.gateways.map(({ name }) => program(name))
  if (world.kind === 'sqlite')
    return [...controlPlanes, ...controlPlanes, ...controlPlanes, ...gateways.slice(0, 1)]
  const terminated: Fault = {
    what: 'a connection of the database',
    strike: (pick) => world.killBackend(pick, false),
  }
  const backend: Fault = {
    what: 'a process of the database',
    strike: (pick) => world.killBackend(pick, true),
  }
  const database: Fault = { what: 'the database', strike: () => world.killDatabase() }
  return [...controlPlanes, ...gateways.slice(0, 1), terminated, terminated, backend, database]
}

/** Mulberry32: the same seed strikes the same programs behind the same numbers of answers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
