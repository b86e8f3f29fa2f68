/** Shapes of real applications: what a text becomes, character for character. */
import t from 'tap'
import { after, mounted, type Given } from './mounted.ts'

type Row = readonly [what: string, before: string, after: string, given?: Given]

function table(name: string, rows: readonly Row[]) {
  t.test(name, async (t) => {
    for (const [what, before, expected, given] of rows) {
      t.equal(after(before, given), expected, what)
      const again = mounted(after(before, given), given)
      t.equal(again.kind, 'there already', `${what}: a second time there is nothing to do`)
    }
  })
}

table('the middleware stands right behind the application, and its import behind the others', [
  [
    'an ES module',
    `import express from 'express'
import { readFile } from 'node:fs/promises' // for the page

const app = express() // one of many
app.use(express.json())
`,
    `import express from 'express'
import { readFile } from 'node:fs/promises' // for the page
import { verifyClaims } from 'service-node'

const app = express() // one of many
const service = verifyClaims()
app.use(service.express()) // before everything else
app.use(express.json())
`,
  ],
  [
    'CommonJS: shebang, licence and directive stay on top',
    `#!/usr/bin/env node
/*! Copyright 2019 Somebody. MIT */
'use strict';

const app = require('express')();
app.listen(3000);
`,
    `#!/usr/bin/env node
/*! Copyright 2019 Somebody. MIT */
'use strict';

const app = require('express')();
const { verifyClaims } = require('service-node');
const service = verifyClaims();
app.use(service.express()); // before everything else
app.listen(3000);
`,
  ],
  [
    'a file of the years of var, with the line ends of Windows',
    "'use strict';\r\n\r\nvar express = require('express'), path = require('path');\r\nvar app = module.exports = express(); // the app\r\n\r\napp.use(1);\r\n",
    "'use strict';\r\n\r\nvar express = require('express'), path = require('path');\r\nvar verifyClaims = require('service-node').verifyClaims;\r\nvar app = module.exports = express(); // the app\r\nvar service = verifyClaims();\r\napp.use(service.express()); // before everything else\r\n\r\napp.use(1);\r\n",
  ],
  [
    'tabs, double quotes, tight braces',
    'import {Router} from "express";\nimport express from "express";\n\nexport function make() {\n\tconst app = express();\n\treturn app;\n}\n',
    'import {Router} from "express";\nimport express from "express";\nimport {verifyClaims} from "service-node";\n\nexport function make() {\n\tconst app = express();\n\tconst service = verifyClaims();\n\tapp.use(service.express()); // before everything else\n\treturn app;\n}\n',
  ],
  [
    'settings are loaded before the guard is made',
    `require('dotenv').config()
const express = require('express')
const app = express()
`,
    `require('dotenv').config()
const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
`,
  ],
  [
    'the last line of a file that has no end of line',
    `import express from 'express'
export const app = express()`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
export const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else`,
  ],
  [
    'several declarations in one statement',
    `const express = require('express'),
  http = require('http'),
  app = express(),
  server = http.createServer(app)
server.listen(1)
`,
    `const express = require('express'),
  http = require('http'),
  app = express(),
  server = http.createServer(app)
const { verifyClaims } = require('service-node')
const service = verifyClaims()
app.use(service.express()) // before everything else
server.listen(1)
`,
  ],
  [
    'an application that carries another guards both',
    `const express = require('express')
const app = express()
const admin = express()
app.use('/admin', admin)
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
const admin = express()
app.use('/admin', admin)
`,
  ],
  [
    'two that are served apart have one guard, mounted twice',
    `const express = require('express')
const app = express()
const admin = express()
app.listen(1)
admin.listen(2)
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
const admin = express()
admin.use(service.express()) // before everything else
app.listen(1)
admin.listen(2)
`,
  ],
  [
    'names that are taken',
    `const express = require('express')
const service = require('./service')
const verifyClaims = () => {}
const app = express()
`,
    `const express = require('express')
const service = require('./service')
const { verifyClaims: verifyServiceClaims } = require('service-node')
const verifyClaims = () => {}
const app = express()
const signInService = verifyServiceClaims()
app.use(signInService.express()) // before everything else
`,
  ],
  [
    'a file that is wrapped in a function',
    `(function () {
  var express = require('express');
  var app = express();
  app.listen(1);
})();
`,
    `(function () {
  var express = require('express');
  var app = express();
  var verifyClaims = require('service-node').verifyClaims;
  var service = verifyClaims();
  app.use(service.express()); // before everything else
  app.listen(1);
})();
`,
  ],
  [
    'without semicolons, and the next line begins with a bracket',
    `const express = require('express')
const app = express()
;[1].forEach((port) => app.listen(port))
`,
    `const express = require('express')
const { verifyClaims } = require('service-node')
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
;[1].forEach((port) => app.listen(port))
`,
  ],
  [
    'in sdk mode the application enforces by itself',
    `import express from 'express'
const app = express()
`,
    `import express from 'express'
import { enforce } from 'service-node'
const app = express()
const service = enforce()
app.use(service.express()) // before everything else
`,
    { mode: 'sdk' },
  ],
])

table('TypeScript', [
  [
    'types alone are no imports to resolve by, but good company',
    `import type { Server } from 'node:http'
import express, { type Express } from 'express'

const app = express() satisfies Express as Express
`,
    `import type { Server } from 'node:http'
import express, { type Express } from 'express'
import { verifyClaims } from 'service-node'

const app = express() satisfies Express as Express
const service = verifyClaims()
app.use(service.express()) // before everything else
`,
    { path: 'app.ts' },
  ],
  [
    'import = require()',
    `import express = require('express')
const app: express.Express = express()
`,
    `import express = require('express')
import { verifyClaims } from 'service-node'
const app: express.Express = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
`,
    { path: 'app.ts' },
  ],
  [
    'a field of a class',
    `import express, { type Application } from 'express'

@injectable()
export class Api extends Base {
  private readonly app: Application = express()

  constructor(private readonly port: number) {
    super()
    this.routes()
  }
}
`,
    `import express, { type Application } from 'express'
import { verifyClaims } from 'service-node'

@injectable()
export class Api extends Base {
  private readonly app: Application = express()

  constructor(private readonly port: number) {
    super()
    const service = verifyClaims()
    this.app.use(service.express()) // before everything else
    this.routes()
  }
}
`,
    { path: 'api.ts' },
  ],
  [
    'made in the constructor',
    `import express from 'express'
class Api {
  app
  constructor() {
    this.app = express()
    this.routes()
  }
}
`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
class Api {
  app
  constructor() {
    this.app = express()
    const service = verifyClaims()
    this.app.use(service.express()) // before everything else
    this.routes()
  }
}
`,
    { path: 'api.ts' },
  ],
  [
    'JSX beside it',
    `import express from 'express'
const page = <T,>(x: T) => <html>{String(x)}</html>
const app = express()
`,
    `import express from 'express'
import { verifyClaims } from 'service-node'
const page = <T,>(x: T) => <html>{String(x)}</html>
const app = express()
const service = verifyClaims()
app.use(service.express()) // before everything else
`,
    { path: 'app.tsx' },
  ],
])

