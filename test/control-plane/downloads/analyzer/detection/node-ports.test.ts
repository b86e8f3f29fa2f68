/** Where applications listen, which path says that they are well, and which of several is meant. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { projectWith } from './project-with.ts'

const MANIFEST = (more: object = {}) =>
  JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { express: '5' }, ...more })

async function first(files: Readonly<Record<string, string>>) {
  const { applications } = await detectNode(projectWith({ 'package.json': MANIFEST(), ...files }))
  return applications[0]
}

async function portIn(files: Readonly<Record<string, string>>) {
  const found = await first(files)
  const said = found?.findings.find(({ about }) => about === 'port')
  return `${found?.port ?? null} ${said?.confidence ?? '-'}`
}

const APP = `const app = require('express')()\n`

t.test('a port counts if it reaches listen, however it is told', async (t) => {
  const shapes: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
    'an option of yargs': [
      '3050 likely',
      {
        'a.js': `${APP}const argv = require('yargs').options({ port: { default: 3050, alias: 'p' } }).argv\napp.listen(argv.port)`,
      },
    ],
    'an option of a program that is given to a server of others': [
      '3052 likely',
      {
        'a.js': `${APP}program.option('-p, --port <port>', 'where', 3052)\nrequire('engine')({ port: program.port, routes: () => app })`,
      },
    ],
    'a setting, and not that of a network that it asks': [
      '9007 likely',
      {
        'a.js': `${APP}const irc = { network: { port: 6697 } }\nconst settings = { port: 9007 }\napp.listen(load(settings).port)`,
      },
    ],
    'an option with a default of its own': [
      '3051 likely',
      {
        'a.js': `${APP}const argv = require('yargs').describe('p', 'Port').default('p', 3051).argv\napp.listen(argv.p)`,
      },
    ],
    'an option whose text tells': [
      '8001 likely',
      {
        'a.js': `${APP}program.option('-p, --port <port>', 'Port to be used. Default is 8001')\napp.listen(program.port)`,
      },
    ],
    'one of a list of settings': [
      '1085 likely',
      {
        'a.js': `${APP}const config = cli.parse({ 'smtp-port': ['s', 'SMTP', 'number', 1025], 'http-port': ['h', 'HTTP', 'number', 1085] })
app.listen(config['http-port'])`,
      },
    ],
    'a file of settings': [
      '9004 likely',
      {
        'a.js': `${APP}const config = load(__dirname + '/config.json')\napp.listen(config.get('www:port'))`,
        'config.json': '{ "redis": { "port": 9999 }, "www": { "port": 9004 } }',
      },
    ],
    'a setting of the application, and what it was set to': [
      '9006 likely',
      {
        'a.js': `${APP}const config = load(__dirname + '/config.json')
app.set('port', config.get('www:port'))\napp.listen(app.get('port'))`,
        'config.json': '{ "www": { "port": 9006 } }',
      },
    ],
    'the one of several calls that tells it': [
      '9007 sure',
      {
        'a.js': `const server = require('http').createServer((q, r) => r.end())
server.on('error', () => server.listen(0))\nserver.listen(process.env.PORT || 9007)`,
      },
    ],
    'an option of argparse': [
      '8002 likely',
      {
        'a.js': `${APP}parser.add_argument('-p', '--port', { type: 'int', default: process.env.PORT ?? 8002 })
const { port } = parser.parse_args()\napp.listen(port)`,
      },
    ],
    'the default of a schema': [
      '8003 likely',
      {
        'a.js': `${APP}const schema = Type.Object({ PORT: Type.Number({ default: 8003 }) })\napp.listen(env(schema).PORT)`,
      },
    ],
    'one of several objects that are put together': [
      '8004 likely',
      {
        'a.js': `${APP}const config = Object.assign({}, { port: 8004 }, read())\napp.listen(config.port)`,
      },
    ],
    'what a function returns': [
      '8005 sure',
      {
        'a.js': `${APP}const ports = require('./ports')\napp.listen(ports.getPort())`,
        'ports.js': `exports.getPort = () => parseInt(process.env.PORT, 10) || 8005`,
      },
    ],
    'what the command says': [
      '3010 sure',
      {
        'package.json': MANIFEST({ scripts: { start: 'node a.js --debug --port 3010' } }),
        'a.js': `${APP}app.listen(process.env.PORT || 80)`,
      },
    ],
    'a .env that is read goes before what stands in the code': [
      '4001 likely',
      {
        '.env': 'PORT=4001',
        'a.js': `require('dotenv').config()\n${APP}app.listen(process.env.PORT || 3000)`,
      },
    ],
    'one that nobody reads does not': [
      '3000 sure',
      { '.env': 'PORT=4001', 'a.js': `${APP}app.listen(process.env.PORT || 3000)` },
    ],
    'and before the port of a database': [
      '4002 likely',
      {
        '.env': 'PORT=4002',
        'a.js': `${APP}connect({ database: { host: 'x', port: 15432 } })\napp.listen(settings.port)`,
      },
    ],
    'a port of a database or a mail server is nobody else’s': [
      'null -',
      {
        'a.js': `${APP}pool({ host: 'x', port: 15432, user: 'me' })\nconst smtp = { port: 2525 }
const redis = { port: 6379 }\napp.listen(settings.port)`,
      },
    ],
  }
  for (const [name, [expected, files]] of Object.entries(shapes))
    t.equal(await portIn(files), expected, name)
})

t.test('a health path of decorated classes stands behind the prefix of all of them', async (t) => {
  const health = async (options: string) =>
    (
      await first({
        'a.js': `import './b.ts'\nimport { createExpressServer } from 'routing-controllers'
createExpressServer({ ${options} }).listen(1000)`,
        'b.ts': `import { Get, JsonController } from 'routing-controllers'
@JsonController('/v1')
export class Wellness { @Get('/health') show() { return 'ok' } }`,
      })
    )?.healthPath
  t.equal(await health(''), '/v1/health')
  t.equal(await health(`routePrefix: '/api'`), '/api/v1/health')
  t.equal(await health(`routePrefix: process.env.PREFIX`), null, 'nobody knows where it is')
})

t.test('a status page is no health path', async (t) => {
  const health = async (code: string) =>
    (await first({ 'a.js': `${APP}${code}\napp.listen(1)` }))?.healthPath
  t.equal(
    await health(`app.get('/api/status', async (q, r) => r.json({ tunnels: await stats() }))`),
    null,
  )
  t.equal(await health(`app.get('/status', (q, r) => r.render('status'))`), null)
  t.equal(
    await health(`app.get('/people/status', (q, r) => r.send('away'))`),
    null,
    'of something else',
  )
  t.equal(await health(`app.get('/health/status', page)`), '/health/status')
  t.equal(await health(`app.get('/status', (q, r) => r.send('ok'))`), '/status')
  t.equal(
    await health(`app.get('/status', (q, r) => r.send('ok'))\napp.get('/ping', pong)`),
    '/ping',
  )
})

t.test(
  'a health path is followed through lists of routers, each with its own prefix',
  async (t) => {
    const routes = {
      'health.js': `const router = require('express').Router()\nrouter.get('/live', ok)\nmodule.exports = router`,
      'shop.js': `module.exports = require('express').Router()`,
    }
    const health = async (code: string) =>
      (await first({ ...routes, 'a.js': `${APP}${code}\napp.listen(1)` }))?.healthPath
    const list = `const all = [{ path: '/shop', route: require('./shop') }, { path: '/health', route: require('./health') }]\n`
    t.equal(
      await health(`${list}all.forEach((one) => app.use(one.path, one.route))`),
      '/health/live',
    )
    t.equal(
      await health(`${list}for (const { path, route } of all) app.use(path, route)`),
      '/health/live',
    )
    t.equal(
      await health(`const all = [require('./shop'), require('./health')]
for (let i = 0; i < all.length; i++) app.use(all[i])`),
      '/live',
    )
    t.equal(
      await health(`const all = { shop: require('./shop'), health: require('./health') }
Object.values(all).forEach((router) => app.use('/api', router))`),
      '/api/live',
    )
  },
)

t.test('a setting that is called so is the health path, whatever it is set to', async (t) => {
  const settings = `export default { healthCheck: { path: process.env.HEALTH || '/status' }, home: { path: '/' } }`
  const found = await first({
    'a.js': `${APP}app.get(config.healthCheck.path, (q, r) => r.json({ status: 'ok' }))
const config = require('./settings')(app)\napp.listen(1)`,
    'settings.js': settings,
  })
  t.equal(found?.healthPath, '/status')
})

t.test('of several applications the one that people mean comes first', async (t) => {
  const found = await first({
    'a.js': `if (fresh) require('./install/web').start(4567)\nelse require('./src/web').listen()`,
    'install/web.js': `const app = require('express')()\nexports.start = (port) => app.listen(port)`,
    'src/web.js': `const app = require('express')()
const server = require('http').createServer(app)
exports.listen = () => server.listen.apply(server, [port, host])`,
  })
  t.equal(found?.mount?.path, 'src/web.js', 'not the one that sets it up')
  const redirected = await first({
    'a.js': `const express = require('express')
const other = express()
other.get('*', (q, r) => r.redirect('https://x' + q.url))
require('http').createServer(other).listen(80)
const app = express()
app.get('/', page)
app.listen(8080)`,
  })
  t.equal(redirected?.mount?.line, 5, 'not the one that sends people to https')
  const several = await first({
    'a.js': `const express = require('express')
for (const target of targets) engine.add(() => express().use(proxy(target)))
targets.forEach((target) => engine.add(() => express()))
const app = express()
app.get('/', page)
engine.start(app)`,
  })
  t.equal(several?.mount?.line, 4, 'not one of many that are made for a list')
})

t.test('what a package offers to be run is its entry', async (t) => {
  const both = await first({
    'package.json': JSON.stringify({
      main: 'index.js',
      bin: { x: 'bin/x.js' },
      dependencies: { express: '5' },
    }),
    'index.js': `module.exports = require('./web')`,
    'bin/x.js': `require('../index').listen(1)`,
    'web.js': `${APP}module.exports = app\nif (require.main === module) app.listen(2)`,
  })
  t.match(both, { entry: { path: 'bin/x.js' }, port: 1 })
  const library = await first({
    'package.json': JSON.stringify({ main: 'index.js', dependencies: { express: '5' } }),
    'index.js': `module.exports = require(path.join(__dirname, 'lib', 'web'))`,
    'lib/web.js': `module.exports = (own) => { const app = require('express')(); own(app) }`,
  })
  t.match(library, {
    entry: { path: 'index.js' },
    mount: { path: 'lib/web.js' },
    confidence: 'guess',
  })
})

t.test('a module is found by the folder of the file that asks for it', async (t) => {
  for (const way of [`path.join(__dirname, 'web')`, `__dirname + '/web'`, '`${__dirname}/web`'])
    t.match(
      await first({ 'a.js': `require(${way}).listen(5)`, 'web.js': `${APP}module.exports = app` }),
      { mount: { path: 'web.js' }, port: 5 },
      way,
    )
})

t.test(
  'of two servers of node:http the one that is given a handler, and not over TLS',
  async (t) => {
    const found = await first({
      'package.json': MANIFEST({ dependencies: {} }),
      'a.js': `const http = require('http'), https = require('https')
const server = secure ? https.createServer(keys, handle)
  : http.createServer(handle)
server.listen(7)`,
    })
    t.match(found, { framework: 'node', mount: { line: 3 }, port: 7 })
  },
)

t.test('a path for health is known by all of it, and by Mozilla’s name', async (t) => {
  const health = async (code: string) => {
    const manifest = MANIFEST({ scripts: { start: 'node a.js' } })
    const project = projectWith({
      'package.json': manifest,
      'a.js': `${APP}${code}\napp.listen(1000)`,
    })
    return (await detectNode(project)).applications[0]?.healthPath
  }
  const router = `const router = require('express').Router()\nrouter.get('/status', answer)\n`
  t.equal(await health(`${router}app.use('/health-check', router)`), '/health-check/status')
  t.equal(await health(`${router}app.use('/users', router)`), null)
  t.equal(await health(`app.get('/__lbheartbeat__', answer)`), '/__lbheartbeat__')
})
