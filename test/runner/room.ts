/**
 * Test files of one room in one process, one after the other; each is a subtest that bears its name
 * and holds what it registers, as if it had the process to itself. `import t from 'tap'` in a test
 * file is that subtest here, and tap's root where the file is run alone.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { createMeter } from './cpu.ts'
import { processState } from './process-state.ts'

/** As in package.json, which holds for a file that is run alone; long, for a machine that has much else to do. */
const FILE_TIMEOUT_MS = 1_800_000

/** Whoever keeps a process from ending has this long after the last file. */
const END_TIMEOUT_MS = 15_000

// taken out of the command line: tap names its folders for tests by that
const files = process.argv.splice(2)

const scopes = new Map<string, Test>()
let running: Test | undefined
/** What a test file registers is its own; what a file that several import does, is of who runs. */
const endings: (() => Promise<void>)[] = []
const registry = {
  of: (url: string) => scopes.get(url) ?? running,
  afterAll: (work: () => Promise<void>) => void endings.push(work),
}
Reflect.set(globalThis, Symbol.for('test files'), registry)

const REGISTRY = `globalThis[Symbol.for('test files')]`
const ofFile = (url: string) => `export default ${REGISTRY}.of(${JSON.stringify(url)})`
const OF_WHO_RUNS = `export default new Proxy({}, {
  get: (_, name) => {
    const t = ${REGISTRY}.of('')
    return typeof t[name] === 'function' ? t[name].bind(t) : t[name]
  },
})`

const OF_THIS_ROOM = new URL('error-domain.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context
    if (specifier === 'async-hook-domain') return next(OF_THIS_ROOM, context)
    const isOfATest = parentURL !== import.meta.url && !parentURL.includes('/node_modules/')
    if (specifier !== 'tap' || !isOfATest) return next(specifier, context)
    const code = scopes.has(parentURL) ? ofFile(parentURL) : OF_WHO_RUNS
    const url = `data:text/javascript,${encodeURIComponent(code)}`
    return { url, format: 'module', shortCircuit: true }
  },
})

const { default: t } = await import('tap')
t.setTimeout(0)
const cpuSinceMs = createMeter()
for (const file of files) {
  const { href } = pathToFileURL(resolve(file))
  let before: string[] = []
  await t.test(file, { timeout: FILE_TIMEOUT_MS }, async (t) => {
    before = processState()
    scopes.set(href, t)
    running = t
    await import(href)
  })
  const changed = processState().filter((line) => !before.includes(line))
  if (changed.length > 0) t.fail(`${file} leaves in the process: ${changed.join('; ')}`)
  t.comment(`cpu=${cpuSinceMs()}ms ${file}`)
}
for (const end of endings) await end()
t.comment(`cpu=${cpuSinceMs()}ms`) // what several had in common, and none of them has ended
t.end()

setTimeout(() => {
  const held = process.getActiveResourcesInfo().join(', ')
  process.stdout.write(`not ok - the process does not end: ${held}\n`)
  process.exit(1)
}, END_TIMEOUT_MS).unref()
