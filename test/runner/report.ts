/** One TAP stream of all processes: a line for each file, and the whole of what is not as it should be. */
export interface FileResult {
  readonly file: string
  readonly isOk: boolean
  /** What the file's process said of it, as TAP, its own result not among it. */
  readonly lines: readonly string[]
  readonly timeMs: number
}

/** Of assertions, as tap counts them. */
export interface Counts {
  total: number
  pass: number
  fail: number
  todo: number
  skip: number
}

export interface Report {
  file(result: FileResult): void
  /** What the tests of one process come to, whatever its files have reported. */
  count(counts: Readonly<Counts>): void
  /** What a file has cost, in time of a core. */
  cpu(what: string, costMs: number): void
  /** What went wrong beside the files' own tests. */
  failed(what: string, lines: readonly string[]): void
  check(name: string, isOk: boolean, lines: readonly string[]): void
  /** Whether all is well. `costMs`: of the whole run. */
  close(costMs: number): boolean
}

/** So many are named at the end: where it is worth the while to look. */
const DEAREST = 10

const KINDS = ['total', 'pass', 'fail', 'todo', 'skip'] as const
const SKIPPED = /^ +ok \d+ .*# SKIP/

export function createReport({ isVerbose }: { isVerbose: boolean }): Report {
  const startedAt = performance.now()
  const counts: Counts = { total: 0, pass: 0, fail: 0, todo: 0, skip: 0 }
  const costs: (readonly [what: string, costMs: number])[] = []
  let [results, failures] = [0, 0]
  const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`)
  print('TAP version 14')

  function result(name: string, isOk: boolean, lines: readonly string[], timeMs?: number) {
    const time = timeMs === undefined ? '' : ` # time=${Math.round(timeMs)}ms`
    results += 1
    if (!isOk) failures += 1
    const shown = lines.filter((line) => line.trim() !== '')
    print(
      ...(shown.length > 0 ? [`# Subtest: ${name}`, ...shown] : []),
      `${isOk ? 'ok' : 'not ok'} ${results} - ${name}${time}`,
    )
  }

  function failed(what: string, lines: readonly string[]) {
    counts.total += 1
    counts.fail += 1
    result(what, false, lines)
  }

  return {
    file({ file, isOk, lines, timeMs }) {
      const skips = lines.filter((line) => SKIPPED.test(line))
      result(file, isOk, isVerbose ? lines : isOk ? skips : failing(lines), timeMs)
    },
    count(more) {
      for (const kind of KINDS) counts[kind] += more[kind]
    },
    cpu: (what, costMs) => void costs.push([what, costMs]),
    failed,
    check(name, isOk, lines) {
      // counted where it fails: what passes are assertions
      if (isOk) print(`# ${name}: nothing to say`)
      else failed(name, lines)
    },
    close(costMs) {
      const dearest = costs.toSorted(([, one], [, other]) => other - one).slice(0, DEAREST)
      print(`# CPU: ${seconds(costMs)}, of that`)
      print(...dearest.map(([what, costMs]) => `#   ${seconds(costMs)} ${what}`))
      const kinds = KINDS.filter((kind) => kind === 'total' || counts[kind] > 0)
      const counted = kinds.map((kind) => `${kind}: ${counts[kind]}`).join(', ')
      print(`1..${results}`, `# { ${counted} }`)
      print(`# time=${Math.round(performance.now() - startedAt)}ms`)
      return failures === 0 && results > 0
    },
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** The file's tests that failed, without what held in them. */
function failing(lines: readonly string[]): string[] {
  const tests: string[][] = [[]]
  for (const line of lines) {
    if (line.startsWith('    # Subtest: ')) tests.push([])
    tests.at(-1)?.push(line)
  }
  const isFailed = (test: readonly string[]) => test.some((line) => line.startsWith('    not ok '))
  const plain = /^ +ok \d+ /
  return tests.filter(isFailed).flatMap((test) => test.filter((line) => !plain.test(line)))
}
