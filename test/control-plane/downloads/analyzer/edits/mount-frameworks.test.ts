/** TypeScript, and every framework that takes a middleware by one line. */
import { table } from './mounted.ts'

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
    'a private field, in TypeScript',
    `import Fastify, { type FastifyInstance } from 'fastify'
export class Prices {
  readonly #server: FastifyInstance
  constructor() {
    this.#server = Fastify()
    this.#server.get('/', prices)
  }
}
`,
    `import Fastify, { type FastifyInstance } from 'fastify'
import { verifyClaims } from 'service-node'
export class Prices {
  readonly #server: FastifyInstance
  constructor() {
    this.#server = Fastify()
    const service = verifyClaims()
    this.#server.register(service.fastify()) // before every other plugin
    this.#server.get('/', prices)
  }
}
`,
    { framework: 'fastify', path: 'src/prices.ts' },
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
