/** What an edit does not reach is told: no plan is silent about a server that answers without the guard. */
import t from 'tap'
import { detectNode } from '../../../../../control-plane/downloads/analyzer/detection/node/detect-node.ts'
import { planFor } from '../../../../../control-plane/downloads/analyzer/edits/plan-for.ts'
import type { Plan } from '../../../../../control-plane/downloads/analyzer/plan.ts'
import { openProject } from '../../../../../control-plane/downloads/analyzer/project/open-project.ts'
import { temporaryFolder } from '../../../../support/control-plane.ts'
import { WISHES, write, type Files } from './projects.ts'

const manifest = (...names: readonly string[]) =>
  JSON.stringify({
    main: 'server.js',
    dependencies: Object.fromEntries(names.map((name) => [name, '*'])),
  })

const EXPRESS = `const express = require('express')
const app = express()
app.get('/', (request, response) => response.send('app'))
`
const NEST = (adapter: string) => `const { NestFactory } = require('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express')
const express = require('express')
async function bootstrap() {
  const server = express()
  ${adapter}
  await app.listen(3000)
}
bootstrap()
`

async function plansOf(t: Parameters<typeof temporaryFolder>[0], files: Files): Promise<Plan[]> {
  const folder = temporaryFolder(t)
  write(folder, files)
  const project = await openProject(folder)
  const { applications } = await detectNode(project)
  return Promise.all(applications.map((one) => planFor(project, one, WISHES)))
}

const stepsOf = (plans: readonly Plan[]) =>
  plans.flatMap(({ manual }) => manual.map(({ path, text }) => `${path}: ${text}`))

/** What it is, the packages, the files, and what is to be told. */
type Case = readonly [string, readonly string[], Files, RegExp]

const OPEN: readonly Case[] = [
  [
    'Next.js beside metrics on Express',
    ['next', 'express'],
    {
      'server.js': `const express = require('express')
const app = require('next')({ dev: false })
const metrics = express()
metrics.listen(9090)
require('http').createServer(app.getRequestHandler()).listen(3000)
`,
    },
    /^server\.js: .*its own listener/,
  ],
  [
    'a server beside an application',
    ['express'],
    {
      'server.js': `${EXPRESS}app.listen(9090)
require('http').createServer((request, response) => response.end('main')).listen(3000)
`,
    },
    /^server\.js: .*its own listener/,
  ],
  [
    'a listener around Express',
    ['express'],
    {
      'server.js': `${EXPRESS}require('http').createServer((request, response) => {
  if (request.url === '/open') return response.end('open')
  app(request, response)
}).listen(3000)
`,
    },
    /^server\.js: .*answers before the application/,
  ],
  [
    'a listener around Koa',
    ['koa'],
    {
      'server.js': `const Koa = require('koa')
const app = new Koa()
const handle = app.callback()
require('http')
  .createServer((q, s) => (q.url === '/open' ? s.end('open') : handle(q, s)))
  .listen(3000)
`,
    },
    /^server\.js: .*answers before the application/,
  ],
  [
    'a factory of servers around Fastify',
    ['fastify'],
    {
      'server.js': `const { createServer } = require('node:http')
const app = require('fastify')({
  serverFactory: (handler) =>
    createServer((q, s) => (q.url === '/open' ? s.end('open') : handler(q, s))),
})
app.listen({ port: 3000 })
`,
    },
    /^server\.js: .*its own listener/,
  ],
  [
    'a fetch around Hono',
    ['hono', '@hono/node-server'],
    {
      'server.js': `const { Hono } = require('hono')
const { serve } = require('@hono/node-server')
const app = new Hono()
serve({ fetch: (q) => (q.url === '/raw' ? new Response('raw') : app.fetch(q)), port: 3000 })
`,
    },
    /^server\.js: .*answers before the application/,
  ],
  [
    'an adapter that Nest is put around',
    ['@nestjs/core', '@nestjs/platform-express', 'express'],
    {
      'server.js': NEST(`server.get('/open', (q, s) => s.send('open'))
  const app = await NestFactory.create(class {}, new ExpressAdapter(server))`),
    },
    /^server\.js: .*an adapter here that may answer before it/,
  ],
  ...['checkContinue', 'checkExpectation', 'request'].map((event): Case => [
    `a listener of ${event} beside that of the server`,
    [],
    {
      'server.js': `const server = require('http').createServer((q, s) => s.end('a'))
server.prependListener('${event}', (q, s) => s.end('open'))
server.listen(3000)
`,
    },
    /^server\.js: .*in addition to the one of the server/,
  ]),
  [
    'a server of another kind in another file',
    ['express'],
    {
      'server.js': `${EXPRESS}app.listen(3000)\nrequire('./admin')\n`,
      'admin.js': `require('node:http').createServer((q, s) => s.end('admin')).listen(3001)\n`,
    },
    /^admin\.js: .*its own listener/,
  ],
  [
    'an application of another framework in another file',
    ['express', 'fastify'],
    {
      'server.js': `${EXPRESS}app.listen(3000)\nrequire('./admin')\n`,
      'admin.js': `const app = require('fastify')()\napp.listen({ port: 3001 })\n`,
    },
    /^admin\.js: .*also listens/,
  ],
]

