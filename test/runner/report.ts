/** One TAP stream of all processes: a line for each file, and the whole of what is not as it should be. */
export interface FileResult {
  readonly file: string
  readonly isOk: boolean
  /** What the file's process said of it, as TAP, its own result not among it. */
  readonly lines: readonly string[]
  readonly timeMs: number
}

export interface Report {
  file(result: FileResult): void
  /** What went wrong beside the files' own tests. */
  failed(what: string, lines: readonly string[]): void
  check(name: string, isOk: boolean, lines: readonly string[]): void
  /** Whether all is well. */
  close(): boolean
}

const SKIPPED = /^ +ok \d+ .*# SKIP/

export function createReport({ isVerbose }: { isVerbose: boolean }): Report {
  const startedAt = performance.now()
  const counts = { total: 0, pass: 0, fail: 0 }
  let skipped = 0
  const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`)
  print('TAP version 14')

  function result(name: string, isOk: boolean, lines: readonly string[], timeMs?: number) {
    const time = timeMs === undefined ? '' : ` # time=${Math.round(timeMs)}ms`
    counts.total += 1
    counts[isOk ? 'pass' : 'fail'] += 1
    const shown = lines.filter((line) => line.trim() !== '')
    print(
      ...(shown.length > 0 ? [`# Subtest: ${name}`, ...shown] : []),
      `${isOk ? 'ok' : 'not ok'} ${counts.total} - ${name}${time}`,
    )
  }

  return {
    file({ file, isOk, lines, timeMs }) {
      const skips = lines.filter((line) => SKIPPED.test(line))
      skipped += skips.length
      result(file, isOk, isVerbose ? lines : isOk ? skips : failing(lines), timeMs)
    },
    failed: (what, lines) => result(what, false, lines),
    check(name, isOk, lines) {
      // counted where it fails: those that pass are files
      if (isOk) print(`# ${name}: nothing to say`)
      else result(name, false, lines)
    },
    close() {
      const fail = counts.fail > 0 ? `, fail: ${counts.fail}` : ''
      const skip = skipped > 0 ? [`# tests skipped: ${skipped}`] : []
      print(`1..${counts.total}`, ...skip)
      print(`# { total: ${counts.total}, pass: ${counts.pass}${fail} }`)
      print(`# time=${Math.round(performance.now() - startedAt)}ms`)
      return counts.fail === 0 && counts.total > 0
    },
  }
}

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
