/** Clocks that somebody sets: ahead, behind, and back again, while everything goes on. */
import { setTimeout as sleep } from 'node:timers/promises'
import { beginRun, type FaultReport } from './judged.ts'
import { startWorld, untilTrue, type DatabaseKind, type Teardown } from './world.ts'

const STEP_SECONDS = 600
/** Until a program has read its clock anew. */
const READ_MS = 2500
const SIGN_INS = 4

/** By the name of a program; all others are right. */
type Clocks = Readonly<Record<string, number>>

const SCENES: readonly (readonly [string, Clocks])[] = [
  ['ahead', { 'node-0': STEP_SECONDS, 'gateway-0': STEP_SECONDS }],
  ['apart', { 'node-0': -STEP_SECONDS, 'node-1': STEP_SECONDS }],
  ['edges', { 'gateway-0': -STEP_SECONDS, 'gateway-1': STEP_SECONDS }],
  ['right', {}],
]

export const CLOCKS = {
  clocks: (t: Teardown) => withClocks(t, 'sqlite', 1),
  'clocks-server': (t: Teardown) => withClocks(t, 'postgres', 2),
} as const

async function withClocks(t: Teardown, kind: DatabaseKind, nodes: number): Promise<FaultReport> {
  const world = await startWorld(t, kind, nodes, { hasClocks: true })
  const { load, judge } = await beginRun(t, world, () => {})
  await untilTrue(async () => load.figures().signIns >= SIGN_INS, 'people who are signed in')
  const pids = world.programs().map(({ pid }) => pid)
  const figures: Record<string, number> = {}
  for (const [name, clocks] of SCENES) {
    for (const program of world.programs()) program.setClock(clocks[program.name] ?? 0)
    await sleep(READ_MS)
    const before = { signIns: load.figures().signIns, kept: load.count('acknowledged') }
    const fromMs = performance.now()
    await untilTrue(
      async () => load.figures().signIns >= before.signIns + SIGN_INS,
      `people who sign in: ${name}`,
    )
    figures[`ms for ${SIGN_INS} sign-ins: ${name}`] = Math.round(performance.now() - fromMs)
    figures[`changes acknowledged: ${name}`] = load.count('acknowledged') - before.kept
  }
  const isSame = world.programs().every(({ pid }, at) => pid === pids[at])
  // what was issued by a clock that was ahead is from the future, until it has come
  const isAskedAgainFine = kind === 'sqlite'
  return judge(figures, isSame ? [] : ['a program had to begin anew'], [], { isAskedAgainFine })
}
