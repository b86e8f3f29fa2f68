/** Whatever else listens fails until it is behind the guard, or a person says why it is not. */
import t from 'tap'
import { check, type Files } from './project-here.ts'

const ESM = { 'package.json': '{"type":"module","dependencies":{"service-node":"1"}}' }
const IMPORT = "import express from 'express'\nimport { verifyClaims } from 'service-node'\n"
const MADE = `${IMPORT}const app = express()\n`
const GUARD = 'app.use(verifyClaims().express())\n'
const AT = { entry: { path: 'server.js', line: 1 }, mount: { path: 'server.js', line: 3 } }

/** Files, or the lines of server.js behind the application. */
type Row = readonly [name: string, code: string | Files, detail: RegExp]

const filesOf = (code: string | Files) => ({
  ...ESM,
  ...(typeof code === 'string' ? { 'server.js': `${MADE}${code}` } : code),
})
const listeners = (t: Parameters<typeof check>[0], code: string | Files) =>
  check(t, 'listeners_guarded', filesOf(code), { application: AT })

const OPEN: readonly Row[] = [
  [
    'a second application that listens',
    `${GUARD}app.listen(3000)\nconst internal = express()\ninternal.listen(3001)\n`,
    /server\.js:6 is open without a sign-in: this application also listens/,
  ],
  [
    'an application of the same name in another function',
    {
      'server.js': `${IMPORT}function admin() {\n  const app = express()\n  ${GUARD}  return app\n}\nfunction shop() {\n  const app = express()\n  return app\n}\nadmin().listen(1)\nshop().listen(2)\n`,
    },
    /server\.js:9 is open without a sign-in/,
  ],
  [
    'a server of node:http beside it',
    {
      'server.js': `import { createServer } from 'node:http'\n${MADE}${GUARD}app.listen(9090)\ncreateServer((q, s) => s.end('main')).listen(3000)\n`,
    },
    /server\.js:7 is open without a sign-in/,
  ],
  [
    'a listener around the application',
    {
      'server.js': `import { createServer } from 'node:http'\n${MADE}${GUARD}createServer((q, s) => (q.url === '/open' ? s.end() : app(q, s))).listen(3000)\n`,
    },
    /server\.js:6 is open without a sign-in/,
  ],
  [
    'a server in another file',
    {
      'server.js': `import './admin.js'\n${MADE}${GUARD}app.listen(3000)\n`,
      'admin.js':
        "import { createServer } from 'node:http'\ncreateServer((q, s) => s.end()).listen(3001)\n",
    },
    /admin\.js:2 is open without a sign-in/,
  ],
]

for (const [name, code, detail] of OPEN)
  t.test(`${name} fails, with its place and what to do there`, async (t) => {
    const found = await listeners(t, code)
    t.match(found, { status: 'fail', detail }, found.detail)
    const place = /^\S+:\d+/.exec(found.detail)?.[0] ?? 'no place'
    t.ok(found.nextAction.startsWith(`${place}: `), found.nextAction)
    t.match(found.nextAction, /(?:app|internal)\.use|createServer\(verifyClaims/)
    t.match(found.nextAction, /service-analyzer-open: the reason$/)
    const mount = await check(t, 'middleware_mounted', filesOf(code))
    t.match(mount, { status: 'pass' }, mount.detail)
  })

const METRICS = 'createServer((q, s) => s.end(metrics)).listen(9090)\n'
const beside = (code: string) =>
  `${GUARD}app.listen(3000)\nimport { createServer } from 'node:http'\n${code}`

t.test('what a person leaves open passes, and is named with its reason each time', async (t) => {
  const reason = 'Prometheus scrapes it, from inside only'
  const mark = `// service-analyzer-open: ${reason}`
  for (const code of [
    `${mark}\n${METRICS}`,
    `${mark}\n// and nobody else does\n${METRICS}`,
    `${METRICS.trim()} ${mark}\n`,
    `/* service-analyzer-open: ${reason} */\nconst server =\n  ${METRICS}`,
  ]) {
    const found = await listeners(t, beside(code))
    t.equal(found.status, 'pass', `${code}: ${found.detail}`)
    t.match(found.detail, new RegExp(String.raw`server\.js:\d+ \(${reason}\)`))
  }
})

t.test('a mark opens its own place, and only with a reason', async (t) => {
  for (const code of [
    `// service-analyzer-open\n${METRICS}`,
    `// service-analyzer-open:\n${METRICS}`,
    `// service-analyzer-open: …\n${METRICS}`,
    `// service-analyzer-open: metrics\n\n${METRICS}`,
    `let a = 1 // service-analyzer-open: another\n${METRICS}`,
    `const text = 'service-analyzer-open: metrics'\n${METRICS}`,
    `// service-analyzer-open: metrics\nfunction main() {\n  ${METRICS}}\nmain()\n`,
    `// service-analyzer-open: metrics\nclass A {\n  server = ${METRICS}}\nnew A()\n`,
  ])
    t.match(await listeners(t, beside(code)), { status: 'fail' }, code)
})

t.test(
  'of two, the one that nobody left open fails, and the other is named beside it',
  async (t) => {
    const found = await listeners(
      t,
      beside(`// service-analyzer-open: metrics\n${METRICS}${METRICS}`),
    )
    t.match(found, {
      status: 'fail',
      detail: /^server\.js:9 .* Open on purpose: server\.js:8 \(metrics\)\.$/,
    })
  },
)

const TOOL = { 'tool.js': `import { createServer } from 'node:http'\n${METRICS}` }

t.test(
  'what no start leads to is a warning; where files are loaded by name, a failure',
  async (t) => {
    const found = await listeners(t, { 'server.js': `${MADE}${GUARD}app.listen(3000)\n`, ...TOOL })
    t.match(found, { status: 'warn', detail: /^tool\.js:2 .* where it is run/ })
    const loading = `${MADE}${GUARD}app.listen(3000)\nfor (const name of names) await import(name)\n`
    t.match(await listeners(t, { 'server.js': loading, ...TOOL }), { status: 'fail' })
  },
)

t.test('where no start is known, what its making leads to is what counts', async (t) => {
  const files = {
    'app.js': `import './metrics.js'\n${MADE}${GUARD}export default app\n`,
    'metrics.js': TOOL['tool.js'],
    ...TOOL,
  }
  const mount = { path: 'app.js', line: 4 }
  const of = (entry: null, made: typeof mount | null) =>
    check(t, 'listeners_guarded', filesOf(files), { application: { entry, mount: made } })
  t.match(await of(null, mount), { status: 'fail', detail: /^metrics\.js:2 .*So are tool\.js:2/ })
  const { 'metrics.js': _, ...tool } = { ...files, 'app.js': `${MADE}${GUARD}` }
  const alone = await check(t, 'listeners_guarded', filesOf(tool), {
    application: { entry: null, mount: { path: 'app.js', line: 3 } },
  })
  t.match(alone, { status: 'warn', detail: /^tool\.js:2/ })
  t.match(await of(null, null), { status: 'fail' }, 'where nothing is known, all of them')
})

t.test('that the application itself is not mounted is not told here again', async (t) => {
  const found = await listeners(t, 'app.listen(3000)\n')
  t.match(found, { status: 'pass' }, found.detail)
})

t.test('other languages are not looked at', async (t) => {
  const application = { framework: 'flask', language: 'python' } as const
  t.match(await check(t, 'listeners_guarded', { 'app.py': '' }, { application }), {
    status: 'skip',
  })
})
