import t from 'tap'
import type { Plan } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { PEM, planned, WISHES, type Files } from './projects.ts'

const SERVER = `import express from 'express'
const app = express()
app.listen(3000)
`
const MANIFEST = '{\n  "type": "module",\n  "dependencies": {\n    "express": "5"\n  }\n}\n'
const FILES = { 'server.js': SERVER, 'package.json': MANIFEST, 'package-lock.json': '{}' }

const paths = ({ edits }: Plan) => edits.map(({ path }) => path)

t.test(
  'a plan is the code, the package and the keys, and is done when it is written',
  async (t) => {
    const { plan, again } = await planned(t, FILES)
    t.same(paths(plan), ['server.js', 'package.json', 'service_public.pem'])
    t.same(plan.manual, [])
    t.same(plan.commands, ['npm install'])
    t.equal(plan.edits[0]?.before, SERVER)
    t.equal(plan.edits[2]?.after, PEM)
    t.match(
      plan.notes.join('\n'),
      /SERVICE_BASE_URL=https:\/\/service\.example\.test, SERVICE_TENANT_ID/,
    )
    t.match(await again(), { edits: [], manual: [], commands: [] })
  },
)

t.test('in sdk mode: a secret is named and never written, keys come with the rules', async (t) => {
  const { plan, again } = await planned(t, FILES, {}, { mode: 'sdk' })
  t.same(paths(plan), ['server.js', 'package.json'])
  t.match(plan.edits[0]?.after, /const service = enforce\(\)/)
  t.match(
    plan.notes.join('\n'),
    /without them it does not start: .*SERVICE_CLIENT_SECRET \(a secret, in the console under Keys:/,
  )
  t.match(await again(), { edits: [], manual: [] })
})

t.test('in connector mode: the same, and how a connector comes to stand beside it', async (t) => {
  const connector = { mode: 'connector', tenantId: 'acme' } as const
  const { plan } = await planned(t, FILES, { port: 4000 }, connector)
  t.same(paths(plan), ['server.js', 'package.json', 'service_public.pem'])
  const notes = plan.notes.join('\n')
  t.match(notes, 'https://service.example.test/console/tenants/acme/connectors')
  t.match(notes, /connector\/install \| sh.*join --origin http:\/\/127\.0\.0\.1:4000 .* run\./)
  const offline = await planned(t, FILES, {}, { mode: 'connector' })
  t.match(offline.plan.notes.join('\n'), /create a join token in the console,/)
  const { plan: other } = await planned(t, FILES)
  t.notMatch(other.notes.join('\n'), 'service-connector')
})

t.test('the key file is ours to renew, and nothing else of that name', async (t) => {
  const older = PEM.replace('MIIB', 'MIIC')
  const renewed = await planned(t, { ...FILES, 'service_public.pem': older })
  t.match(renewed.plan.edits[2], { before: older, after: PEM })
  const same = await planned(t, { ...FILES, 'service_public.pem': PEM.replaceAll('\n', '\r\n') })
  t.same(paths(same.plan), ['server.js', 'package.json'])
  const other = await planned(t, { ...FILES, 'service_public.pem': `${older}\n# of the team\n` })
  t.match(other.plan, { manual: [{ path: 'service_public.pem', line: 1, code: PEM }] })
  const unknown = await planned(t, FILES, {}, { publicKeyPem: null })
  t.match(unknown.plan, { manual: [{ path: 'service_public.pem', line: null, code: /curl/ }] })
  const ignored = await planned(t, { ...FILES, '.gitignore': 'node_modules\n*.pem\n' })
  t.match(ignored.plan.notes.join('\n'), /\.gitignore ignores \*\.pem/)
})

t.test('in a workspace the package of the application is changed, and no other', async (t) => {
  const files = {
    'package.json': '{ "workspaces": ["apps/*"] }',
    'pnpm-lock.yaml': '',
    'apps/api/package.json': MANIFEST,
    'apps/api/src/server.js': SERVER,
    'apps/other/package.json': MANIFEST,
    'apps/other/index.js': SERVER,
  }
  const application = {
    folder: 'apps/api',
    packageManager: 'pnpm',
    mount: { path: 'apps/api/src/server.js', line: 2 },
  }
  const { plan } = await planned(t, files, application)
  t.same(paths(plan), [
    'apps/api/src/server.js',
    'apps/api/package.json',
    'apps/api/service_public.pem',
  ])
  t.same(plan.commands, ['pnpm install'])
  t.same(plan.manual, [])
  const alone = await planned(
    t,
    { ...files, 'apps/api/package-lock.json': '{}' },
    { ...application, packageManager: 'npm' },
  )
  t.same(alone.plan.commands, ['npm install --prefix apps/api'])
})

t.test('a guess changes nothing: the place and the lines are shown', async (t) => {
  const { plan } = await planned(t, FILES, { confidence: 'guess' })
  t.same(plan.edits, [])
  t.match(plan.manual, [{ path: 'server.js', line: 2, code: /app\.use\(service\.express\(\)\)/ }])
  t.same(plan.commands, [`npm install ${WISHES.sdkUrl}`])
})

t.test('a shape that is not known is shown, in the words of its file', async (t) => {
  const code = "const express = require('express')\nmodule.exports = given || express()\n"
  const files = { ...FILES, 'package.json': '{ "dependencies": {} }', 'server.js': code }
  const { plan } = await planned(t, files)
  t.same(paths(plan), ['package.json', 'service_public.pem'])
  t.match(plan.manual, [{ path: 'server.js', line: 2, code: /const \{ verifyClaims \} = require/ }])
})

t.test('another application of the package that listens as well is told', async (t) => {
  const { plan } = await planned(t, {
    ...FILES,
    'admin.js': SERVER,
    'test/app.js': SERVER,
    'apps/own/package.json': MANIFEST,
    'apps/own/server.js': SERVER,
  })
  t.match(plan.manual, [
    {
      path: 'admin.js',
      line: 2,
      text: /this application also listens, but the middleware is not mounted on it/,
    },
  ])
  t.equal(plan.manual.length, 1)
})

t.test('Hono is served by Node.js, or shown', async (t) => {
  const files = (dependencies: string) => ({
    'server.js': "import { Hono } from 'hono'\nconst app = new Hono()\n",
    'package.json': `{ "type": "module", "dependencies": {${dependencies}} }`,
  })
  const application = { framework: 'hono' } as const
  const served = await planned(t, files('"hono": "4", "@hono/node-server": "2"'), application)
  t.equal(paths(served.plan)[0], 'server.js')
  const elsewhere = await planned(t, files('"hono": "4"'), application)
  t.match(elsewhere.plan.manual, [{ path: 'server.js', text: /service-node runs on Node\.js/ }])
})

const SERVICE = {
  'service.js':
    "import { verifyClaims } from 'service-node'\nexport const service = verifyClaims()\n",
}

t.test(
  'WebSockets that would go past the middleware are told, until they are guarded',
  async (t) => {
    const rows: readonly (readonly [what: string, files: Files, code: RegExp | null])[] = [
      [
        'ws',
        { 'ws.js': "import { WebSocketServer } from 'ws'\nnew WebSocketServer({ server })\n" },
        /^import \{ verifyClaims \} from 'service-node'\n\nconst service = verifyClaims\(\)\n.*noServer/s,
      ],
      [
        'ws, in CommonJS',
        { 'ws.cjs': "const WebSocket = require('ws')\nnew WebSocket.Server({ port: 1 })\n" },
        /^const \{ verifyClaims \} = require\('service-node'\)\n.*noServer/s,
      ],
      [
        'socket.io',
        { 'io.js': "import { Server } from 'socket.io'\nconst io = new Server(server)\n" },
        /io\.engine\.use/,
      ],
      [
        'socket.io, where the middleware has a name',
        {
          'io.js':
            "import { Server } from 'socket.io'\nimport { verifyClaims } from 'service-node'\nconst guard = verifyClaims()\nconst io = new Server(guard.node(x))\n",
        },
        /^io\.engine\.use\(guard\.express\(\)\)$/,
      ],
      ['upgrade', { 'up.js': "server.on('upgrade', listen)\n" }, /service\.upgrade/],
      [
        'a client of ws',
        { 'ws.js': "import WebSocket from 'ws'\nnew WebSocket('wss://a.test')\n" },
        null,
      ],
      [
        'guarded ws',
        {
          'ws.js':
            "import { WebSocketServer } from 'ws'\nimport { service } from './service.js'\nconst wss = new WebSocketServer({ noServer: true })\nserver.on('upgrade', service.upgrade(x))\n",
        },
        null,
      ],
      [
        'guarded socket.io',
        {
          'io.js':
            "import { Server } from 'socket.io'\nimport { service } from './service.js'\nconst io = new Server(server)\nio.engine.use(service.express())\n",
        },
        null,
      ],
    ]
    for (const [what, files, code] of rows) {
      const { plan } = await planned(t, { ...FILES, ...SERVICE, ...files })
      if (code === null) t.same(plan.manual, [], what)
      else
        t.match(plan.manual, [{ path: Object.keys(files)[0], code, text: /never sees them/ }], what)
    }
  },
)

t.test('Socket.IO before 4.6 is updated first: it has no io.engine.use', async (t) => {
  const text = "import { Server } from 'socket.io'\nconst io = new Server(server)\n"
  for (const [range, isOld] of [
    ['2.5.0', true],
    ['~4.5.4', true],
    ['^4.5.4', false],
    ['4.6.0', false],
    ['latest', false],
  ] as const) {
    const manifest = JSON.stringify({ type: 'module', dependencies: { 'socket.io': range } })
    const { plan } = await planned(t, { ...FILES, 'package.json': manifest, 'io.js': text })
    const step = plan.manual.find(({ path }) => path === 'io.js')
    t.equal(/^Update socket\.io to 4\.6/.test(step?.text ?? ''), isOld, range)
  }
})

t.test('Next.js', async (t) => {
  const next = {
    framework: 'next',
    variant: '16.1.0',
    language: 'typescript',
    mount: null,
    entry: null,
  } as const
  const files = { 'package.json': '{ "dependencies": { "next": "16.1.0" } }', 'app/page.tsx': '' }

  const hook = await planned(t, files, next)
  t.same(paths(hook.plan), ['proxy.ts', 'package.json', 'service_public.pem'])
  t.match(hook.plan.edits[0]?.after, /export const proxy = verifyClaims\(\)\.next\(NextResponse\)/)
  t.match(await hook.again(), { edits: [], manual: [] })

  const below = await planned(
    t,
    { ...files, 'src/app/page.jsx': '' },
    { ...next, language: 'javascript' },
  )
  t.equal(paths(below.plan)[0], 'src/proxy.js')
  const older = await planned(t, files, { ...next, variant: '^15.5.2' })
  t.equal(paths(older.plan)[0], 'middleware.ts')
  t.match(older.plan.edits[0]?.after, /runtime: 'nodejs'/)

  for (const [what, changes, said] of [
    ['before 15.5', { variant: '15.4.0' }, /before version 15\.5/],
    ['of some version', { variant: 'workspace:*' }, /version of Next\.js is unknown/],
  ] as const) {
    const { plan } = await planned(t, files, { ...next, ...changes })
    t.same(paths(plan), ['package.json', 'service_public.pem'], what)
    t.match(plan.manual, [{ text: said, code: /getRequestHandler/ }])
  }
  const exported = { ...files, 'next.config.mjs': "export default { output: 'export' }" }
  t.match((await planned(t, exported, next)).plan.manual, [{ text: /exported as static files/ }])
  const matched = {
    ...files,
    'middleware.ts': 'import a from "a"\nexport function middleware() {}\n',
  }
  t.match((await planned(t, matched, next)).plan.manual, [
    { path: 'middleware.ts', line: 2, text: /a matcher would leave the rest open.*nodejs/ },
  ])

  const server = `const { createServer } = require('http')
const next = require('next')
const app = next({ dev: false })
const handle = app.getRequestHandler()
app.prepare().then(() => {
  createServer((req, res) => handle(req, res)).listen(3000)
})
`
  const custom = await planned(t, { ...files, 'server.js': server }, next)
  t.same(paths(custom.plan), ['server.js', 'package.json', 'service_public.pem'])
  t.match(
    custom.plan.edits[0]?.after,
    /createServer\(service\.node\(\(req, res\) => handle\(req, res\)\)\)/,
  )
  t.match(await custom.again(), { edits: [], manual: [] })
})
