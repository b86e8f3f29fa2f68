/**
 * A small application on one framework, bare or behind a guard of service-node:
 * `node bench/programs/guarded.ts <framework> <bare|verifyClaims|enforce> <base url> <tenant> <secret>`.
 * Says its port when it listens; tells its heap, collected, to whoever asks by a message.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { enforce, verifyClaims } from '../../control-plane/downloads/sdk-node/index.ts'
import type { Service } from '../../control-plane/downloads/sdk-node/published.ts'

const [framework = '', guard = '', baseUrl = '', tenantId = '', clientSecret = ''] =
  process.argv.slice(2)
const BODY = 'b'.repeat(1024)

function guardOf(): Service | undefined {
  if (guard === 'verifyClaims') return verifyClaims({ baseUrl, tenantId })
  if (guard === 'enforce') return enforce({ baseUrl, tenantId, clientSecret })
  return undefined
}

const START: Record<string, (service: Service | undefined) => Server | Promise<Server>> = {
  'node:http': (service) => {
    const listener = (_request: unknown, response: { end(text: string): unknown }) =>
      void response.end(BODY)
    return createServer(service === undefined ? listener : service.node(listener))
  },
  express: (service) => {
    const app = express()
    if (service !== undefined) app.use(service.express())
    app.get('/', (_request, response) => response.send(BODY))
    return createServer(app)
  },
  fastify: async (service) => {
    const app = fastify()
    if (service !== undefined) await app.register(service.fastify())
    app.get('/', (_request, reply) => reply.send(BODY))
    await app.ready()
    return app.server
  },
  koa: (service) => {
    const app = new Koa()
    if (service !== undefined) app.use(service.koa())
    app.use((context) => {
      context.body = BODY
    })
    const listener = app.callback()
    return createServer((request, response) => void listener(request, response))
  },
  hono: (service) => {
    const app = new Hono()
    if (service !== undefined) app.use(service.hono())
    app.get('/', (c) => c.text(BODY))
    return serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  },
}

const service = guardOf()
await service?.ready()
const server = await START[framework]!(service)
if (!server.listening)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))

process.send?.({ port: (server.address() as AddressInfo).port })
process.on('message', () => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send?.({ heapUsed, external, rss })
})
