/** What runs the tests loses none of them: neither a file, nor a failure, nor what a file leaves behind. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { planned, testFiles, type Part } from '../runner/plan.ts'
import type { FileResult, Report } from '../runner/report.ts'
import { runUnit } from '../runner/unit.ts'

interface Scripts {
  readonly scripts: Readonly<Record<string, string>>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

t.test('each test file is in exactly one process of one part', async (t) => {
  const run = (['first', 'long'] as const).flatMap((part) => planned(ROOT, part))
  t.same(run.flatMap(({ files }) => files).sort(), testFiles(ROOT))
  t.ok(testFiles(ROOT).includes('test/tidy/runner.test.ts'))
})

t.test('a folder or a file that is asked for is run, and nothing beside it', async (t) => {
  const files = (asked: string) => planned(ROOT, 'first', [asked]).flatMap(({ files }) => files)
  t.same(files('test/tidy'), files('test/tidy/'))
  t.same(files('test/tidy/runner.test.ts'), ['test/tidy/runner.test.ts'])
  t.same(files('test/tid'), [])
})

t.test('what operators do is tested by one command, of which nothing is missing', async (t) => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Scripts
  const [runner, all, ...asked] = scripts['test:operations']!.split(' ').slice(1)
  t.same([runner, all], ['test/runner/run.ts', '--all'])
  for (const place of asked) t.ok(existsSync(ROOT + place), place)
  const files = planned(ROOT, 'all', asked).flatMap((unit) => unit.files)
  for (const file of testFiles(ROOT).filter((one) => /^test\/(?:operations|deploy)\//.test(one)))
    t.ok(files.includes(file), file)
})

t.test('who asks to be alone is; the others of one program share a process', async (t) => {
  const one = `import t from 'tap'\n`
  const large = { 'a.test.ts': one, 'b.test.ts': one, 'c.test.ts': one, 'd.test.ts': one }
  const folder = t.testdir({
    test: {
      one: { ...large, 'e.test.ts': `// apart: it says why\n${one}` },
      two: {
        'a.test.ts': one,
        'b.test.ts': `// long: it says why\n${one}`,
        three: { 'a.test.ts': one, 'b.test.ts': one },
      },
    },
  })
  const files = (part: Part) => planned(folder, part).map(({ files }) => files)
  t.same(files('first').sort(), [
    Object.keys(large).map((name) => `test/one/${name}`),
    ['test/one/e.test.ts'],
    ['test/two/a.test.ts', 'test/two/three/a.test.ts', 'test/two/three/b.test.ts'],
  ])
  t.same(files('long'), [['test/two/b.test.ts']])
  t.same(files('all').sort(), [...files('first'), ...files('long')].sort())
})

t.test('who only waits says so, and has to be alone to be run beside the others', async (t) => {
  const says = (...lines: string[]) => [...lines, `import t from 'tap'`].join('\n')
  const folder = t.testdir({
    test: {
      one: {
        'a.test.ts': says('// long: it says why', '// waits: for a clock'),
        'b.test.ts': says('// long: it says why'),
        'c.test.ts': says('// waits: for a clock'),
      },
    },
  })
  const waiting = planned(folder, 'all').filter(({ isWaiting }) => isWaiting)
  t.same(
    waiting.map(({ files }) => files),
    [['test/one/a.test.ts']],
  )
})

t.test('no two processes get one port, long before anybody listens there', async (t) => {
  const choose = `
    import { freePort } from ${JSON.stringify(`${ROOT}test/support/ports.ts`)}
    const ports = []
    while (ports.length < 400) ports.push(await freePort())
    process.stdout.write(ports.join(' '))
    process.stdin.resume().on('end', () => process.exit())`
  const chosen = await Promise.all(
    [0, 1, 2].map(async () => {
      const running = promisify(execFile)(process.execPath, ['--input-type=module', '-e', choose])
      const { child } = running
      const text = await new Promise<Buffer>((resolve) => child.stdout!.once('data', resolve))
      t.teardown(() => child.stdin!.end())
      return text.toString().split(' ')
    }),
  )
  t.equal(new Set(chosen.flat()).size, 1200)
})

/** What comes of files that share a process. */
async function outcome(t: Test, sources: Record<string, string>) {
  const files: FileResult[] = []
  const failures: string[] = []
  const counted: number[] = []
  const cpu: (readonly [string, number])[] = []
  const report: Report = {
    file: (result) => void files.push(result),
    count: (more) => void counted.push(more.pass, more.fail),
    cpu: (what, costMs) => void cpu.push([what, costMs]),
    failed: (what, lines) => void failures.push([what, ...lines].join('\n')),
    check: () => {},
    close: () => true,
  }
  const folder = t.testdir(
    Object.fromEntries(
      Object.entries(sources).map(([name, code]) => [name, `import t from 'tap'\n${code}`]),
    ),
  )
  const tests = Object.keys(sources).filter((name) => name.endsWith('.test.ts'))
  await runUnit({ name: 'room', files: tests, isWaiting: false }, folder, report)
  const verdicts = Object.fromEntries(files.map(({ file, isOk }) => [file, isOk]))
  const said = (file: string) => files.find((result) => result.file === file)?.lines.join('\n')
  return { verdicts, said, failures, counted, cpu }
}

const TURN = 'await new Promise(setImmediate)'
const FINE = `t.test('fine', async (t) => t.ok(true))`

