import t from 'tap'
import { addedCodeProblem } from '../../../shared/integration/added-code.ts'
import { snippets } from '../../../shared/integration/snippets.ts'

const BASE = 'https://service.example'
const CODE = snippets(BASE)

function problem(path: string, before: string | null, after: string, framework = 'express') {
  const snippet = CODE[framework]?.edge.code ?? ''
  return addedCodeProblem({ path, before, after }, { baseUrl: BASE, snippet })
}

void t.test("the contract's own code may be added, in every language", async (t) => {
  for (const [name, { edge, sdk }] of Object.entries(CODE))
    for (const { file, code } of sdk === undefined ? [edge] : [edge, sdk]) {
      const rules = { baseUrl: BASE, snippet: code }
      t.equal(addedCodeProblem({ path: file, before: null, after: code }, rules), null, name)
    }
})

void t.test('code is added around what was there', async (t) => {
  const kept = [
    ['a.mjs', 'createServer(handler)\n', 'createServer(service.node(handler))\n'],
    ['a.mjs', "import { a } from 'x'\n", "import { a, b } from 'x'\n"],
    ['a.mjs', 'a // old words\n', 'a // new words\n'],
    ['a.mjs', 'f(1)\ng(2)\n', 'before()\nf(1)\nbetween()\ng(2)\n'],
    ['a.py', 'MIDDLEWARE = [\n  "a",\n]\n', 'MIDDLEWARE = [\n  "service",\n  "a",\n]\n'],
    ['a.rb', 'x = 1 # one\n', 'x = 1\n'],
    ['a.mjs', 'const a = /["\']/\nb()\n', 'const a = /["\']/\nc()\nb()\n'],
    ['a.mjs', 'const a = `x ${b}`\n', 'const a = `x ${b}`\nc()\n'],
  ] as const
  for (const [path, before, after] of kept) t.equal(problem(path, before, after), null, after)
  const lost = [
    ['a.mjs', 'f(1)\ng(2)\n', 'f(1)\n'],
    ['a.mjs', 'f(1)\ng(2)\n', 'g(2)\nf(1)\n'],
    ['a.mjs', 'app.use(helmet())\n', '// app.use(helmet())\n'],
    ['a.mjs', 'app.use(helmet())\n', '/* app.use(helmet()) */\n'],
    ['a.mjs', 'app.use(helmet())\n', '/* app.use(helmet())\n'],
    ['a.py', 'check()\n', '# check()\n'],
    ['a.py', 'check()\n', '"""\ncheck()\n"""\n'],
    ['a.rb', 'check\n', '# check\n'],
    ['a.php', 'check();\n', '# check();\n'],
    ['a.go', 'check()\n', '// check()\n'],
    ['a.mjs', "f('admin')\n", "f('anyone')\n"],
    ['a.mjs', 'f()\n', '`f()`\n'],
    ['a.mjs', 'if (a === b) c()\n', 'if (a == b) c()\n'],
  ] as const
  for (const [path, before, after] of lost)
    t.match(problem(path, before, after), /may only be added to/, after)
})

void t.test('what the code did before it may go on doing', async (t) => {
  const before =
    "import fs from 'node:fs'\nfetch('https://api.example/')\nuse(process.env.DB_URL)\n"
  t.equal(problem('a.mjs', before, `${before}app.use(verifyClaims().express())\n`), null)
  for (const line of before.trim().split('\n'))
    t.match(problem('a.mjs', before, before + line), /would /, `once more: ${line}`)
})

