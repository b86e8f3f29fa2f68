/** Whether the middleware is mounted before anything that answers, as the code says it. */
import t from 'tap'
import {
  fastapiModule,
  flaskModule,
} from '../../../../../control-plane/downloads/analyzer/edits/other/python.ts'
import { snippets } from '../../../../../shared/integration/snippets.ts'
import { check, type Wish } from './project-here.ts'

const ESM = { 'package.json': '{"type":"module","dependencies":{"service-node":"1"}}' }
const IMPORT = "import express from 'express'\nimport { verifyClaims } from 'service-node'\n"

interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly status: string
  readonly detail: RegExp
  readonly wish?: Wish
}

const server = (code: string) => ({ ...ESM, 'server.js': `${IMPORT}${code}` })

const CASES: Readonly<Record<string, Case>> = {
  'right behind the application': {
    files: server('const app = express()\napp.use(verifyClaims().express())\napp.get("/", f)\n'),
    status: 'pass',
    detail: /^server\.js:4 mounts verifyClaims\(\) before anything/,
  },
  'by a name, in CommonJS, behind what only looks': {
    files: {
      'package.json': '{}',
      'server.js': `const express = require('express'), morgan = require('morgan')
const { verifyClaims } = require('service-node')
const service = verifyClaims()
const guard = service.express()
const app = express()
app.set('trust proxy', 1)
app.get('env')
app.use(morgan('tiny'))
app.use(guard)
app.get('/', f)
`,
    },
    status: 'pass',
    detail: /^server\.js:9 /,
  },
  'in proxy.ts of Next.js': {
    files: {
      ...ESM,
      'src/proxy.ts':
        "import { NextResponse } from 'next/server'\nimport { verifyClaims } from 'service-node'\nexport const proxy = verifyClaims().next(NextResponse)\n",
    },
    status: 'pass',
    detail: /^src\/proxy\.ts:3 /,
    wish: { application: { framework: 'next' } },
  },
  'in proxy.ts, and another one exported': {
    files: {
      ...ESM,
      'src/proxy.ts':
        "import { verifyClaims } from 'service-node'\nconst service = verifyClaims()\nexport const proxy = other\n",
    },
    status: 'fail',
    detail: /nothing mounts it/,
    wish: { application: { framework: 'next' } },
  },
  'in a file of Next.js that is no proxy': {
    files: {
      ...ESM,
      'src/guard.ts':
        "import { NextResponse } from 'next/server'\nimport { verifyClaims } from 'service-node'\nexport const proxy = verifyClaims().next(NextResponse)\n",
    },
    status: 'fail',
    detail: /nothing mounts it/,
    wish: { application: { framework: 'next' } },
  },
  'in another package of a monorepo': {
    files: {
      'apps/api/package.json': '{}',
      'packages/server/package.json': ESM['package.json'],
      'packages/server/src/index.js': `${IMPORT}export const app = express()\napp.use(verifyClaims().express())\n`,
    },
    status: 'pass',
    detail: /^packages\/server\/src\/index\.js:4 /,
    wish: {
      application: { folder: 'apps/api', mount: { path: 'packages/server/src/index.js', line: 3 } },
    },
  },
  'in the file of another application': {
    files: {
      ...server('const app = express()\napp.use(verifyClaims().express())\n'),
      'admin.js': '',
    },
    status: 'warn',
    detail: /^server\.js:4 mounts .* created in admin\.js, which does not/,
    wish: { application: { mount: { path: 'admin.js', line: 1 } } },
  },
  'made in another file': {
    files: {
      ...ESM,
      'src/service.js':
        "import { verifyClaims } from 'service-node'\nexport const service = verifyClaims()\n",
      'src/app.js':
        "import express from 'express'\nimport { service } from './service.js'\nexport function make() {\n  const app = express()\n  app.use(service.express())\n  return app\n}\n",
    },
    status: 'pass',
    detail: /^src\/app\.js:5 /,
  },
  'around a listener': {
    files: {
      ...ESM,
      'server.js':
        "import { createServer } from 'node:http'\nimport { verifyClaims } from 'service-node'\ncreateServer(verifyClaims().node((q, s) => s.end())).listen(1)\n",
    },
    status: 'pass',
    detail: /^server\.js:3 /,
    wish: { application: { framework: 'node' } },
  },
  'not at all': { files: { ...ESM, 'server.js': 'listen()' }, status: 'fail', detail: /No file calls verifyClaims\(\)/ }, // prettier-ignore
  'named in a comment alone': {
    files: { ...ESM, 'server.js': "// import { verifyClaims } from 'service-node'\n" },
    status: 'fail',
    detail: /server\.js mentions service-node, but no file calls/,
  },
  'made and never mounted': {
    files: server('const service = verifyClaims()\nconst app = express()\n'),
    status: 'fail',
    detail: /server\.js:3 creates the middleware, but nothing mounts it/,
  },
  'for WebSockets alone': {
    files: server(
      'const service = verifyClaims()\nserver.on("upgrade", service.upgrade(() => {}))\n',
    ),
    status: 'fail',
    detail: /nothing mounts it/,
  },
  'behind a route': {
    files: server(
      'const app = express()\napp.get("/debug", f)\napp.use(verifyClaims().express())\n',
    ),
    status: 'fail',
    detail: /server\.js:4 \(app\.get\) comes before verifyClaims\(\) in line 5/,
  },
  'behind static files': {
    files: server(
      'const app = express()\napp.use(express.static("public"))\napp.use(verifyClaims().express())\n',
    ),
    status: 'fail',
    detail: /server\.js:4 \(app\.use\)/,
  },
  'behind a router': {
    files: server(
      'const app = express()\nconst api = express.Router()\napp.use("/api", api)\napp.use(verifyClaims().express())\n',
    ),
    status: 'fail',
    detail: /server\.js:5 /,
  },
  'behind routes of a file': {
    files: {
      ...ESM,
      'server.js': `${IMPORT}import api from './routes/api.js'\nconst app = express()\napp.use(api)\napp.use(verifyClaims().express())\n`,
    },
    status: 'fail',
    detail: /server\.js:5 /,
  },
  'behind cors': {
    files: {
      ...ESM,
      'server.js': `${IMPORT}import cors from 'cors'\nconst app = express()\napp.use(cors())\napp.use(verifyClaims().express())\n`,
    },
    status: 'fail',
    detail: /server\.js:5 /,
  },
  'behind another application, and a function that is called later': {
    files: server(
      'const metrics = express()\nmetrics.get("/metrics", f)\nfunction routes(app) {\n  app.get("/", f)\n}\nconst app = express()\napp.use(verifyClaims().express())\nroutes(app)\n',
    ),
    status: 'pass',
    detail: /^server\.js:9 /,
  },
  'behind what may answer': {
    files: server(
      'const app = express()\napp.use(express.json())\napp.use(verifyClaims().express())\n',
    ),
    status: 'warn',
    detail: /server\.js:4 .*not protected/,
  },
  'below a path': {
    files: server('const app = express()\napp.use("/api", verifyClaims().express())\n'),
    status: 'fail',
    detail: /below \/api only/,
  },
  'in production alone': {
    files: server(
      'const app = express()\nif (process.env.NODE_ENV === "production") {\n  app.use(verifyClaims().express())\n}\n',
    ),
    status: 'warn',
    detail: /under a condition \(line 4\)/,
  },
  'the other guard': {
    files: server('const app = express()\napp.use(verifyClaims().express())\n'),
    status: 'fail',
    detail: /calls verifyClaims\(\), but sdk mode needs enforce\(\)/,
    wish: { tenant: { mode: 'sdk' } },
  },
  'a file that cannot be parsed': {
    files: { ...ESM, 'server.js': "import { verifyClaims } from 'service-node'\n}}}" },
    status: 'fail',
    detail: /No file calls/,
  },
}