table('the other frameworks', [
  [
    'Fastify at the top of a module is waited for',
    `import Fastify from 'fastify'
const app = Fastify({ logger: true }).withTypeProvider()
await app.register(import('./routes.js'))
`,
    `import Fastify from 'fastify'
import { verifyClaims } from 'service-node'
const app = Fastify({ logger: true }).withTypeProvider()
const service = verifyClaims()
await app.register(service.fastify()) // before every other plugin
await app.register(import('./routes.js'))
`,
    { framework: 'fastify', type: 'module' },
  ],
  [
    'Fastify where nothing can be waited for',
    `const fastify = require('fastify')({ logger: true })
fastify.register(require('./routes'))
`,
    `const fastify = require('fastify')({ logger: true })
const { verifyClaims } = require('service-node')
const service = verifyClaims()
fastify.register(service.fastify()) // before every other plugin
fastify.register(require('./routes'))
`,
    { framework: 'fastify' },
  ],
  [
    'Fastify in an async factory',
    `import { fastify } from 'fastify'
export const build = async () => {
  const app = fastify()
  return app
}
`,
    `import { fastify } from 'fastify'
import { verifyClaims } from 'service-node'
export const build = async () => {
  const app = fastify()
  const service = verifyClaims()
  await app.register(service.fastify()) // before every other plugin
  return app
}
`,
    { framework: 'fastify' },
  ],
  [
    'Koa',
    `const Koa = require('koa')
const app = (module.exports = new Koa())
app.use(logger())
`,
    `const Koa = require('koa')
const { verifyClaims } = require('service-node')
const app = (module.exports = new Koa())
const service = verifyClaims()
app.use(service.koa()) // before everything else
app.use(logger())
`,
    { framework: 'koa' },
  ],
  [
    'Hono',
    `import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono<{ Variables: { user: string } }>()
serve(app)
`,
    `import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { verifyClaims } from 'service-node'

const app = new Hono<{ Variables: { user: string } }>()
const service = verifyClaims()
app.use(service.hono()) // before everything else
serve(app)
`,
    { framework: 'hono', path: 'app.ts' },
  ],
  [
    'NestJS',
    `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    cors: true,
  });
  app.use(helmet());
  await app.listen(3000);
}
void bootstrap();
`,
    `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import { verifyClaims } from 'service-node';

async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    cors: true,
  });
  const service = verifyClaims();
  app.use(service.nest()); // before everything else
  app.use(helmet());
  await app.listen(3000);
}
void bootstrap();
`,
    { framework: 'nest', path: 'src/main.ts' },
  ],
])