void t.test('in every language, code that reaches out is seen', async (t) => {
  const reaching: readonly (readonly [path: string, line: string])[] = [
    ['a.py', 'import subprocess'],
    ['a.py', "os.system('id')"],
    ['a.py', 'exec(text)'],
    ['a.py', "__import__('os')"],
    ['a.py', 'requests.get(x)'],
    ['a.py', 'print(os.environ)'],
    ['a.py', "os.environ['DATABASE_URL']"],
    ['a.py', "os.getenv('DATABASE_URL')"],
    ['a.rb', '`id`'],
    ['a.rb', "system('id')"],
    ['a.rb', '%x(id)'],
    ['a.rb', 'Net::HTTP.get(x)'],
    ['a.rb', "ENV['DATABASE_URL']"],
    ['a.rb', 'p ENV.to_h'],
    ['a.rb', 'skip_before_action :authenticate'],
    ['a.php', 'shell_exec($x);'],
    ['a.php', 'unserialize($x);'],
    ['a.php', "getenv('DB_PASSWORD');"],
    ['a.php', 'print_r($_ENV);'],
    ['a.java', 'Runtime.getRuntime().exec(x);'],
    ['a.java', 'new ProcessBuilder(x);'],
    ['a.java', 'Class.forName(x);'],
    ['a.java', 'System.getenv();'],
    ['a.cs', 'Process.Start(x);'],
    ['a.cs', 'Assembly.Load(x);'],
    ['a.cs', 'Environment.GetEnvironmentVariables();'],
    ['a.go', 'import "os/exec"'],
    ['a.go', 'net.Dial("tcp", x)'],
    ['a.go', 'os.Environ()'],
    ['a.go', 'tls.Config{InsecureSkipVerify: true}'],
    ['a.mjs', 'new WebSocket(x)'],
    ['a.mjs', "import('x' + y)"],
    ['a.mjs', "import https from 'https'"],
    ['a.mjs', "import x from 'axios'"],
    ['a.mjs', 'new Function(x)'],
    ['a.mjs', 'process.mainModule.require(x)'],
    ['a.mjs', 'const { env } = process'],
    ['a.mjs', "Buffer.from(x, 'base64')"],
    ['a.mjs', "'\\x65\\x76\\x61\\x6c'"],
    ['a.mjs', "'//evil.example/x'"],
    ['a.mjs', "'https://service.example.evil.example'"],
    ['a.mjs', "'https://service.example@evil.example'"],
    ['a.mjs', "'http://localhost@evil.example'"],
    ['a.mjs', "'ws://evil.example'"],
  ]
  for (const [path, line] of reaching) t.match(problem(path, '', `${line}\n`), /would /, line)
})

void t.test('ways around the words are seen as well', async (t) => {
  for (const line of [
    "process.getBuiltinModule(['c','hild_process'].join(''))",
    "import/**/('node:' + 'f' + 's')",
    "require/**/('child_' + 'process')",
    "const r = require; r('child_' + 'process')",
    "(() => {}).constructor('return 1')()",
    "module.constructor._load('x')",
    'const p = process; q.json(p.env)',
    'q.json(globalThis.process.env)',
    "import '../../../../tmp/evil.mjs'",
    "import 'some-evil-package'",
    "export * from 'some-evil-package'",
    "const x = require('some-evil-package')",
    "import '/tmp/evil.mjs'",
  ])
    t.match(problem('src/a.mjs', '', `${line}\n`), /would /, line)
  const route = "app.get('/', show)\n"
  for (const off of ['if (false) ', 'false && ', 'if (0) ', 'if (!1) '])
    t.match(problem('a.mjs', route, off + route), /would switch code off/, off)
})

void t.test('a file that tools load by themselves is not created', async (t) => {
  for (const path of [
    'next.config.js',
    'web/next.config.mjs',
    'vitest.config.ts',
    'src/instrumentation.js',
  ]) {
    t.match(problem(path, null, 'export default {}\n'), /loaded by a tool/, path)
    t.equal(problem(path, 'a()\n', 'a()\nb()\n'), null, 'what is there may be added to')
  }
})

void t.test('prose, own routes and signals are no reach', async (t) => {
  for (const line of [
    "import './routes.mjs'",
    "process.on('SIGTERM', close)",
    '// a process, require and globalThis in prose',
    'class A { constructor() {} }',
  ])
    t.equal(problem('a.mjs', '', `${line}\n`), null, line)
})

void t.test('what an integration needs is not taken for more', async (t) => {
  for (const line of [
    'app.use(verifyClaims().express())',
    'const port = process.env.PORT ?? 3000',
    'verifyClaims({ baseUrl: process.env.SERVICE_BASE_URL })',
    "const base = 'https://service.example/auth'",
    "const base = 'http://localhost:3000'",
    "const base = 'http://127.0.0.1:3000/x'",
    "app.set('trust proxy', 1)",
    "const service = require('service-node')",
    "const x = await import('./service.mjs')",
    '// see the contract',
  ])
    t.equal(problem('a.mjs', '', `${line}\n`), null, line)
  for (const line of ["os.environ['SERVICE_BASE_URL']", "os.environ.get('PORT', 3000)"])
    t.equal(problem('a.py', '', `${line}\n`, 'flask'), null, line)
})

/** What takes the square of such a length does not come to its end before this file has to. */
void t.test('no text makes it slow', async (t) => {
  for (const piece of [
    '"',
    "'",
    '`',
    '/*',
    '//',
    '#',
    'a',
    '\\x41',
    'process.env',
    'http://',
    '1.',
    '(',
    '<!--',
  ]) {
    const text = piece.repeat(300_000 / piece.length)
    t.doesNotThrow(() => problem('a.vue', '', text), piece)
    t.doesNotThrow(() => problem('a.vue', text, text + piece), `${piece}, once more`)
  }
})