for (const [name, { files, status, detail, wish }] of Object.entries(CASES))
  t.test(`Node: mounted ${name}`, async (t) => {
    const found = await check(t, 'middleware_mounted', files, wish)
    t.match(found, { status, detail })
    if (status !== 'pass') t.match(found.nextAction, /\w{3}/, 'with what to do')
  })

t.test('fastify, koa, hono and nest are mounted their own way', async (t) => {
  const table = snippets('https://x.test')
  for (const framework of ['express', 'fastify', 'koa', 'hono', 'nest', 'node', 'next'] as const) {
    for (const [mode, part] of [
      ['gateway', 'edge'],
      ['sdk', 'sdk'],
    ] as const) {
      const snippet = table[framework]?.[part]
      const files = { ...ESM, [snippet?.file ?? '']: snippet?.code ?? '' }
      const wish = { application: { framework }, tenant: { mode } }
      const found = await check(t, 'middleware_mounted', files, wish)
      t.match(found, { status: 'pass' }, `${framework} ${mode}: ${found.detail}`)
      const bare = { ...ESM, 'server.js': '' }
      t.match(await check(t, 'middleware_mounted', bare, wish), {
        status: 'fail',
        nextAction: /apply.*(?:use|register|createServer)\(/,
      })
    }
  }
})

/** What goes beside the pasted file, and what takes the mount away again. */
const PASTED = {
  django: {
    beside: {
      'site/settings.py':
        "MIDDLEWARE = [\n    'service_claims.ServiceClaims',\n    'django.middleware.security.SecurityMiddleware',\n]\n",
    },
    late: {
      'site/settings.py':
        "MIDDLEWARE = [\n    'django.middleware.security.SecurityMiddleware',\n    'service_claims.ServiceClaims',\n]\n",
    },
  },
  flask: {},
  fastapi: {},
  rails: {},
  laravel: {
    beside: {
      'bootstrap/app.php':
        '<?php\nreturn Application::configure()->withMiddleware(fn ($middleware) => $middleware->prepend(ServiceClaims::class))->create();\n',
    },
    late: {
      'bootstrap/app.php':
        '<?php\nreturn Application::configure()->withMiddleware(fn ($middleware) => $middleware->append(ServiceClaims::class))->create();\n',
    },
  },
  spring: {},
  aspnet: {},
  go: {},
} as const

t.test('what the contract has to paste is found mounted, as it stands', async (t) => {
  const table = snippets('https://x.test')
  for (const [framework, { beside = {}, late }] of Object.entries(PASTED) as [
    keyof typeof PASTED,
    { beside?: Record<string, string>; late?: Record<string, string> },
  ][]) {
    const { file = '', code = '' } = table[framework]?.edge ?? {}
    const wish = { application: { framework, language: 'x' } }
    const found = await check(t, 'middleware_mounted', { [file]: code, ...beside }, wish)
    t.match(found, { status: 'pass' }, `${framework}: ${found.detail}`)
    const none = await check(t, 'middleware_mounted', { ...beside, [`x${file.slice(file.lastIndexOf('.'))}`]: '' }, wish) // prettier-ignore
    t.match(
      none,
      { status: 'fail', detail: /Nothing in the code reads/, nextAction: /contract/ },
      framework,
    )
    if (late !== undefined)
      t.match(
        await check(t, 'middleware_mounted', { [file]: code, ...late }, wish),
        { status: 'fail', detail: /nothing mounts it/ },
        framework,
      )
    t.match(
      await check(t, 'middleware_mounted', { [file]: code }, { ...wish, tenant: { mode: 'sdk' } }),
      { status: 'fail', detail: /Only Node\.js applications/ },
    )
  }
})

t.test('a module beside the application is mounted by a line in it', async (t) => {
  const go = snippets('https://x.test')['go']?.edge.code ?? ''
  const goPackage = go.slice(0, go.indexOf('func main()')).replace('package main', 'package serviceclaims') // prettier-ignore
  const made = { flask: 'app = Flask(__name__)', fastapi: 'app = FastAPI()', go: 'r := chi.NewRouter(); e := echo.New()' } // prettier-ignore
  const rows: [keyof typeof made, string, string, string, readonly string[]][] = [
    ['flask', 'service_claims.py', flaskModule(), 'app.py', ['app.before_request(sign_in)']],
    ['fastapi', 'service_claims.py', fastapiModule(), 'main.py', ['app.add_middleware(ServiceClaims)']],
    ['go', 'serviceclaims/serviceclaims.go', goPackage, 'main.go', ['r.Use(serviceclaims.ServiceClaims)', 'e.Pre(echo.WrapMiddleware(serviceclaims.ServiceClaims))', 'http.ListenAndServe(addr, serviceclaims.ServiceClaims(handler))']],
  ] // prettier-ignore
  for (const [framework, file, code, other, lines] of rows) {
    const look = (line: string) => check(t, 'middleware_mounted', { [file]: code, [other]: line }, { application: { framework } }) // prettier-ignore
    t.match(await look(''), { status: 'fail', detail: /nothing mounts it/ }, framework)
    for (const line of lines) {
      const found = await look(`${made[framework]}\n${line}\n`)
      t.match(found, { status: 'pass', detail: `${other}:2 mounts` }, `${line}: ${found.detail}`)
    }
  }
})

t.test('what goes in front of pasted code is told', async (t) => {
  const table = snippets('https://x.test')
  const fastapi = table['fastapi']?.edge.code ?? ''
  const later = fastapi.replace('app.add_middleware(ServiceClaims)', 'app.add_middleware(ServiceClaims)\napp.add_middleware(CORSMiddleware)') // prettier-ignore
  t.match(
    await check(t, 'middleware_mounted', { 'main.py': later }, { application: { framework: 'fastapi' } }), // prettier-ignore
    { status: 'warn', detail: /comes before it/ },
  )
  const aspnet = table['aspnet']?.edge.code ?? ''
  const behind = aspnet.replace('app.UseMiddleware', 'app.UseStaticFiles();\napp.UseMiddleware')
  t.match(
    await check(t, 'middleware_mounted', { 'Program.cs': behind }, { application: { framework: 'aspnet' } }), // prettier-ignore
    { status: 'warn', detail: /which answers first/ },
  )
  const spring = table['spring']?.edge ?? { file: '', code: '' }
  const late = {
    [spring.file]: spring.code.replace('@Order(Ordered.HIGHEST_PRECEDENCE)', ''),
    'Other.java': '@Order(Ordered.HIGHEST_PRECEDENCE)\nclass Other {}\n',
  }
  t.match(
    await check(t, 'middleware_mounted', late, { application: { framework: 'spring' } }),
    { status: 'fail', detail: /nothing mounts it/ },
    'another filter is first',
  )
  const unmounted = aspnet.replace('app.UseMiddleware<ServiceClaims>();', '// app.UseMiddleware<ServiceClaims>();') // prettier-ignore
  t.match(
    await check(t, 'middleware_mounted', { 'Program.cs': unmounted }, { application: { framework: 'aspnet' } }), // prettier-ignore
    { status: 'fail', detail: /nothing mounts it/ },
    'a line in a comment mounts nothing',
  )
})
