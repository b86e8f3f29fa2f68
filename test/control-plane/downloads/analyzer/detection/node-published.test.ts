/** Shapes of published applications: what a command gives, builds, either of two servers, settings in folders. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { planFor } from '../../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import { WISHES } from '../edits/projects.ts'
import { projectWith } from './project-with.ts'

type Files = Readonly<Record<string, string>>

const manifest = (more: object) => JSON.stringify({ dependencies: { express: '5' }, ...more })

/** `express a.js:1 :1000 /health`, from its entry; the first that is found. */
async function first(files: Files) {
  const { applications } = await detectNode(projectWith(files))
  const [one] = applications
  return one === undefined
    ? 'nothing'
    : `${one.framework} ${one.mount?.path}:${one.mount?.line} :${one.port} from ${one.entry?.path}`
}

const started = (command: string, files: Files) =>
  first({ 'package.json': manifest({ scripts: { start: command } }), ...files })

t.test('a server of a variable that is http or https is one, over http first', async (t) => {
  const code = `let web
if (secure) web = require('https')
else web = require('http')
if (secure) serve(web.createServer({ key, cert }, answer))
else serve(web.createServer(answer))
function serve(server) { server.listen(1000) }`
  t.equal(await started('node a.js', { 'a.js': code }), 'node a.js:5 :1000 from a.js')
  const given = `const http = require('http')
const start = (protocol) => protocol.createServer(answer).listen(1001)
start(http)`
  t.equal(await started('node a.js', { 'a.js': given }), 'node a.js:2 :1001 from a.js')
  const raw = `const net = require('net')
require('http')
const start = (protocol) => protocol.createServer(answer).listen(1002)`
  t.equal(await started('node a.js', { 'a.js': raw }), 'nothing')
})

t.test('what only sends on is a server where it listens itself', async (t) => {
  const made = `const proxy = require('http-proxy').createProxyServer({ target })\n`
  const listens = { 'a.js': `${made}proxy.on('error', say).listen(1000)` }
  t.equal(await started('node a.js', listens), 'node a.js:1 :1000 from a.js')
  const behind = {
    'a.js': `${made}const app = require('express')()\napp.use(proxy.web)\napp.listen(1001)`,
  }
  t.equal(await started('node a.js', behind), 'express a.js:2 :1001 from a.js')
})

t.test('of two servers the one that only redirects is not meant', async (t) => {
  const code = `const http = require('http')
http.createServer((q, r) => { r.writeHead(301, { Location: 'https://a' }); r.end() }).listen(80)
http.createServer((q, r) => r.end('a')).listen(1000)`
  t.equal(await started('node a.js', { 'a.js': code }), 'node a.js:3 :1000 from a.js')
})

t.test(
  'code is reached by a name that only a run knows, in the folder that it names',
  async (t) => {
    const served = `module.exports = () => require('express')().listen(1000)`
    for (const load of [
      `require(require('path').join(__dirname, 'commands', name))()`,
      `require('./commands/' + name)()`,
      'require(`./commands/${name}.js`)()',
      'import(new URL(`commands/${name}.js`, import.meta.url))',
    ])
      t.equal(
        await started('node a.js', { 'a.js': load, 'commands/serve.js': served }),
        'express commands/serve.js:1 :1000 from a.js',
        load,
      )
  },
)

t.test('of several the one that the command names comes first', async (t) => {
  const made = (port: number) => `module.exports = () => require('express')().listen(${port})`
  const files = {
    'a.js': `for (const name of ['build', 'view']) require('./' + name)
require('./build.js')
require('./view.js')`,
    'build.js': made(1000),
    'view.js': made(1001),
  }
  t.equal(await started('node a.js', files), 'express build.js:1 :1000 from a.js')
  t.equal(await started('node a.js view', files), 'express view.js:1 :1001 from a.js')
})

