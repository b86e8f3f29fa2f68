/** Ways in which applications on Node are written and started, each as small as it can be. */
import t from 'tap'
import { runsOf } from '../../../../../control-plane/downloads/analyzer/detection/node/commands.ts'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { dockerCommands } from '../../../../../control-plane/downloads/analyzer/detection/start-commands.ts'
import { matchesWorkspace } from '../../../../../control-plane/downloads/analyzer/detection/node/paths.ts'
import { projectWith } from './project-with.ts'

/** `express server.js:2 :3000 sure`, an application each. */
async function found(files: Readonly<Record<string, string>>): Promise<string[]> {
  const { applications } = await detectNode(projectWith(files))
  return applications.map(
    ({ folder, framework, entry, mount, port, confidence }) =>
      `${folder}[${framework}] ${entry?.path ?? '-'} → ${mount ? `${mount.path}:${mount.line}` : '-'} ${port} ${confidence}`,
  )
}

const STARTED = (file: string, dependencies: Readonly<Record<string, string>> = {}) =>
  JSON.stringify({
    scripts: { start: `node ${file}` },
    dependencies: { express: '5', ...dependencies },
  })

t.test('an application is followed to where it is made, however it comes to listen', async (t) => {
  const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'through a getter of a class': {
      'a.js': `const { Web } = require('./web')\nnew Web().server.listen(1000)`,
      'web.js': `const express = require('express')
class Web { get server() { return this.made ??= express() } }
exports.Web = Web`,
    },
    'through an object of everything': {
      'a.js': `const world = require('./web')\nworld.http.app.listen(1000)`,
      'web.js': `const http = {}
http.app = require('express')()
module.exports = { http, log: console.log }`,
    },
    'through a function that starts what it is given': {
      'a.js': `import { make } from './web.js'\nimport start from './start.js'\nstart(make(), 1000)`,
      'start.js': `export default function listen(app, port) { app.listen(port) }`,
      'web.js': `import express from 'express'
export const make = () => { const app = express(); return app }`,
    },
    'through files that pass it on': {
      'a.js': `import { app } from './index.js'\napp.listen(1000)`,
      'index.js': `export * from './inner.js'`,
      'inner.js': `export { default as app } from './web.js'`,
      'web.js': `import e from 'express'
export default e()`,
    },
    'through an async factory': {
      'a.mjs': `import make from './web.js'\nconst { app } = await make()\nawait app.listen(1000)`,
      'web.js': `const express = require('express')
module.exports = async () => { const app = express(); return { app, db: await 1 } }`,
    },
    'in a class that has its port from the constructor of one below it': {
      'a.js': `const { Shop } = require('./web')\nnew Shop(1000).begin()`,
      'web.js': `const express = require('express')
class Web { constructor(name, port) { this.port = port; this.app = express() } begin() { this.app.listen(this.port) } }
exports.Shop = class Shop extends Web { constructor(port) { super('shop', port) } }`,
    },
    'by a method of the class above': {
      'a.js': `const { Shop } = require('./web')\nnew Shop().begin(1000)`,
      'web.js': `const express = require('express')
class Web { app = express(); begin(port) { this.app.listen(port) } }
exports.Shop = class Shop extends Web { begin(port) { super.begin(port) } }`,
    },
    'in a server that is told later': {
      'a.js': `const s = require('http').createServer()\ns.on('request', require('./web'))\ns.listen(1000)`,
      'web.js': `const express = require('express')
module.exports = express().disable('x-powered-by')`,
    },
    'in a handler that calls it': {
      'a.js': `const http = require('http'), app = require('./web')
http.createServer((q, r) => { q.at = Date.now(); app(q, r) }).listen(1000)`,
      'web.js': `const express = require('express')
const app = express(); module.exports = app`,
    },
    'by a class that is given it when it is made': {
      'a.js': `const { Server } = require('./server')\nnew Server(require('./web')).start()`,
      'server.js': `exports.Server = class {
  constructor(app) { this.app = app }
  start() { this.app.listen(1000) }
}`,
      'web.js': `const express = require('express')
module.exports = express()`,
    },
    'as one of several things that are given': {
      'a.js': `const start = require('./server')\nstart({ config: {}, app: require('./web') })`,
      'server.js': `module.exports = function ({ config, app } = {}) { app.listen(1000) }`,
      'web.js': `const express = require('express')
module.exports = express()`,
    },
    'where it may not be there yet': {
      'a.js': `const web = require('./web')\nweb.server?.listen(1000)`,
      'web.js': `const express = require('express')
exports.server = express()`,
    },
    'by what a package makes of Express': {
      'a.js': `const app = require('./web')\nrequire('http2').createSecureServer({}, app).listen(1000)`,
      'web.js': `const http2Express = require('http2-express'), express = require('express')
module.exports = http2Express(express)`,
    },
    'in what a compiler has made of many files': {
      'a.js': `require('./web').app.listen(1000)`,
      'web.js': `const express = require('express')
Object.assign(exports, { app: express() })`,
    },
    'in what is handed to a callback': {
      'a.js': `const make = require('./web')\nmake({}, (error, server) => { server.listen(1000) })`,
      'web.js': `const express = require('express')
module.exports = function make(options, done) { const app = express(); done(null, app) }`,
    },
    'in methods of a prototype': {
      'a.js': `const Web = require('./web')\nnew Web().start()`,
      'web.js': `const express = require('express'), http = require('http')
Web.prototype._make = function () { return express() }
function Web() { this._server = this._serve(this._make()) }
Web.prototype._serve = function (app) { return http.createServer(app) }
Web.prototype.start = function () { this._server.listen(1000) }
module.exports = Web`,
    },
    'through an export that is defined': {
      'a.js': `const web = require('./index')\nweb.app.listen(1000)`,
      'index.js': `exports = module.exports = function Queue() {}
let app
Object.defineProperty(exports, 'app', { get() { return app || (app = require('./web')) } })`,
      'web.js': `const express = require('express')
module.exports = express()`,
    },
    'through all that a compiled file passes on': {
      'a.js': `const { app } = require('./index')\napp.listen(1000)`,
      'index.js': `__exportStar(require("./web"), exports)`,
      'web.js': `const express_1 = __importDefault(require("express"));
exports.app = (0, express_1.default)();`,
    },
    'beside an address that it is told of itself': {
      'a.js': `const { app } = require('./web')()
app.use(process.env.BASE || app.locals.base, require('./routes'))\napp.listen(1000)`,
      'routes.js': `module.exports = require('express').Router()`,
      'web.js': `const express = require('express')
module.exports = () => { const app = express(); return { app } }`,
    },
    'in code that a compiler has made': {
      'a.js': `"use strict";Object.defineProperty(exports, "__esModule", { value: true });
const web_1 = __importDefault(require("./web"));
web_1.default.listen(1000);`,
      'web.js': `const express_1 = __importDefault(require("express"));
const app = (0, express_1.default)();
exports.default = app;`,
    },
  }
  for (const [name, files] of Object.entries(shapes)) {
    const [entry = ''] = Object.keys(files)
    t.strictSame(
      await found({ 'package.json': STARTED(entry), ...files }),
      [`[express] ${entry} → web.js:2 1000 sure`],
      name,
    )
  }
})

