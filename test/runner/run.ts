/**
 * `npm test`: every test file, neighbours in one process, and beside them what reads the code. Prints one
 * line for each file and, of what failed or was skipped, all that it said; the last lines count assertions, as tap does.
 *
 *     node test/runner/run.ts [--long | --all] [--verbose] [file or folder …]
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CHECKS, runCheck } from './checks.ts'
import { cpuMs } from './cpu.ts'
import { memoryFolder, removeMemoryFolder } from './memory-folder.ts'
import { planned } from './plan.ts'
import { createReport } from './report.ts'
import { runUnit, stopUnits } from './unit.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean' }, all: { type: 'boolean' }, verbose: { type: 'boolean' } },
  allowPositionals: true,
})
const part = values.all === true ? 'all' : values.long === true ? 'long' : 'first'
const units = planned(ROOT, part, positionals)
const isWhole = part === 'first' && positionals.length === 0
const temporary = memoryFolder()
const report = createReport({ isVerbose: values.verbose === true })

type Work = () => Promise<void>
const workOf = (isWaiting: boolean): Work[] =>
  units
    .filter((unit) => unit.isWaiting === isWaiting)
    .map((unit) => () => runUnit(unit, ROOT, report, temporary))
const checks = isWhole ? CHECKS.map((check) => () => runCheck(check, ROOT, report)) : []
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    stopUnits()
    removeMemoryFolder()
    process.kill(process.pid, signal)
  })

// much of their time tests wait: for a program to start, for an answer, for a clock; with three of
// them a password is estimated for longer than anybody would wait
const LANES_PER_CORE = 2
/** Of those that do nothing else. */
const WAITING_LANES_PER_CORE = 1

function lanes(perCore: number, work: Work[]): Promise<void>[] {
  return Array.from({ length: availableParallelism() * perCore }, async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next()
  })
}
await Promise.all([
  ...lanes(WAITING_LANES_PER_CORE, workOf(true)),
  ...lanes(LANES_PER_CORE, [...checks, ...workOf(false)]),
])
process.exitCode = report.close(cpuMs()) ? 0 : 1
