/** What V8 has compiled is kept beside the code, and a place that takes nothing stops nobody. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { COMPILE_CACHE_FOLDER } from '../../shared/compile-cache.ts'

const MODULE = new URL('../../shared/compile-cache.ts', import.meta.url).href
const ROOT = join(import.meta.dirname, '../..')

/** A program that keeps what it compiles; answers where, as Node sees it. */
function run(folder: string, environment: Record<string, string> = {}): string {
  const program = `
    import { getCompileCacheDir } from 'node:module'
    import { keepCompiledCode } from '${MODULE}'
    keepCompiledCode(${JSON.stringify(folder)})
    await import('node:os')
    process.stdout.write(String(getCompileCacheDir()))`
  const args = ['--input-type=module', '--eval', program]
  const { NODE_COMPILE_CACHE: _, ...outer } = process.env
  return execFileSync(process.execPath, args, {
    env: { ...outer, ...environment },
    encoding: 'utf8',
  })
}

t.test('it lies where the code does, and goes with the next npm ci', async (t) => {
  t.equal(COMPILE_CACHE_FOLDER, join(ROOT, 'node_modules/.cache/compiled'))
})

t.test('it is kept in a folder of this user and this Node', async (t) => {
  const folder = join(t.testdir(), 'compiled')
  const kept = run(folder)
  t.match(kept, folder)
  t.match(readdirSync(folder), [new RegExp(`^${process.version}-.*-${process.getuid?.()}$`)])
})

t.test('whoever is killed leaves it for the next start', async (t) => {
  const folder = t.testdir({ 'program.ts': 'export const answer: number = 42' })
  for (const [place, write, isKept] of [
    ['written', 'writeCompiledCode()', true],
    ['not-written', '', false],
  ] as const) {
    const kept = join(folder, place)
    const program = `
      import { keepCompiledCode, writeCompiledCode } from '${MODULE}'
      keepCompiledCode(${JSON.stringify(kept)})
      await import(${JSON.stringify(pathToFileURL(join(folder, 'program.ts')).href)})
      ${write}
      process.stdout.write('up')
      setInterval(() => {}, 1000)`
    const { NODE_COMPILE_CACHE: _, ...env } = process.env
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    t.equal(readdirSync(kept, { recursive: true }).length > 1, isKept, place)
  }
})

t.test('where nothing can be written the program runs all the same', async (t) => {
  const folder = t.testdir({ file: 'no folder' })
  t.equal(run(join(folder, 'file', 'compiled')), 'undefined')
})

t.test('whoever starts it may say otherwise', async (t) => {
  const folder = t.testdir()
  const theirs = join(folder, 'theirs')
  t.match(run(join(folder, 'ours'), { NODE_COMPILE_CACHE: theirs }), theirs)
  t.equal(run(join(folder, 'ours'), { NODE_DISABLE_COMPILE_CACHE: '1' }), 'undefined')
  t.notOk(existsSync(join(folder, 'ours')))
})