table('node:http', [
  [
    'the listener is put behind the guard, and that of WebSockets',
    `const http = require('node:http')

// one server
const server = http.createServer({ keepAlive: true }, (request, response) => {
  response.end()
})
server.on('upgrade', (request, socket, head) => socket.end())
server.listen(1)
`,
    `const http = require('node:http')
const { verifyClaims } = require('service-node')

const service = verifyClaims()
// one server
const server = http.createServer({ keepAlive: true }, service.node((request, response) => {
  response.end()
}))
server.on('upgrade', service.upgrade((request, socket, head) => socket.end()))
server.listen(1)
`,
    { framework: 'node' },
  ],
  [
    'a listener that is told later',
    `import { createServer } from 'http'
const server = createServer()
server.on('request', (request, response) => response.end())
`,
    `import { createServer } from 'http'
import { verifyClaims } from 'service-node'
const service = verifyClaims()
const server = createServer()
server.on('request', service.node((request, response) => response.end()))
`,
    { framework: 'node' },
  ],
  [
    'a listener of another file',
    `import { createServer } from 'http'
import { listener } from './listener.js'
export default createServer(listener)
`,
    `import { createServer } from 'http'
import { listener } from './listener.js'
import { verifyClaims } from 'service-node'
const service = verifyClaims()
export default createServer(service.node(listener))
`,
    { framework: 'node' },
  ],
  [
    'two servers of one listener, of which one will be made',
    `const http = require('http')
const https = require('https')

module.exports = function create(options) {
  const handler = (request, response) => response.end()
  let server
  if (options.tls) {
    server = https.createServer(options.tls, handler)
  } else {
    server = new http.Server(handler)
  }
  return server
}
`,
    `const http = require('http')
const https = require('https')
const { verifyClaims } = require('service-node')

module.exports = function create(options) {
  const handler = (request, response) => response.end()
  let server
  const service = verifyClaims()
  if (options.tls) {
    server = https.createServer(options.tls, service.node(handler))
  } else {
    server = new http.Server(service.node(handler))
  }
  return server
}
`,
    { framework: 'node' },
  ],
  [
    'what connect makes',
    `const connect = require('connect')
const app = connect()
require('http').createServer(app).listen(1)
`,
    `const connect = require('connect')
const { verifyClaims } = require('service-node')
const app = connect()
const service = verifyClaims()
require('http').createServer(service.node(app)).listen(1)
`,
    { framework: 'node' },
  ],
])

t.test('WebSockets of the very server are guarded, those of another are left alone', async (t) => {
  const of = (server: string) => `const express = require('express')
const http = require('http')
const app = express()
const server = ${server}
server.on('upgrade', onUpgrade)
function onUpgrade() {}
`
  const guarded = "server.on('upgrade', service.upgrade(onUpgrade))"
  t.match(after(of('http.createServer(app)')), guarded)
  t.match(after(of('app.listen(3000)')), guarded)
  t.notMatch(after(of('http.createServer(other)')), guarded)
})

t.test('where it is not sure, it says so and changes nothing', async (t) => {
  const express = (code: string) => `const express = require('express')\n${code}\n`
  const rows: readonly (readonly [code: string, said: RegExp, given?: Given])[] = [
    [express('const app = express(); app.listen(1)'), /^2: there is more on its line$/],
    [express('module.exports = express().use(cors())'), /^2: what is made is used/],
    [express('module.exports = () => express()'), /^2: it has no name/],
    [express('const { app } = expressWs(express())'), /^2: what is made is handed/],
    [express('const app = given || express()'), /^2: it has no name/],
    [express('let app\napp ??= express()'), /^3: it is only made under a condition/],
    [express('let app\nif (isOn) app = express()'), /^3: it is made in a place without room/],
    [
      express('for (const port of ports) {\n  const app = express()\n}'),
      /^3: it is made in a loop/,
    ],
    [express('const app = express(), routes = app.use(1)'), /^2: it is used in the same/],
    [express('const app = express()\n(function () {})()'), /^2: what is made is used/],
    [express('class A {\n  app = express()\n}'), /^3: its class has no constructor/],
    [express('const app = make()'), /^null: no application is made here/],
    [
      express("const { verifyClaims } = require('service-node')\nconst app = express()"),
      /^3: service-node is used in this file already/,
    ],
    [
      `import { NestFactory } from '@nestjs/core'\nNestFactory.create(A).then((app) => app.listen(1))`,
      /^2: what is made is used/,
      { framework: 'nest' },
    ],
    [
      `import { NestFactory } from '@nestjs/core'\nconst app = NestFactory.create(A)`,
      /^2: it is not awaited/,
      { framework: 'nest' },
    ],
    [
      `import { Hono } from 'hono'\nconst app = new Hono().get('/', a)`,
      /^2: what is made is used/,
      { framework: 'hono' },
    ],
    [
      `require('http').createServer(options)`,
      /^1: it is not sure what listens/,
      { framework: 'node' },
    ],
    [
      express(
        'function a() {\n  const app = express()\n}\nfunction b() {\n  const app = express()\n}',
      ),
      /^3: more than one application.*once per process/,
      { mode: 'sdk' },
    ],
  ]
  for (const [code, said, given] of rows) {
    t.equal(mounted(code, given).kind, 'manual', code)
    t.match(after(code, given), said)
  }
})