t.test('what cannot be followed is not believed', async (t) => {
  const manifest = STARTED('a.js')
  t.match(
    await found({
      'package.json': manifest,
      'a.js': `const e = require('express'); x = a ? e() : e()\nx.listen(1)`,
    }),
    [/guess$/],
    'one of two',
  )
  t.match(
    await found({
      'package.json': manifest,
      'a.js': `const e = require('express'); const a = e()\nconst b = e()\nrequire('./start')({ a, b })`,
      'start.js': `module.exports = (all) => Object.values(all).forEach((one) => one.listen(1))`,
    }),
    [/guess$/, /guess$/],
    'two, and no telling which listens',
  )
  t.strictSame(await found({ 'package.json': manifest, 'a.js': `require('express').Router()` }), [])
  t.strictSame(
    await found({ 'package.json': manifest, 'a.js': `function express() {}; express().listen(1)` }),
    [],
  )
  t.strictSame(
    await found({
      'package.json': JSON.stringify({ main: 'lib/index.js', dependencies: { express: '4' } }),
      'lib/index.js': `exports.wrap = (app) => app.use('/x', (req, res) => res.end())`,
      'test/server.js': `require('express')().listen(1)`,
    }),
    [],
    'a library that only uses one in its tests',
  )
  t.match(
    await found({
      'package.json': JSON.stringify({ devDependencies: { express: '4' } }),
      'app.js': `require('express')().listen(1)`,
    }),
    [/guess$/],
    'of development, and nothing starts it',
  )
  t.strictSame(
    await found({
      'package.json': JSON.stringify({ main: 'lib/index.js', dependencies: { express: '4' } }),
      'lib/index.js': `exports.name = 'x'`,
      'lib/index.test.js': `const app = require('express')()`,
    }),
    [],
    'made in a test beside the code',
  )
})