for (const [what, packages, files, told] of OPEN)
  t.test(`told: ${what}`, async (t) => {
    const steps = stepsOf(await plansOf(t, { 'package.json': manifest(...packages), ...files }))
    t.ok(
      steps.some((step) => told.test(step)),
      steps.join('\n'),
    )
  })

const CLOSED: readonly (readonly [string, readonly string[], Files])[] = [
  [
    'an application handed to a server as it is, from another file',
    ['express'],
    {
      'app.js': `${EXPRESS}module.exports = app\n`,
      'server.js': `const app = require('./app')\nrequire('http').createServer(app).listen(3000)\n`,
    },
  ],
  [
    'an application handed through and nothing beside',
    ['koa'],
    {
      'server.js': `const Koa = require('koa')
const app = new Koa()
const handle = app.callback()
require('http').createServer((q, s) => { handle(q, s) }).listen(3000)
`,
    },
  ],
  [
    'a factory of servers that hands the handler on',
    ['fastify'],
    {
      'server.js': `const { createServer } = require('node:http')
const app = require('fastify')({ serverFactory: (handler) => createServer(handler) })
app.listen({ port: 3000 })
`,
    },
  ],
  [
    'Nest on an Express that answers nothing by itself',
    ['@nestjs/core', '@nestjs/platform-express', 'express'],
    {
      'server.js': NEST(
        'const app = await NestFactory.create(class {}, new ExpressAdapter(server))',
      ),
    },
  ],
  [
    'a function of its own that is called createServer',
    ['express'],
    {
      'server.js': `const express = require('express')
function createServer() {
  const app = express()
  return app
}
createServer().listen(3000)
`,
    },
  ],
]

for (const [what, packages, files] of CLOSED)
  t.test(`nothing to tell: ${what}`, async (t) => {
    const plans = await plansOf(t, { 'package.json': manifest(...packages), ...files })
    t.equal(plans.length, 1)
    t.same(stepsOf(plans), [])
    t.ok(
      plans[0]?.edits.some(({ path }) => path.endsWith('.js')),
      'the code is edited',
    )
  })

t.test('applications that are planned together tell each of itself alone', async (t) => {
  const folder = temporaryFolder(t)
  write(folder, {
    'package.json': manifest('express'),
    'server.js': `const { shop } = require('./shop')
const { staff } = require('./staff')
shop.listen(3000)
staff.listen(3001)
`,
    'shop.js': `const express = require('express')\nexports.shop = express()\n`,
    'staff.js': `const express = require('express')\nexports.staff = express()\n`,
  })
  const project = await openProject(folder)
  const { applications } = await detectNode(project)
  const [first] = applications
  if (first === undefined) throw new Error('nothing was detected')
  t.match(stepsOf([await planFor(project, first, WISHES)]), [/also listens/])
  t.same(stepsOf([await planFor(project, first, WISHES, applications)]), [])
})

t.test(
  'a middleware of the project itself is not taken for the guard, whatever its name',
  async (t) => {
    const files = {
      'package.json': manifest('express'),
      'loaders.js': 'exports.express = () => (request, response, next) => next()\n',
      'security/index.js': `module.exports = require('./guard')\n`,
      'security/guard.js': `module.exports = require('service-node').verifyClaims()\n`,
    }
    const named = (module: string) => `const guard = require('${module}')
${EXPRESS.replace('app.get', 'app.use(guard.express())\napp.get')}app.listen(3000)
`
    const [foreign] = await plansOf(t, { ...files, 'server.js': named('./loaders') })
    t.ok(
      foreign?.edits.some(({ path }) => path === 'server.js'),
      'the code is edited',
    )
    const [own] = await plansOf(t, { ...files, 'server.js': named('./security') })
    t.notOk(
      own?.edits.some(({ path }) => path === 'server.js'),
      'it is there already',
    )
    t.same(stepsOf(own ? [own] : []), [])
  },
)

t.test('Next.js without a hook is shown which file to write', async (t) => {
  const [plan] = await plansOf(t, {
    'web/package.json': JSON.stringify({
      scripts: { start: 'next start' },
      dependencies: { next: '14.2.0', react: '18' },
    }),
    'web/app/page.js': 'export default () => "x"\n',
  })
  t.match(plan, { manual: [{ path: 'web/server.mjs', line: null, code: /service\.node\(/ }] })
})
