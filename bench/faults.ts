/**
 * `npm run faults`: kill -9 at random moments under writes, sign-ins, revocations and webhooks.
 * Prints what was killed and what was lost, and ends with 1 if anything was.
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { runFaults } from './faults/run.ts'
import type { DatabaseKind } from './faults/world.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    database: { type: 'string', default: 'sqlite' },
    nodes: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (values.database !== 'sqlite' && values.database !== 'postgres')
  throw new Error('--database is sqlite or postgres')
const database: DatabaseKind = values.database
const nodes = database === 'sqlite' ? 1 : Number(values.nodes ?? 3)
const seed = Number(values.seed)
const EVERY = 10

print('database, control planes, seed', `${database}, ${nodes}, ${seed}`)
const endings: (() => unknown)[] = []
const scope = { teardown: (work: () => unknown) => void endings.push(work) }
const startedMs = performance.now()
const struck = new Map<string, number>()
try {
  const { findings, figures, failed } = await runFaults(scope, {
    kills: Number(values.kills),
    database,
    nodes,
    seed,
    onKill({ kills, what, acknowledged, lost }) {
      struck.set(what, (struck.get(what) ?? 0) + 1)
      if (kills % EVERY === 0)
        print('kills so far', `${kills}; ${acknowledged} changes acknowledged, ${lost} lost`)
    },
  })
  for (const [what, count] of [...struck].sort()) print(`killed: ${what}`, String(count))
  for (const [what, figure] of Object.entries(figures)) print(what, String(figure))
  for (const [message, count] of failed) print(`met ${count} times`, message.slice(0, 100))
  print('seconds', String(Math.round((performance.now() - startedMs) / 1000)))
  print(
    'load of the machine',
    loadavg()
      .map((load) => load.toFixed(1))
      .join(' '),
  )
  for (const finding of findings) process.stdout.write(`LOST  ${finding}\n`)
  print('verdict', findings.length === 0 ? 'nothing was lost' : `${findings.length} losses`)
  process.exitCode = findings.length === 0 ? 0 : 1
} finally {
  for (const end of endings.reverse()) await end()
}
process.exit()

function print(what: string, figure: string) {
  process.stdout.write(`${what.padEnd(44)}${figure}\n`)
}
