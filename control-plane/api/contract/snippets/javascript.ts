/** JavaScript: every one is run by test/control-plane/api/contract.test.ts. */
import type { FrameworkSnippet } from './snippet.ts'

type Name = 'node' | 'express' | 'fastify' | 'hono' | 'koa'

/** The part that all share: which user a request carries, or that it is a probe. */
const VERIFY = `import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { SERVICE_BASE_URL, SERVICE_TENANT_ID, SERVICE_PUBLIC_KEY_FILE } = process.env
const base = SERVICE_BASE_URL.replace(/\\/+$/, '')
const issuer = \`\${base}/auth/realms/\${SERVICE_TENANT_ID}\`
const audience = \`\${SERVICE_TENANT_ID}-user\`
const pems = readFileSync(SERVICE_PUBLIC_KEY_FILE ?? 'service_public.pem', 'utf8')
const installed = pems.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g)
// the keys of the file first; what was rotated in since then is fetched once and kept
const keys = [
  ...installed.map((pem) => createPublicKey(pem)),
  createRemoteJWKSet(new URL(\`\${base}/tenants/\${SERVICE_TENANT_ID}/public-key\`)),
]

async function verified(token, typ) {
  for (const key of keys) {
    try {
      const options = { algorithms: ['RS256'], issuer, audience }
      const { payload, protectedHeader } = await jwtVerify(token, key, options)
      if ((protectedHeader.typ ?? 'JWT') === typ) return payload
    } catch {
      // not this key's: try the next
    }
  }
}

/** Believes nothing but a signature. Answers the service's own probes on the way. */
async function check(headers) {
  const probe = headers['x-service-probe']
  if (probe !== undefined) {
    const claims = await verified(probe, 'service-probe+jwt')
    return { status: claims ? 204 : 401, reply: claims?.nonce ?? '' }
  }
  const claims = await verified(headers['x-service-claims'] ?? '', 'JWT')
  return claims ? { user: claims } : { status: 401, reply: '' }
}
`

const PORT = `process.env.PORT ?? 3000`

const PROGRAMS: Record<Name, { name: string; install: string; head: string; body: string }> = {
  node: {
    name: 'Node.js (node:http)',
    install: 'npm install jose',
    head: `import { createServer } from 'node:http'`,
    body: `createServer(async (request, response) => {
  const { user, status, reply } = await check(request.headers)
  if (!user) return response.writeHead(status, { 'X-Service-Probe-Reply': reply }).end()
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.end(\`Hello \${user.name}\\n\`)
}).listen(${PORT})
`,
  },
  express: {
    name: 'Express',
    install: 'npm install express jose',
    head: `import express from 'express'`,
    body: `const app = express()

app.use(async (request, response, next) => {
  const { user, status, reply } = await check(request.headers)
  if (!user) return response.status(status).set('X-Service-Probe-Reply', reply).end()
  request.user = user
  next()
})

app.get('/', (request, response) => response.type('text').send(\`Hello \${request.user.name}\\n\`))
app.listen(${PORT})
`,
  },
  fastify: {
    name: 'Fastify',
    install: 'npm install fastify jose',
    head: `import fastify from 'fastify'`,
    body: `const app = fastify()

app.addHook('onRequest', async (request, answer) => {
  const { user, status, reply } = await check(request.headers)
  if (!user) return answer.code(status).header('X-Service-Probe-Reply', reply).send()
  request.user = user
})

app.get('/', (request) => \`Hello \${request.user.name}\\n\`)
await app.listen({ port: Number(${PORT}) })
`,
  },
  hono: {
    name: 'Hono',
    install: 'npm install hono @hono/node-server jose',
    head: `import { serve } from '@hono/node-server'\nimport { Hono } from 'hono'`,
    body: `const app = new Hono()

app.use(async (c, next) => {
  const { user, status, reply } = await check(c.req.header())
  if (!user) return c.body(null, status, { 'X-Service-Probe-Reply': reply })
  c.set('user', user)
  await next()
})

app.get('/', (c) => c.text(\`Hello \${c.get('user').name}\\n\`))
serve({ fetch: app.fetch, port: Number(${PORT}) })
`,
  },
  koa: {
    name: 'Koa',
    install: 'npm install koa jose',
    head: `import Koa from 'koa'`,
    body: `const app = new Koa()

app.use(async (context, next) => {
  const { user, status, reply } = await check(context.headers)
  if (user) {
    context.state.user = user
    return next()
  }
  context.status = status
  context.set('X-Service-Probe-Reply', reply)
  context.body = null
  context.status = status
})

app.use((context) => {
  context.body = \`Hello \${context.state.user.name}\\n\`
})
app.listen(${PORT})
`,
  },
}

export const JAVASCRIPT: Readonly<Record<string, FrameworkSnippet>> = Object.fromEntries(
  Object.entries(PROGRAMS).map(([framework, { name, install, head, body }]) => {
    const edge = { install, file: 'server.mjs', code: `${head}\n${VERIFY}\n${body}` }
    return [framework, { name, language: 'javascript', modes: ['gateway', 'connector'], edge }]
  }),
)
