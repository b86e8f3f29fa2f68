/** A guard on a part of the application, or behind something of it, is no guard of the whole. */
import t from 'tap'
import { check, type Files } from './project-here.ts'

const ESM = { 'package.json': '{"type":"module","dependencies":{"service-node":"1"}}' }
const IMPORT = "import express from 'express'\nimport { verifyClaims } from 'service-node'\n"
const MADE = `${IMPORT}const app = express()\n`
const GUARD = 'app.use(verifyClaims().express())\n'

/** Files, or the lines of server.js behind the application; what is said of them. */
type Row = readonly [name: string, code: string | Files, status: string, detail: RegExp]

const PARTS: readonly Row[] = [
  [
    'one route',
    'const guard = verifyClaims().express()\napp.get("/private", guard, f)\napp.get("/x", f)\n',
    'fail',
    /server\.js:5 protects only one route/,
  ],
  [
    'one router',
    'const api = express.Router()\napi.use(verifyClaims().express())\napp.use("/api", api)\n',
    'fail',
    /server\.js:5 mounts it only on the router api/,
  ],
  [
    'a function of whose use nothing is known',
    'wrap(verifyClaims().express())\n',
    'warn',
    /server\.js:4 hands it to wrap, and it is unclear what that protects/,
  ],
  [
    'an application that is handed in',
    { 'server.js': `${IMPORT}export function protect(app) {\n  ${GUARD}}\n` },
    'warn',
    /server\.js:4 mounts it on app, which this file does not create/,
  ],
  [
    'a path that has a name',
    'const P = "/api"\napp.use(P, verifyClaims().express())\n',
    'fail',
    /server\.js:5 mounts it below P only/,
  ],
  ['two paths', 'app.use(["/api", "/b"], verifyClaims().express())\n', 'fail', /below \["\/api", "\/b"\] only/], // prettier-ignore
  ['a pattern of paths', 'app.use(/^\\/api/, verifyClaims().express())\n', 'fail', /below \/\^.* only/], // prettier-ignore
  ['a path in backquotes', 'app.use(`/api`, verifyClaims().express())\n', 'fail', /below `\/api` only/], // prettier-ignore
  [
    'what may be a path',
    {
      'server.js': `import { P } from './paths.js'\n${MADE}app.use(P, verifyClaims().express())\n`,
    },
    'warn',
    /server\.js:5 mounts it behind P: if that is a path/,
  ],
  [
    'another one of the same call',
    'app.use(log(), verifyClaims().express())\n',
    'warn',
    /mounts it behind log\(\).* if it answers/,
  ],
]

