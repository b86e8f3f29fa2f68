/** Which room may take from which: no circle between files, and no arrow upwards between rooms. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

type Imports = ReadonlyMap<string, readonly string[]>

/** Types count: who has to be read to understand a file is what matters. */
function importsOf(files: readonly string[]): Imports {
  const known = new Set(files)
  const ofFile = (file: string) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
      .map(([, specifier = '']) => relative(ROOT, join(ROOT, dirname(file), specifier)))
      .filter((imported) => known.has(imported))
  return new Map(files.map((file) => [file, ofFile(file)]))
}

/** Each way back to a file that it began with, by the shortest chain that shows it. */
function circles(imports: Imports): string[] {
  const found: string[] = []
  const over = new Set<string>()
  const chain: string[] = []
  function follow(file: string) {
    const since = chain.indexOf(file)
    if (since !== -1) return void found.push([...chain.slice(since), file].join(' > '))
    if (over.has(file)) return
    chain.push(file)
    for (const imported of imports.get(file) ?? []) follow(imported)
    chain.pop()
    over.add(file)
  }
  for (const file of imports.keys()) follow(file)
  return found
}

/**
 * From below: a room takes from the rows above its own in this list, and from no room beside it.
 * Files that are in no room stand by their names, or together under the name of the house.
 */
const SHARED = [
  ['shared'],
  ['config', 'fleet', 'integration'],
  ['connector', 'device'],
  ['enforcement'],
  ['sign-in'],
  ['device-words'],
]

const GATEWAY = [
  ['wire', 'config.ts'],
  ['http1', 'tls', 'upstream'],
  ['http2', 'tenants', 'upgrade'],
  ['last-known-good'],
  ['connectors', 'fleet'],
  ['request'],
  ['listen', 'session', 'telemetry'],
  ['request.ts'],
  ['gateway.ts'],
  ['process'],
  ['program.ts'],
  ['main.ts'],
]

const CONTROL_PLANE = [
  ['concurrency', 'tracing'],
  ['downloads', 'listener', 'outbound', 'pages', 'policy'],
  ['store'],
  ['keys', 'monitoring', 'sessions'],
  ['fleet', 'mail'],
  ['tenants'],
  [
    'accounts',
    'acme',
    'analysis',
    'connections',
    'connectors',
    'devices',
    'events',
    'feed',
    'hostnames',
    'http',
    'machines',
    'webhooks',
  ],
  ['console-access', 'realm', 'scim', 'user-directory', 'verification'],
  ['recovery', 'requests', 'services'],
  ['api', 'console'],
  ['control-plane'], // the programs put together
  ['launch'],
]

function upwards(imports: Imports, house: string, rows: readonly (readonly string[])[]): string[] {
  const isRow = (name: string) => rows.some((row) => row.includes(name))
  const roomOf = (file: string) => {
    const [, room = '', ...inside] = file.split('/')
    return inside.length === 0 && !isRow(room) ? house : room
  }
  const rowOf = (file: string) => rows.findIndex((row) => row.includes(roomOf(file)))
  const isInside = (file: string) => file.startsWith(`${house}/`)
  return [...imports].flatMap(([file, all]) => {
    if (rowOf(file) === -1) return [`${file} is in a room that this list does not know`]
    const wrong = all.filter((one) => {
      return isInside(one) && roomOf(one) !== roomOf(file) && rowOf(one) >= rowOf(file)
    })
    return wrong.map((one) => `${file} imports ${one}`)
  })
}

t.test('no circle between files, types included', async (t) => {
  const files = globSync('{shared,gateway,control-plane,test,bench}/**/*.ts', {
    cwd: ROOT,
    exclude: ['test/fixtures/projects/**'],
  }).sort()
  t.ok(files.length > 1400)
  t.strictSame(circles(importsOf(files)), [])
})

for (const [house, rows] of [
  ['shared', SHARED],
  ['gateway', GATEWAY],
  ['control-plane', CONTROL_PLANE],
] as const)
  t.test(`in ${house} every room takes from below alone`, async (t) => {
    const files = globSync(`${house}/**/*.ts`, { cwd: ROOT }).sort()
    t.strictSame(upwards(importsOf(files), house, rows), [])
  })

t.test('a circle and an arrow upwards would be found', async (t) => {
  const planted = new Map([
    ['control-plane/store/a.ts', ['control-plane/store/b.ts', 'control-plane/realm/c.ts']],
    ['control-plane/store/b.ts', ['control-plane/store/a.ts']],
    ['control-plane/realm/c.ts', ['control-plane/console-access/d.ts']],
    ['control-plane/console-access/d.ts', ['control-plane/app.ts']],
    ['control-plane/app.ts', []],
    ['control-plane/elsewhere/e.ts', []],
  ])
  const way = 'control-plane/store/a.ts > control-plane/store/b.ts > control-plane/store/a.ts'
  t.strictSame(circles(planted), [way])
  t.strictSame(upwards(planted, 'control-plane', CONTROL_PLANE), [
    'control-plane/store/a.ts imports control-plane/realm/c.ts',
    'control-plane/realm/c.ts imports control-plane/console-access/d.ts',
    'control-plane/console-access/d.ts imports control-plane/app.ts',
    'control-plane/elsewhere/e.ts is in a room that this list does not know',
  ])
  const climbing = new Map([
    ['gateway/process/a.ts', ['gateway/main.ts', 'gateway/gateway.ts', 'shared/sign-in/b.ts']],
    ['gateway/unlisted.ts', []],
  ])
  t.strictSame(upwards(climbing, 'gateway', GATEWAY), [
    'gateway/process/a.ts imports gateway/main.ts',
    'gateway/unlisted.ts is in a room that this list does not know',
  ])
})
