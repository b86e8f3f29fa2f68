/**
 * `npm run faults`: kill -9 at random moments under writes, sign-ins, revocations and webhooks.
 * With `--cases cut,held,herd,late,full,sync,read-only,clocks` one thing goes wrong in one way instead (bench/faults/cases.ts).
 * Prints what was killed and what was lost, and ends with 1 if anything was.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { CASES, type Case } from './faults/cases.ts'
import { runFaults } from './faults/run.ts'
import type { FaultReport } from './faults/judged.ts'
import type { DatabaseKind, Teardown } from './faults/world.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'sqlite' },
    nodes: { type: 'string' },
    cases: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    gateways: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (values.database !== 'sqlite' && values.database !== 'postgres')
  throw new Error('--database is sqlite or postgres')
const database: DatabaseKind = values.database
const nodes = database === 'sqlite' ? 1 : Number(values.nodes ?? 3)
const seed = Number(values.seed)
const EVERY = 10

const cases = (values.cases ?? '').split(',').filter((name) => name !== '')
const unknown = cases.find((name) => !Object.hasOwn(CASES, name))
if (unknown !== undefined) throw new Error(`--cases are ${Object.keys(CASES).join(', ')}`)

let losses = 0
if (cases.length === 0) {
  print('database, control planes, seed', `${database}, ${nodes}, ${seed}`)
  const struck = new Map<string, number>()
  await reported((scope) =>
    runFaults(scope, {
      kills: Number(values.kills),
      database,
      nodes,
      seed,
      onKill({ kills, what, acknowledged, lost }) {
        struck.set(what, (struck.get(what) ?? 0) + 1)
        if (kills % EVERY === 0)
          print('kills so far', `${kills}; ${acknowledged} changes acknowledged, ${lost} lost`)
      },
    }),
  )
  for (const [what, count] of [...struck].sort()) print(`killed: ${what}`, String(count))
}
for (const name of cases) {
  print('case', name)
  const options = { seconds: Number(values.seconds), gateways: Number(values.gateways) }
  await reported((scope) => CASES[name as Case](scope, options))
}
process.exit(losses === 0 ? 0 : 1)

async function reported(run: (scope: Teardown) => Promise<FaultReport>) {
  const endings: (() => unknown)[] = []
  const startedMs = performance.now()
  try {
    const scope = { teardown: (work: () => unknown) => void endings.push(work) }
    const { findings, slow, figures, failed } = await run(scope)
    for (const [what, figure] of Object.entries(figures)) print(what, String(figure))
    for (const [message, count] of failed) print(`met ${count} times`, message.slice(0, 100))
    print('seconds', String(Math.round((performance.now() - startedMs) / 1000)))
    const loads = loadavg().map((load) => load.toFixed(1))
    print('load of the machine', loads.join(' '))
    for (const finding of findings) process.stdout.write(`LOST  ${finding}\n`)
    for (const one of slow) process.stdout.write(`SLOW  ${one}\n`)
    print('verdict', findings.length === 0 ? 'nothing was lost' : `${findings.length} losses`)
    losses += findings.length + slow.length
  } finally {
    for (const end of endings.reverse()) await end()
  }
}

function print(what: string, figure: string) {
  process.stdout.write(`${what.padEnd(44)}${figure}\n`)
}