const ORDERS: readonly Row[] = [
  ['routes of another file', `routes(app)\n${GUARD}`, 'warn', /server\.js:4 \(routes\) comes before/], // prettier-ignore
  ['routes of a file asked for there', `require('./routes')(app)\n${GUARD}`, 'warn', /server\.js:4 \(require/], // prettier-ignore
  ['what is given more than the application', `routes({ app, db })\n${GUARD}`, 'warn', /server\.js:4 /], // prettier-ignore
  ['a class of routes', `new Routes(app)\n${GUARD}`, 'warn', /server\.js:4 \(Routes\)/],
  [
    'a function of the same file',
    `routes()\n${GUARD}function routes() {\n  app.get("/", f)\n}\n`,
    'warn',
    /server\.js:4 \(routes\)/,
  ],
  ['routes by another way', `app.router.get("/", f)\n${GUARD}`, 'warn', /server\.js:4 \(app\.router\.get\)/], // prettier-ignore
  [
    'a hook of fastify',
    {
      'server.js':
        "import fastify from 'fastify'\nimport { verifyClaims } from 'service-node'\nconst app = fastify()\napp.addHook('onRequest', f)\nawait app.register(verifyClaims().fastify())\n",
    },
    'warn',
    /server\.js:4 \(app\.addHook\)/,
  ],
  [
    'a field of its class',
    {
      'server.js': `${IMPORT}class Site {\n  app = express()\n  routes = routes(this.app)\n  constructor() {\n    this.${GUARD}  }\n}\n`,
    },
    'warn',
    /server\.js:5 \(routes\)/,
  ],
  [
    'routes that come first where the function is called',
    `app.get("/", f)\nprotect()\nfunction protect() {\n  ${GUARD}}\n`,
    'fail',
    /server\.js:4 \(app\.get\) comes before/,
  ],
  [
    'routes that may come first where it is called back',
    `connect().then(() => {\n  ${GUARD}})\napp.get("/", f)\n`,
    'warn',
    /server\.js:7 \(app\.get\) comes before/,
  ],
]

const FASTIFY = "import fastify from 'fastify'\nimport { verifyClaims } from 'service-node'\n"
const FASTIFY_GUARD = 'await app.register(verifyClaims().fastify())\n'

/** What answers is written elsewhere, and is followed there. */
const CARRIED: readonly Row[] = [
  ['a sub-application', `const admin = express()\nadmin.get("/", f)\napp.use("/admin", admin)\n${GUARD}`, 'fail', /server\.js:6 \(app\.use\)/], // prettier-ignore
  [
    'a router of another file',
    {
      'server.js': `import { api } from './api.js'\n${MADE}app.use("/api", api)\n${GUARD}`,
      'api.js': "import { Router } from 'express'\nexport const api = Router()\n",
    },
    'fail',
    /server\.js:5 \(app\.use\)/,
  ],
  [
    'a plugin of another file',
    {
      'server.js': `import { shop } from './shop.js'\n${FASTIFY}const app = fastify()\napp.register(shop)\n${FASTIFY_GUARD}`,
      'shop.js': 'export async function shop(instance) {\n  instance.get("/", f)\n}\n',
    },
    'fail',
    /server\.js:5 \(app\.register\)/,
  ],
  [
    'a function of another file that puts routes on what it is given',
    {
      'server.js': `import routes from './routes.js'\n${MADE}routes(app)\n${GUARD}`,
      'routes.js': 'export default (app) => app.get("/", f)\n',
    },
    'fail',
    /server\.js:5 \(routes\)/,
  ],
  [
    'a function of another file that puts no routes on it',
    {
      'server.js': `import settings from './settings.js'\n${MADE}settings(app)\n${GUARD}`,
      'settings.js':
        'export default (app) => { app.set("a", app.get("env")); app.on("error", f) }\n',
    },
    'warn',
    /server\.js:5 \(settings\)/,
  ],
]

const NEVER: readonly Row[] = [
  [
    'a function that nobody calls',
    `function protect() {\n  ${GUARD}}\napp.get("/x", f)\n`,
    'warn',
    /server\.js:5 mounts verifyClaims\(\) in a function that no line of server\.js calls \(line 4\)/,
  ],
  [
    'a method that nobody calls',
    {
      'server.js': `${IMPORT}class Site {\n  app = express()\n  constructor() {}\n  guard() {\n    this.${GUARD}  }\n}\n`,
    },
    'warn',
    /no line of server\.js calls \(line 6\)/,
  ],
  [
    'a function that is called under a condition',
    `if (process.env.SAFE) protect()\nfunction protect() {\n  ${GUARD}}\n`,
    'warn',
    /under a condition \(line 4\)/,
  ],
]

const GOOD: readonly Row[] = [
  ['behind what hears of events', `app.on("error", f)\n${GUARD}`, 'pass', /server\.js:5 /],
  [
    'behind what a person leaves open',
    `// service-analyzer-open: health checks bring no session\napp.get("/health", f)\n${GUARD}`,
    'pass',
    /Open on purpose: server\.js:5 \(health checks bring no session\)/,
  ],
  ['at the root by its path', 'app.use("/", verifyClaims().express())\n', 'pass', /server\.js:4 /],
  ['in a function that is called first', `protect()\napp.get("/", f)\nfunction protect() {\n  ${GUARD}}\n`, 'pass', /server\.js:7 /], // prettier-ignore
  ['by a name in a chain', 'app.disable("x-powered-by").use(verifyClaims().express())\n', 'pass', /server\.js:4 /], // prettier-ignore
  [
    'in a method that the constructor calls first',
    {
      'server.js': `${IMPORT}class Site {\n  constructor() {\n    this.app = express()\n    this.guard()\n    this.app.get("/", f)\n  }\n  guard() {\n    this.${GUARD}  }\n}\n`,
    },
    'pass',
    /server\.js:10 /,
  ],
  [
    'with a server that was made of the application before',
    `const server = createServer(app)\n${GUARD}`,
    'pass',
    /server\.js:5 /,
  ],
  [
    'beside another function with an application of the same name',
    {
      'server.js': `${IMPORT}export function metrics() {\n  const app = fastify()\n  routes(app)\n}\nexport function site() {\n  const app = express()\n  ${GUARD}  return app\n}\n`,
    },
    'pass',
    /server\.js:9 /,
  ],
]

for (const [title, rows] of [
  ['a guard on no more than', PARTS],
  ['a guard behind', ORDERS],
  ['a guard behind', CARRIED],
  ['a guard in', NEVER],
  ['a guard', GOOD],
] as const)
  for (const [name, code, status, detail] of rows)
    t.test(`${title} ${name}: ${status}`, async (t) => {
      const files = typeof code === 'string' ? { 'server.js': `${MADE}${code}` } : code
      const found = await check(t, 'middleware_mounted', { ...ESM, ...files })
      t.match(found, { status, detail }, found.detail)
      if (status !== 'pass') t.match(found.nextAction, /\w{3}/, 'with what to do')
    })
