/** JavaScript: every one is run by test/shared/snippets/javascript.test.ts. */
import type { FrameworkSnippet } from './snippet.ts'

type Name = 'node' | 'express' | 'fastify' | 'koa' | 'hono' | 'nest' | 'next'

interface Program {
  readonly name: string
  readonly packages?: string
  readonly file?: string
  /** `{guard}` is the function of the mode. */
  readonly code: string
}

const PORT = 'process.env.PORT ?? 3000'

// `?.name`: before protection is on, nobody is signed in

const PROGRAMS: Readonly<Record<Name, Program>> = {
  node: {
    name: 'Node.js (node:http)',
    code: `import { createServer } from 'node:http'
import { {guard} } from 'service-node'

const service = {guard}()

const server = createServer(
  service.node((request, response) => {
    response.setHeader('Content-Type', 'text/plain; charset=utf-8')
    response.end(\`Hello \${request.serviceClaims?.name ?? 'stranger'}\\n\`)
  }),
)
// with WebSockets: server.on('upgrade', service.upgrade((request, socket, head) => { … }))
server.listen(${PORT})
`,
  },
  express: {
    name: 'Express',
    packages: ' express',
    code: `import express from 'express'
import { {guard} } from 'service-node'

const service = {guard}()
const app = express()
app.use(service.express()) // before everything else

app.get('/', (request, response) => {
  response.type('text').send(\`Hello \${request.serviceClaims?.name ?? 'stranger'}\\n\`)
})
app.listen(${PORT})
`,
  },
  fastify: {
    name: 'Fastify',
    packages: ' fastify',
    code: `import fastify from 'fastify'
import { {guard} } from 'service-node'

const service = {guard}()
const app = fastify()
await app.register(service.fastify()) // before every other plugin

app.get('/', (request) => \`Hello \${request.serviceClaims?.name ?? 'stranger'}\\n\`)
await app.listen({ port: Number(${PORT}) })
`,
  },
  koa: {
    name: 'Koa',
    packages: ' koa',
    code: `import Koa from 'koa'
import { {guard} } from 'service-node'

const service = {guard}()
const app = new Koa()
app.use(service.koa()) // before everything else

app.use((context) => {
  context.body = \`Hello \${context.state.serviceClaims?.name ?? 'stranger'}\\n\`
})
app.listen(${PORT})
`,
  },
  hono: {
    name: 'Hono',
    packages: ' hono @hono/node-server',
    code: `import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { {guard} } from 'service-node'

const service = {guard}()
const app = new Hono()
app.use(service.hono()) // before everything else

app.get('/', (c) => c.text(\`Hello \${c.get('serviceClaims')?.name ?? 'stranger'}\\n\`))
serve({ fetch: app.fetch, port: Number(${PORT}) })
`,
  },
  nest: {
    name: 'NestJS',
    file: 'src/main.ts',
    code: `import { Controller, Get, Module, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { {guard}, type Guarded } from 'service-node'

@Controller()
class AppController {
  @Get()
  hello(@Req() request: Guarded) { // on Fastify: request.raw
    return \`Hello \${request.serviceClaims?.name ?? 'stranger'}\\n\`
  }
}

@Module({ controllers: [AppController] })
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule)
  app.use({guard}().nest()) // before everything else
  await app.listen(${PORT})
}
void bootstrap()
`,
  },
  next: {
    name: 'Next.js',
    // proxy.ts would see what Next.js has made of a request; this sees the request
    code: `import { createServer } from 'node:http'
import next from 'next'
import { {guard} } from 'service-node'

// instead of \`next start\`; pages read headers(): x-service-user, and x-service-claims to decode
const service = {guard}()
const app = next({ dev: process.env.NODE_ENV === 'development' })
await app.prepare()

const server = createServer(service.node(app.getRequestHandler()))
server.on('upgrade', service.upgrade(app.getUpgradeHandler()))
server.listen(${PORT})
`,
  },
}

function snippetOf(
  { packages = '', file = 'server.mjs', code }: Program,
  guard: 'verifyClaims' | 'enforce',
) {
  return {
    install: `npm install {base_url}/api/v1/sdk/node${packages}`,
    file,
    code: code.replaceAll('{guard}', guard),
  }
}

export const JAVASCRIPT = Object.fromEntries(
  Object.entries(PROGRAMS).map(([framework, program]): [string, FrameworkSnippet] => [
    framework,
    {
      name: program.name,
      language: framework === 'nest' ? 'typescript' : 'javascript',
      modes: ['gateway', 'connector', 'sdk'],
      edge: snippetOf(program, 'verifyClaims'),
      sdk: snippetOf(program, 'enforce'),
    },
  ]),
) as Readonly<Record<Name, FrameworkSnippet & { readonly sdk: FrameworkSnippet['edge'] }>>
