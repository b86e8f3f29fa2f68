/** What a start leads to, and how an application comes to where it listens, each as small as it can be. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { projectWith } from './project-with.ts'

type Files = Readonly<Record<string, string>>

async function first(files: Files, more: object = {}) {
  const manifest = { bin: './bin/run', dependencies: { express: '5' }, ...more }
  const project = projectWith({ 'package.json': JSON.stringify(manifest), ...files })
  const [found] = (await detectNode(project)).applications
  return found && `${found.entry?.path} → ${found.mount?.path}:${found.mount?.line} ${found.port}`
}

const WEB = `const app = require('express')()\napp.listen(1000)`

t.test('a file is reached by a path that is put together', async (t) => {
  const ways: readonly (readonly [string, string])[] = [
    [
      'a folder in a name',
      `const lib = require('path').join(__dirname, '../lib')\nrequire(lib + '/web')`,
    ],
    [
      'the real folder of the file',
      `const lib = path.join(path.dirname(fs.realpathSync(__filename)), '../lib')\nrequire(lib + '/web')`,
    ],
    ['a template', 'const up = `${__dirname}/..`\nrequire(`${up}/lib/web.js`)'],
    ['a name', `const web = '../lib/web'\nrequire(web)`],
  ]
  for (const [name, code] of ways)
    t.equal(
      await first({ 'bin/run': code, 'lib/web.js': WEB }),
      'bin/run → lib/web.js:1 1000',
      name,
    )
  const esm = `import { fileURLToPath } from 'node:url'
import { fork } from 'node:child_process'
fork(fileURLToPath(new URL('../lib/web.js', import.meta.url)))`
  t.equal(
    await first({ 'bin/run': esm, 'lib/web.js': WEB }, { type: 'module' }),
    'bin/run → lib/web.js:1 1000',
  )
  t.equal(
    await first({ 'bin/run': `const name = pick()\nrequire(name)`, 'lib/web.js': WEB }),
    'bin/run → lib/web.js:1 null',
    'one that only a run would know is not followed',
  )
})

t.test('all files of a folder are reached where code loads it', async (t) => {
  const loads = [
    `require('yargs').commandDir('../commands').argv`,
    `fs.readdirSync(path.join(__dirname, '../commands')).forEach((file) => load(file))`,
    `load({ dir: path.join(__dirname, '..', 'commands') })`,
  ]
  for (const code of loads)
    t.equal(
      await first({ 'bin/run': code, 'commands/web.js': WEB, 'commands/web.test.js': WEB }),
      'bin/run → commands/web.js:1 1000',
      code,
    )
})

t.test('a command without an ending is looked into, and goes before a server.js', async (t) => {
  const code = `require('http').createServer(answer).listen(1000)`
  t.equal(await first({ 'bin/run': code }, { dependencies: {} }), 'bin/run → bin/run:1 1000')
  const both = {
    'bin/run': `require('../server').listen(1000)`,
    'server.js': 'module.exports = require("express")()',
  }
  t.equal(await first(both), 'bin/run → server.js:1 1000')
})

t.test('an application is followed through promises and callbacks', async (t) => {
  const web = (code: string) => `const express = require('express')\n${code}`
  const ways: readonly (readonly [string, Files])[] = [
    [
      'a callback that is passed on',
      {
        'bin/run': `require('../web').boot((app) => app.listen(1000))`,
        'web.js': web(
          `function make(done) { done(express()) }\nexports.boot = (next) => make(next)`,
        ),
      },
    ],
    [
      'then',
      {
        'bin/run': `require('../web')().then((app) => app.listen(1000))`,
        'web.js': web(`\nmodule.exports = async () => express()`),
      },
    ],
    [
      'a promise of its own',
      {
        'bin/run': `require('../web')().then((app) => app.listen(1000))`,
        'web.js': web(`\nmodule.exports = () => new Promise((resolve) => resolve(express()))`),
      },
    ],
  ]
  for (const [name, files] of ways)
    t.match((await first(files)) ?? '', /^bin\/run → web\.js:[23] 1000$/, name)
})

t.test(
  'a server is found through an object of modules, and through what is given to serve',
  async (t) => {
    const held = `const from = { http: require('http') }\nfrom.http.createServer(answer).listen(1000)`
    t.equal(await first({ 'bin/run': held }, { dependencies: {} }), 'bin/run → bin/run:2 1000')
    const hono = `import { serve } from 'srvx'\nimport { Hono } from 'hono'
const inner = new Hono()\nconst app = new Hono()\napp.route('/a', inner)\nserve({ fetch: app.fetch, port: 1000 })`
    t.equal(
      await first({ 'bin/run': hono }, { type: 'module', dependencies: { hono: '4' } }),
      'bin/run → bin/run:4 1000',
    )
  },
)

t.test('a port is what the start says before what code falls back to', async (t) => {
  const port = async (code: string, web = '') => {
    const found = await first({
      'bin/run': `const app = require('express')()\n${code}`,
      'web.js': web,
    })
    return found?.split(' ').at(-1)
  }
  t.equal(
    await port(
      `require('../web')(app, { port: 4000 })`,
      `module.exports = (app, o) => app.listen(o.port || 3000)`,
    ),
    '4000',
  )
  t.equal(await port(`app.listen(process.env.PORT || 3000)`), '3000')
  t.equal(await port(`app.listen((process.env.PORT && Number(process.env.PORT)) || 3000)`), '3000')
  t.equal(await port(`app.listen(process.env.PORT | 3000)`), '3000', 'as it is mistyped')
  t.equal(await port(`let port = await findPort(3000)\napp.listen(Number(port))`), '3000')
  t.equal(
    await port(
      `cli.option('-p, --port <port>', 'where', String(3000))\nconst open = (next) => app.listen(next)\nopen(cli.port)`,
    ),
    '3000',
  )
  t.equal(
    await port(`const o = args.alias('p', 'port').default('p', 3000).argv\napp.listen(o.port)`),
    '3000',
  )
  t.equal(
    await port(
      `const schema = { port: { value: 3000, type: 'number' } }\napp.listen(config(schema).port)`,
    ),
    '3000',
  )
})

t.test('a stream of beats is no health path', async (t) => {
  const health = async (handler: string) => {
    const code = `const app = require('express')()\napp.get('/heartbeat', ${handler})\napp.listen(1)`
    const project = projectWith({
      'package.json': '{"bin":"a.js","dependencies":{"express":"5"}}',
      'a.js': code,
    })
    return (await detectNode(project)).applications[0]?.healthPath
  }
  t.equal(await health(`(q, r) => r.send('ok')`), '/heartbeat')
  t.equal(await health(`(q, r) => r.type('text/event-stream')`), null)
})

t.test('a shell script is followed to what it runs', async (t) => {
  const start = { scripts: { start: 'npm run clean && ./start.sh' }, bin: undefined }
  const job = { 'job.js': 'setInterval(work, 1000)', 'lib/web.js': WEB }
  const direct = '#!/bin/sh\nexec node lib/web.js\n'
  t.equal(await first({ 'start.sh': direct, ...job }, start), 'lib/web.js → lib/web.js:1 1000')
  const own =
    '#!/bin/bash\nrun () { nohup node $1 & }\n# run ./old.js\nrun ./job.js\nrun ./lib/web.js a.pid\n'
  t.equal(await first({ 'start.sh': own, ...job }, start), 'lib/web.js → lib/web.js:1 1000')
})

t.test('what makes an application listen goes before what only makes it', async (t) => {
  const files = {
    'index.js': `exports.make = require('./web')`,
    'web.js': `const express = require('express')
module.exports = () => { const app = express(); return require('http').createServer(app) }`,
    'cli.js': `require('./index').make().listen(1000)`,
  }
  const scripts = { 'start:web': 'node index.js' }
  t.equal(await first(files, { scripts, bin: 'cli.js' }), 'cli.js → web.js:2 1000')
})

t.test('an application behind a server that others make is found, and its worker', async (t) => {
  const files = {
    'bin/run': `start({ worker: __dirname + '/../worker.js', port: Number(args.port) || 3000 })`,
    'worker.js': `const app = require('express')()
class Worker extends Base { run() { this.server.on('request', app) } }`,
  }
  t.equal(await first(files), 'bin/run → worker.js:1 3000')
  const micro = {
    'bin/run': `require('../web').listen(args.port || 9000)`,
    'web.js': `module.exports = require('micro')(answer)`,
  }
  t.equal(await first(micro, { dependencies: { micro: '9' } }), 'bin/run → web.js:1 9000')
})

t.test('what nothing leads to is a guess, with what is run as its entry', async (t) => {
  const files = {
    'bin/run': 'load(everything)',
    'servers/web.js': `const http = require('http')\nexports.start = () => http.createServer((q, r) => r.end())`,
  }
  const project = projectWith({ 'package.json': '{"bin":"bin/run"}', ...files })
  const [found] = (await detectNode(project)).applications
  t.match(found, {
    framework: 'node',
    confidence: 'guess',
    entry: { path: 'bin/run' },
    mount: { path: 'servers/web.js', line: 2 },
  })
  const library = projectWith({ 'package.json': '{"main":"index.js"}', 'index.js': '', ...files })
  t.strictSame((await detectNode(library)).applications, [], 'nothing of a library is run')
})

t.test('a build that was published with its sources leads to them', async (t) => {
  const files = {
    'tsconfig.json': '{ "compilerOptions": { "outDir": "made", "rootDir": "src" } }',
    'made/web.js': WEB,
    'src/web.ts': `import express from 'express'\nexpress().listen(1000)`,
  }
  t.equal(await first(files, { bin: 'made/web.js' }), 'src/web.ts → src/web.ts:2 1000')
})

t.test('a port is read from settings beside the code', async (t) => {
  const app = (code: string) => `const app = require('express')()\n${code}`
  const ways: readonly (readonly [string, Files])[] = [
    [
      'YAML',
      {
        'bin/run': app(`const config = load('config/web.yml')\napp.listen(config.http.port)`),
        'config/web.yml': 'admin:\n  port: 9000\nhttp:\n  port: ${WEB_PORT:-3000}\n',
      },
    ],
    [
      'the package config, in YAML',
      {
        'bin/run': app(`const config = require('config')\napp.listen(config.get('http.port'))`),
        'config/default.yaml': 'http:\n  port: 3000\n',
      },
    ],
    [
      'the package config, in JavaScript',
      {
        'bin/run': app(`const config = require('config')\napp.listen(config.get('http.port'))`),
        'config/default.js': 'module.exports = { http: { port: 3000 } }',
      },
    ],
    [
      'a list of settings',
      {
        'bin/run': app(
          `const known = [{ envName: 'PORT', defaultVal: '3000' }]\napp.listen(settings(known).port)`,
        ),
      },
    ],
  ]
  for (const [name, files] of ways) t.match((await first(files)) ?? '', / 3000$/, name)
})

t.test('a port that depends on how it is started is not sure', async (t) => {
  const files = (code: string) =>
    projectWith({
      'package.json': '{"bin":"run.js","dependencies":{"express":"5"}}',
      'run.js': `const app = require('express')()\n${code}`,
    })
  const said = async (code: string) =>
    (await detectNode(files(code))).applications[0]?.findings.find(({ about }) => about === 'port')
  t.match(await said(`app.listen(secure ? 8443 : 8080)`), { value: '8080', confidence: 'likely' })
  t.match(await said(`app.listen(env.PORT || 8080)`), { value: '8080', confidence: 'sure' })
  t.equal(await said(`start(app, url.port || 80)`), undefined, 'the port of an address is nobody’s')
})

t.test('a health path that a setting may replace is its default', async (t) => {
  const project = projectWith({
    'package.json': '{"bin":"run.js","dependencies":{"express":"5"}}',
    'run.js': `const app = require('express')()\napp.get(config?.health?.path || '/health', ok)\napp.listen(1)`,
  })
  t.equal((await detectNode(project)).applications[0]?.healthPath, '/health')
})

t.test('figures for those who look after an application are not the application', async (t) => {
  const code = `const express = require('express')
const figures = express()\nfigures.get('/metrics', show)\nfigures.listen(9100)
const app = express()\napp.get('/', page)\napp.listen(1000)`
  t.equal(await first({ 'bin/run': code }), 'bin/run → bin/run:5 1000')
})

t.test('compiled code is followed as what it was written in', async (t) => {
  const wrapped = `const runtime = require('../runtime')\nlet express = require('express')
express = runtime.__toESM(express);\n(0, express.default)().listen(1000)`
  t.equal(await first({ 'bin/run': wrapped, 'runtime.js': '' }), 'bin/run → bin/run:4 1000')
  const classes = {
    'bin/run': `const web_1 = require('../web')\nconst express_1 = require('express')
new web_1.default((0, express_1.default)()).start()`,
    'web.js': `class Web { constructor(app) { this.app = app } start() { this.app.listen(1000) } }
exports.default = Web`,
  }
  t.equal(await first(classes), 'bin/run → bin/run:3 1000')
  const beside = {
    'tsconfig.json': '{ "compilerOptions": { "outDir": "lib", "rootDir": "src" } }',
    'bin/run': `require(local ? local : '../lib/web')`,
    'lib/web.js': WEB,
    'src/web.ts': `import express from 'express'\nexpress().listen(1000)`,
  }
  t.equal(await first(beside), 'bin/run → src/web.ts:2 1000')
})

t.test('a port that a function of the project reads by its name has its own default', async (t) => {
  const code = `const app = require('express')()
const number = (name, otherwise) => Number(process.env[name]) || otherwise
const config = { PORT: number('PORT', 3000), REDIS_PORT: number('REDIS_PORT', 6379) }
app.listen(config.PORT)`
  t.equal(await first({ 'bin/run': code }), 'bin/run → bin/run:1 3000')
})

t.test('a health path stands behind a prefix of which only the end is known', async (t) => {
  const project = projectWith({
    'package.json': '{"bin":"run.js","dependencies":{"express":"5"}}',
    'run.js': `const express = require('express')\nconst app = express()\nconst router = express.Router()
router.get('/health', ok)\napp.use(\`\${config.base}/proxy\`, router)\napp.listen(1)`,
  })
  t.equal((await detectNode(project)).applications[0]?.healthPath, '/proxy/health')
})

t.test('of several scripts the first that starts it is believed', async (t) => {
  const files = { 'server.js': WEB, 'cli.js': `require('./server')` }
  const scripts = { start: 'node server.js', 'start:cli': 'node cli.js' }
  t.equal(
    await first(files, { bin: './cli.js', main: './server.js', scripts }),
    'server.js → server.js:1 1000',
  )
  const serve = 'URL=$(npm run url --silent | tr -d x) node cli.js'
  t.equal(
    await first(files, { bin: undefined, scripts: { serve, dev: 'node server.js' } }),
    'cli.js → server.js:1 1000',
    'what a shell asks another program for is no end of the line',
  )
})
