/** What is written behind the program's name: taken word by word, or refused with the right one. */
import t from 'tap'
import { readArguments, wordsOf } from '../../../../control-plane/downloads/analyzer/arguments.ts'
import { EXIT, Problem } from '../../../../control-plane/downloads/command-line/exit.ts'

const APPLY = {
  name: 'apply',
  options: ['dry-run', 'app', 'mode', 'port'],
  takesFolder: true,
} as const

function read(args: readonly string[], takesFolder = true) {
  return readArguments(wordsOf(args), { ...APPLY, takesFolder })
}

function problemOf(work: () => unknown): Problem {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
  }
  throw new Error('it was taken')
}

void t.test('options stand anywhere, values with or without an equals sign', async (t) => {
  const given = read(['--mode', 'sdk', 'my app', '--dry-run', '--app=a', '--app', 'b', '-y'])
  t.strictSame(
    { ...given, flags: [...given.flags].sort() },
    {
      flags: ['app', 'dry-run', 'mode', 'yes'],
      mode: 'sdk',
      apps: ['a', 'b'],
      folder: 'my app',
      port: null,
    },
  )
  t.equal(read(['--', '--mode']).folder, '--mode', 'behind -- stands no option')
  t.equal(read(['--port', '3000']).port, 3000)
})

void t.test('what is not known is refused, with the name that was perhaps meant', async (t) => {
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['--dry-rum'], /^apply does not take "--dry-rum"; did you mean --dry-run\?$/],
    [['--xyzzy'], /^apply does not take "--xyzzy"\.$/],
    [['--rules'], /^apply does not take "--rules"/],
    [['-x'], /^apply does not take "-x"\.$/],
    [
      ['--mode', 'gatway'],
      /--mode must be one of gateway, connector, sdk; did you mean gateway\?$/,
    ],
    [['--mode'], /^--mode requires a value: gateway\|connector\|sdk\.$/],
    [['--mode='], /requires a value/],
    [['--mode', 'sdk', '--mode', 'gateway'], /^--mode appears twice\.$/],
    [['--dry-run=yes'], /^--dry-run takes no value\.$/],
    [['--port', '0'], /from 1 to 65535/],
    [['--port', '65536'], /from 1 to 65535/],
    [['--port', '3e3'], /from 1 to 65535/],
    [['a', 'b'], /^apply does not take "b"\.$/],
    [['a\u001b[2J', 'b\u202e'], /^apply does not take "b<U\+202E>"\.$/],
  ]
  for (const [args, says] of wrong) {
    const problem = problemOf(() => read(args))
    t.match(problem.message, says)
    t.equal(problem.exit, EXIT.misused)
  }
  t.match(problemOf(() => read(['a'], false)).message, 'apply does not take "a"')
})

void t.test('a key is never taken from an argument, and never repeated', async (t) => {
  const key = `sak_${'k'.repeat(43)}`
  const tries: readonly string[][] = [
    ['--key', key],
    ['--key=x'],
    ['--api-key', 'x'],
    ['--analyzer-key=x'],
    ['--token', 'x'],
    ['-key', 'x'],
    ['--SECRET', 'x'],
    [key],
    [`SERVICE_ANALYZER_KEY=${key}`],
    ['--app', key],
  ]
  for (const args of tries) {
    const problem = problemOf(() => read(args))
    t.equal(problem.code, 'key_in_argument', args.join(' '))
    t.match(problem.lines.join('\n'), /history.*service-analyzer login.*SERVICE_ANALYZER_KEY/s)
    t.notMatch(problem.lines.join('\n'), key)
  }
})