t.test(
  'what is mounted in another application is a part of it, even if it could listen',
  async (t) => {
    const files = {
      'package.json': STARTED('a.js'),
      'a.js': `const app = require('express')()\napp.use('/shop', require('./shop'))\napp.listen(1)`,
      'shop.js': `const shop = require('express')()
if (require.main === module) shop.listen(2)
module.exports = shop`,
    }
    t.strictSame(await found(files), ['[express] a.js → a.js:1 1 sure'])
  },
)

t.test('what a start runs is found in what it says', async (t) => {
  const runs = (line: string) =>
    runsOf(line).map((run) =>
      run.kind === 'file' || run.kind === 'plugin'
        ? `${run.kind} ${run.path}`
        : run.kind === 'script'
          ? `script ${run.name}`
          : run.kind === 'next'
            ? `next ${run.port}`
            : `nest ${run.project}`,
    )
  for (const [line, ...expected] of [
    ['node server.js', 'file server.js'],
    ['NODE_ENV=production node -r dotenv/config ./dist/main.js --port 1', 'file ./dist/main.js'],
    ['node --import tsx --env-file .env src/a.ts', 'file src/a.ts'],
    ['node --max-old-space-size=4096 .', 'file .'],
    ['cross-env A=b nodemon --watch src --exec "ts-node -T src/a.ts"', 'file src/a.ts'],
    ['tsx watch --clear-screen=false src/a.ts', 'file src/a.ts'],
    ['dotenv -e .env -- node a.mjs', 'file a.mjs'],
    ['npm run build && npm run start:prod', 'script build', 'script start:prod'],
    ['concurrently "npm:dev" "node a.js"', 'script dev', 'file a.js'],
    ['pm2-runtime start -i max bin/www', 'file bin/www'],
    ['./bin/www', 'file ./bin/www'],
    ['sh -c "node a.js"', 'file a.js'],
    ['next start -p 4000', 'next 4000'],
    ['next dev', 'next null'],
    ['next build', ...[]],
    ['nest start api --watch', 'nest api'],
    ['fastify start -w -l info -P app.js', 'plugin app.js'],
    ['npm start -w api', ...[]],
    ['tsc -p . && eslint .', ...[]],
    ['echo "node a.js"', ...[]],
    ['yarn dev', 'script dev'],
    ['yarn install', ...[]],
    ['bun run src/a.ts', 'file src/a.ts'],
    ['bun run dev', 'script dev'],
  ] as const)
    t.strictSame(runs(line), expected, line)
  t.strictSame(
    dockerCommands(
      'FROM a\nCMD node no.js\nFROM b\nENTRYPOINT ["node"]\nCMD [ "a b.js", \\\n "--x" ]',
    ),
    [{ command: 'node "a b.js" --x', line: 5 }],
  )
})

t.test('a start leads to the source of what was built', async (t) => {
  const manifest = STARTED('dist/server.js')
  const code = `import express from 'express'\nexpress().listen(1)`
  const tsconfig =
    '{ // made by hand\n "compilerOptions": { "outDir": "./dist", "rootDir": "code", }, }'
  t.strictSame(
    await found({ 'package.json': manifest, 'tsconfig.json': tsconfig, 'code/server.ts': code }),
    ['[express] code/server.ts → code/server.ts:2 1 sure'],
  )
  t.strictSame(await found({ 'package.json': manifest, 'src/server.ts': code }), [
    '[express] src/server.ts → src/server.ts:2 1 sure',
  ])
})

