/** One process of test files, and what it says of each of them. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE_FOLDER } from '../../shared/compile-cache.ts'
import type { Unit } from './plan.ts'
import type { Counts, Report } from './report.ts'

const children = new Set<ChildProcess>()

/** None of them ends by itself when the run is stopped. */
export function stopUnits(): void {
  for (const child of children) child.kill('SIGKILL')
}

const ROOM = fileURLToPath(new URL('room.ts', import.meta.url))

/**
 * Megabytes: V8 begins with one, and what a room loads and makes first is then copied about again and
 * again. Who is alone may be there to measure its heap, and has what a program has.
 */
const young = ({ length }: readonly string[]) =>
  length > 1
    ? ['--min-semi-space-size=64', '--max-semi-space-size=64']
    : ['--min-semi-space-size=16']

/** Longer than any file may take: then it hangs where its own time-out does not reach. */
const SILENT_MS_MAX = 2_000_000
const RESULT = /^(ok|not ok) \d* ?- (.*?)(?: # time=([\d.]+)ms)?$/
const SUBTEST = /^# Subtest: (.*)$/
/** Without a file: what its files share. */
const CPU = /^# cpu=(\d+)ms(?: (.*))?$/
/** With which tap ends. */
const COUNTS = /^# \{ total: .* \}$/

/** Where this runs inside of a test itself, tap's words to that one are none to these. */
const outside = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('TAP')),
)

export async function runUnit(
  { name, files }: Unit,
  root: string,
  report: Report,
  temporary?: string,
): Promise<void> {
  const child = spawn(process.execPath, [...young(files), ROOM, ...files], {
    cwd: root,
    env: {
      ...outside,
      // what is set up once in a run lies there as well (test/support/postgres.ts)
      ...(temporary !== undefined && { TMPDIR: temporary, TEST_RUN_FOLDER: temporary }),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? COMPILE_CACHE_FOLDER,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  const waiting = new Set(files)
  const complaints: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => void complaints.push(text))

  let lines: string[] = []
  let failure: { readonly what: string; readonly timeMs: number } | undefined
  let failures = 0
  /** A failure's details come after its line. */
  function settle() {
    if (failure === undefined) return
    const { what, timeMs } = failure
    failures += 1
    if (waiting.delete(what)) report.file({ file: what, isOk: false, lines, timeMs })
    else report.failed(what, lines)
    failure = undefined
    lines = []
  }

  const silence = setTimeout(() => void child.kill('SIGKILL'), SILENT_MS_MAX)
  for await (const line of createInterface({ input: child.stdout })) {
    silence.refresh()
    if (COUNTS.test(line)) report.count(countsOf(line))
    const cpu = CPU.exec(line)
    if (cpu !== null) report.cpu(cpu[2] ?? `${name}: what its files share`, Number(cpu[1]))
    const result = RESULT.exec(line)
    if (result !== null || SUBTEST.test(line)) settle()
    if (result === null) {
      if (line.startsWith('  ')) lines.push(line)
      continue
    }
    const [, word, what = '', time = '0'] = result
    if (word === 'not ok') failure = { what, timeMs: Number(time) }
    else {
      waiting.delete(what)
      report.file({ file: what, isOk: true, lines, timeMs: Number(time) })
      lines = []
    }
  }
  settle()
  clearTimeout(silence)
  const code = child.exitCode ?? child.signalCode ?? (await closed(child))
  const said = [...lines, ...complaints.join('').split('\n')].map((line) => `    ${line}`)
  for (const file of waiting) {
    const what = `${file} was not run to its end (its process ended with ${code})`
    report.failed(what, said)
  }
  if (failures > 0) process.stderr.write(complaints.join(''))
  if (code !== 0 && failures === 0 && waiting.size === 0)
    report.failed(`${name} (its process ended with ${code})`, said)
}

function countsOf(line: string): Counts {
  const of = (kind: string) => Number(new RegExp(`\\b${kind}: (\\d+)`).exec(line)?.[1] ?? 0)
  const [total, pass, fail] = [of('total'), of('pass'), of('fail')]
  return { total, pass, fail, todo: of('todo'), skip: of('skip') }
}

const closed = (child: ReturnType<typeof spawn>) =>
  new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  )