t.test('a failure is told of its own file, with what was found', async (t) => {
  const { verdicts, said, failures, counted } = await outcome(t, {
    'a.test.ts': FINE,
    'b.test.ts': `t.test('sum', async (t) => t.equal(1, 2, 'as it should be'))\n${FINE}`,
    'c.test.ts': `throw new Error('not even read')`,
    'd.test.ts': `t.test('late', async () => { await null; null.missing })`,
    'e.test.ts': `t.teardown(() => t.comment('torn down'))\n${FINE}`,
  })
  const [a, b, c, d, e] = [true, false, false, false, true]
  const expected = {
    'a.test.ts': a,
    'b.test.ts': b,
    'c.test.ts': c,
    'd.test.ts': d,
    'e.test.ts': e,
  }
  t.same(verdicts, expected)
  t.match(said('b.test.ts'), 'not ok 1 - as it should be')
  t.match(said('c.test.ts'), 'not even read')
  t.match(said('d.test.ts'), 'missing')
  t.same(counted, [3, 3], 'assertions, as tap counts them')
  t.same(failures, [])
})

t.test('an error that nobody catches fails the test that has made it', async (t) => {
  const throwing = `setImmediate(() => { throw new Error('out of nowhere') })`
  const { verdicts, said, failures } = await outcome(t, {
    'a.test.ts': `t.test('timer', async (t) => { ${throwing}; ${TURN}; ${TURN} })\n${FINE}`,
    'b.test.ts': `t.test('promise', async () => { void Promise.reject(Error('not awaited')); ${TURN} })\n${FINE}`,
    'c.test.ts': `t.test('outer', async (t) => t.test('inner', async () => { ${throwing}; ${TURN}; ${TURN} }))\n${FINE}`,
    'd.test.ts': `
      t.test('its own', async (t) => {
        const caught = new Promise((resolve) => process.once('uncaughtException', resolve))
        ${throwing}
        t.match(await caught, /out of nowhere/)
      })\n${FINE}`,
  })
  const [a, b, c, d] = [false, false, false, true]
  t.same(verdicts, { 'a.test.ts': a, 'b.test.ts': b, 'c.test.ts': c, 'd.test.ts': d })
  t.match(said('a.test.ts'), /not ok 1 - out of nowhere[^]*not ok 1 - timer[^]*ok 2 - fine/)
  t.match(said('b.test.ts'), /not ok 1 - not awaited[^]*not ok 1 - promise[^]*ok 2 - fine/)
  t.match(said('c.test.ts'), /out of nowhere[^]*not ok 1 - inner[^]*not ok 1 - outer[^]*ok 2/)
  t.same(failures, [])
})

t.test(
  'what a file costs is counted for it, programs among it; for all what they share',
  async (t) => {
    const busy =
      'const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 4e5);'
    const { cpu } = await outcome(t, {
      'a.test.ts': FINE, // with what it takes to begin
      'b.test.ts': `
      import { execFileSync } from 'node:child_process'
      t.test('busy', async (t) => t.ok(execFileSync(process.execPath, ['-e', ${JSON.stringify(busy)}])))`,
      'c.test.ts': FINE,
    })
    t.same(
      cpu.map(([what]) => what),
      ['a.test.ts', 'b.test.ts', 'c.test.ts', 'room: what its files share'],
    )
    const [, [, busyMs] = ['', 0], [, idleMs] = ['', 0]] = cpu
    t.ok(busyMs >= 400, `${busyMs}`)
    t.ok(idleMs < 400, `${idleMs}`)
  },
)

t.test('what a file has others register is its own as well', async (t) => {
  const shared = `import { promise } from './promises.ts'\npromise(`
  const { said } = await outcome(t, {
    'promises.ts': `export const promise = (name) => t.test(name, async (t) => t.pass())`,
    'a.test.ts': `${shared}'one')`,
    'b.test.ts': `${shared}'another')`,
  })
  t.match(said('a.test.ts'), 'ok 1 - one')
  t.match(said('b.test.ts'), 'ok 1 - another')
})

t.test('a process that ends early fails whatever it had not come to', async (t) => {
  const { verdicts, failures } = await outcome(t, {
    'a.test.ts': FINE,
    'b.test.ts': `t.test('gone', async () => process.kill(process.pid, 'SIGKILL'))`,
    'c.test.ts': FINE,
  })
  t.same(verdicts, { 'a.test.ts': true })
  t.match(failures, [/^b\.test\.ts was not run to its end .*SIGKILL/, /^c\.test\.ts was not run/])
})

t.test('who leaves the process otherwise than it was is named', async (t) => {
  const { verdicts, failures } = await outcome(t, {
    'a.test.ts': `process.env['LEFT'] = 'behind'\n${FINE}`,
    'b.test.ts': `globalThis.fetch = async () => {}\n${FINE}`,
    'c.test.ts': `process.on('SIGTERM', () => {})\n${FINE}`,
    'd.test.ts': FINE,
  })
  t.same(Object.values(verdicts), [true, true, true, true])
  t.match(failures, [
    /^a\.test\.ts leaves in the process: environment LEFT=behind/,
    /^b\.test\.ts leaves in the process: global fetch/,
    /^c\.test\.ts leaves in the process: listeners of SIGTERM/,
  ])
  t.equal(failures.length, 3)
})