t.test('every package of a workspace that listens is an application', async (t) => {
  const app = `const e = require('express')\nrequire('@w/start')(e())`
  const files = {
    'package.json': JSON.stringify({ workspaces: { packages: ['apps/*', 'libs/*', '!apps/old'] } }),
    'apps/a/package.json': STARTED('a.js'),
    'apps/a/a.js': app,
    'apps/b/package.json': STARTED('b.js'),
    'apps/b/b.js': app,
    'libs/start/package.json': JSON.stringify({ name: '@w/start', main: 'start.js' }),
    'libs/start/start.js': `module.exports = (app) => app.listen(process.env.PORT ?? 80)`,
  }
  t.strictSame(await found(files), [
    'apps/a[express] apps/a/a.js → apps/a/a.js:2 80 sure',
    'apps/b[express] apps/b/b.js → apps/b/b.js:2 80 sure',
  ])
  const shared = {
    ...files,
    'apps/a/a.js': `require('@w/start')().listen(1)`,
    'apps/b/b.js': `require('@w/start')().listen(2)`,
    'libs/start/start.js': `const e = require('express')\nmodule.exports = () => e()`,
  }
  t.strictSame(
    await found(shared),
    [
      'apps/a[express] apps/a/a.js → libs/start/start.js:2 1 sure',
      'apps/b[express] apps/b/b.js → libs/start/start.js:2 2 sure',
    ],
    'also where both are made in one place',
  )
  t.ok(matchesWorkspace(['apps/*'], 'apps/a'))
  t.notOk(matchesWorkspace(['apps/*'], 'apps/a/b'))
  t.ok(matchesWorkspace(['./apps/**'], 'apps/a/b'))
  t.notOk(matchesWorkspace(['apps/*', '!apps/old'], 'apps/old'))
  t.ok(matchesWorkspace(['{apps,libs}/x-*'], 'libs/x-1'))
  t.notOk(matchesWorkspace(['a.c'], 'abc'))
})

t.test('the package that brings Node along is no framework', async (t) => {
  const { applications } = await detectNode(
    projectWith({
      'package.json': STARTED('a.js', { node: '^26' }),
      'a.js': `require('http').createServer((q, r) => r.end()).listen(1)`,
    }),
  )
  t.match(applications, [{ framework: 'node', variant: null, confidence: 'sure' }])
})

t.test('a file of fastify-cli is a plugin of the application that it makes', async (t) => {
  const files = {
    'package.json': JSON.stringify({
      scripts: { start: 'fastify start -l info app.js' },
      dependencies: { fastify: '5' },
    }),
    'app.js': `'use strict'\nmodule.exports = async function (fastify, opts) {\n  fastify.get('/', () => 1)\n}`,
  }
  t.strictSame(await found(files), ['[fastify] app.js → app.js:2 3000 likely'])
  const told = JSON.stringify({
    scripts: { start: 'fastify start -p 4100 app.js' },
    dependencies: { fastify: '5' },
  })
  t.strictSame(await found({ ...files, 'package.json': told }), [
    '[fastify] app.js → app.js:2 4100 likely',
  ])
  const { applications } = await detectNode(
    projectWith({
      ...files,
      'app.js': `module.exports = async function (fastify) {
  fastify.register(require('./inner'), { prefix: '/v1' })\n}`,
      'inner.js': `module.exports = async (fastify) => { fastify.get('/health', async () => 'ok') }`,
    }),
  )
  t.equal(applications[0]?.healthPath, '/v1/health')
})

t.test(
  'a class that extends a framework is an application where it calls its constructor',
  async (t) => {
    const manifest = {
      main: 'lib/index.js',
      bin: 'bin/run.js',
      dependencies: { koa: '2' },
    }
    t.strictSame(
      await found({
        'package.json': JSON.stringify(manifest),
        'bin/run.js': `const Files = require('..')\nnew Files().run()`,
        'lib/index.js': `const Koa = require('koa'), http = require('http')
class Files extends Koa {
  constructor() {
    super()
  }
  run() { this.listen(1000) }
  listen(port) {
    const server = http.createServer()
    server.on('request', this.callback())
    server.listen(port)
  }
}
module.exports = Files`,
      }),
      ['[koa] bin/run.js → lib/index.js:4 1000 likely'],
    )
  },
)