t.test('a port is read where a start says it', async (t) => {
  const app = `const app = require('express')()\n`
  const cases: Readonly<Record<string, readonly [number, string, Files]>> = {
    'the file that the command names': [
      1001,
      'node a.js --config conf.json',
      { 'a.js': `${app}app.listen(1000)`, 'conf.json': '{ "port": "1001" }' },
    ],
    'a file of a folder, by its name': [
      1002,
      'node a.js',
      {
        'a.js': `const read = require('konphyg')('config')\n${app}app.listen(read('server').port)`,
        'config/server.json': '{ "port": 1002 }',
      },
    ],
    'the first of a list that is spread': [
      1003,
      'node a.js',
      { 'a.js': `${app}const to = [Number(x.port) || 1003, x.host]\napp.listen(...to)` },
    ],
    'the default of an option that is made by itself': [
      1006,
      'node a.js',
      {
        'a.js': `${app}program.addOption(new Option('-s, --source <port>', 'from').default(1006))
app.listen(program.opts().source)`,
      },
    ],
    'where a search begins': [
      1004,
      'node a.js',
      {
        'a.js': `${app}const finder = require('portfinder')
finder.basePort = 1004
finder.find((error, one) => app.listen(one))`,
      },
    ],
    'settings, before what an address means': [
      1005,
      'node a.js',
      {
        'a.js': `${app}uri.port = 80
const options = { secure: false, host: 'a', port: 1005 }
app.listen(read(options).port)`,
      },
    ],
  }
  for (const [name, [port, command, files]] of Object.entries(cases))
    t.match(await started(command, files), ` :${port} from a.js`, name)
})

t.test('a build in a folder of its own leads to what it is built from', async (t) => {
  const code = `import express from 'express'\nexpress().listen(1000)`
  const files = {
    'ts/tsconfig.json': '{ "compilerOptions": { "outDir": "lib" } }',
    'ts/lib/src/server.js': code,
    'ts/src/server.ts': code,
  }
  t.equal(
    await started('node ts/lib/src/server.js', files),
    'express ts/src/server.ts:2 :1000 from ts/src/server.ts',
  )
})

t.test('what exports offers is run where there is no main', async (t) => {
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } }
  t.equal(
    await first({
      'package.json': manifest({ exports }),
      'dist/index.js': `require('express')().listen(1000)`,
    }),
    'express dist/index.js:1 :1000 from dist/index.js',
  )
})

t.test('Next.js of which only the build is there is named, and nothing is written', async (t) => {
  const project = projectWith({
    'package.json': JSON.stringify({
      scripts: { start: 'next start' },
      dependencies: { next: '16.1.0' },
    }),
    'next.config.js': 'module.exports = {}',
    'plugin/index.js': `const next = require('next')
const app = next({ dev: false })
require('http').createServer(app.getRequestHandler()).listen(7777)`,
  })
  const [application] = (await detectNode(project)).applications
  t.match(application, { framework: 'next', port: 3000 })
  if (application === undefined) return
  const { edits, manual } = await planFor(project, application, WISHES)
  t.notOk(edits.some(({ path }) => /\.[jt]s$/.test(path)))
  t.match(manual[0]?.text, /because its pages are not here/)
})

t.test('what is unclear is said at the server that was found', async (t) => {
  const project = projectWith({
    'package.json': manifest({ scripts: { start: 'node a.js' } }),
    'a.js': `const [https, http] = [require('https'), require('http')]
const one = require('https').createServer(keys())
const two = require('http').createServer()
for (const server of [one, two]) serve(server)
function serve(server) { server.on('request', answer); server.listen(1000) }`,
  })
  const [application] = (await detectNode(project)).applications
  t.equal(application?.mount?.line, 3)
  if (application === undefined) return
  const { manual } = await planFor(project, application, WISHES)
  t.match(manual[0], { path: 'a.js', line: 3, text: /because it is unclear/ })
})

t.test('a health path may carry the name of the program', async (t) => {
  const app = (path: string) =>
    `const app = require('express')()\napp.get('${path}', ok)\napp.listen(1000)`
  for (const [path, health] of [
    ['/_chp_healthz', '/_chp_healthz'],
    ['/wealthz', null],
  ] as const) {
    const files = { 'package.json': manifest({ main: 'a.js' }), 'a.js': app(path) }
    const [application] = (await detectNode(projectWith(files))).applications
    t.equal(application?.healthPath ?? null, health)
  }
})

t.test('where the application that is meant is only shown, no other is edited', async (t) => {
  const project = projectWith({
    'package.json': manifest({ scripts: { start: 'node a.js' } }),
    'a.js': `const express = require('express')
function start(app) {
  app = app || express()
  app.get('/', ok)
  require('http').createServer(app).listen(1000)
  const away = express()
  away.get('/away', (q, r) => r.redirect('https://a'))
  away.listen(80)
}
start()`,
  })
  const [application] = (await detectNode(project)).applications
  t.equal(application?.mount?.line, 3)
  if (application === undefined) return
  const { edits, manual } = await planFor(project, application, WISHES)
  t.notOk(edits.some(({ path }) => path === 'a.js'))
  t.match(manual[0], { path: 'a.js', line: 3, text: /only created under a condition/ })
  t.ok(manual.some(({ line }) => line === 6))
})
