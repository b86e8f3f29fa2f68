/**
 * One small application, written for every framework as its own documentation would, behind a
 * guard. What its routes answer is the same everywhere, so that one test can hold all adapters:
 *
 *     GET  /who        which user, and every header as the framework shows it
 *     GET  /cookies    two cookies of its own, and a Cache-Control if `?cache=` says one
 *     POST /upload     how many bytes came
 *     POST /trailers   every trailer, wherever Node shows it
 *     GET  /download   a megabyte, piece by piece
 *     GET  /error      throws
 */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import type { Service } from '../../control-plane/downloads/sdk-node/published.ts'
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import { nestExpress, nestFastify } from './guarded-nest.ts'
import {
  cacheOf,
  countBytes,
  nodeListener,
  OWN_COOKIES,
  pieces,
  trailersOf,
  whoOf,
  type GuardedApp,
} from './guarded-routes.ts'

function ofServer(server: Server): GuardedApp {
  return {
    server,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function startNode(service: Service): Promise<GuardedApp> {
  return ofServer(createServer(service.node(nodeListener)))
}

async function startExpress(service: Service): Promise<GuardedApp> {
  const app = express()
  app.use(service.express())
  app.get('/who', (request, response) => response.json(whoOf(request)))
  app.get('/cookies', (request, response) => {
    const cache = cacheOf(request.url)
    if (cache !== null) response.set('Cache-Control', cache)
    response.append('Set-Cookie', OWN_COOKIES[0]).append('Set-Cookie', OWN_COOKIES[1])
    response.send('cookies')
  })
  app.post('/upload', async (request, response) => {
    response.send(String(await countBytes(request)))
  })
  app.post('/trailers', async (request, response) => {
    response.json(await trailersOf(request))
  })
  app.get('/download', (_request, response) => void pieces().pipe(response))
  app.get('/error', () => {
    throw new Error('the application’s own')
  })
  return ofServer(createServer(app))
}

async function startKoa(service: Service): Promise<GuardedApp> {
  const app = new Koa()
  app.silent = true
  app.use(service.koa())
  app.use(async (context) => {
    switch (context.path) {
      case '/who':
        context.body = {
          ...whoOf(context.req, context.headers),
          user: (context.state['serviceClaims'] as TokenClaims | undefined)?.sub ?? null,
        }
        break
      case '/cookies': {
        const cache = cacheOf(context.url)
        if (cache !== null) context.set('Cache-Control', cache)
        context.set('Set-Cookie', OWN_COOKIES)
        context.body = 'cookies'
        break
      }
      case '/upload':
        context.body = String(await countBytes(context.req))
        break
      case '/trailers':
        context.body = await trailersOf(context.req)
        break
      case '/download':
        context.body = pieces()
        break
      case '/error':
        throw new Error('the application’s own')
    }
  })
  const listener = app.callback()
  return ofServer(createServer((request, response) => void listener(request, response)))
}

async function startFastify(service: Service): Promise<GuardedApp> {
  const app = fastify()
  await app.register(service.fastify())
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // in a context of its own, as larger applications are written
  await app.register((routes, _options, done) => {
    routes.get('/who', async (request) => ({
      ...whoOf(request.raw, request.headers),
      user: (request as { serviceClaims?: TokenClaims }).serviceClaims?.sub ?? null,
    }))
    routes.get('/cookies', async (request, reply) => {
      const cache = cacheOf(request.url)
      if (cache !== null) reply.header('Cache-Control', cache)
      return reply.header('Set-Cookie', OWN_COOKIES).send('cookies')
    })
    routes.post('/upload', async (request) => String(await countBytes(request.raw)))
    routes.post('/trailers', async (request) => trailersOf(request.raw))
    routes.get('/download', async (_request, reply) => reply.send(pieces()))
    routes.get('/error', async () => {
      throw new Error('the application’s own')
    })
    done()
  })
  await app.ready()
  return { server: app.server, close: () => app.close() }
}

async function startHono(service: Service): Promise<GuardedApp> {
  const app = new Hono<{
    Variables: { serviceClaims: TokenClaims | undefined }
    Bindings: { incoming: IncomingMessage }
  }>()
  app.use(async (c, next) => {
    c.req.header('content-type') // as a logger might, before us
    await next()
  })
  app.use(service.hono())
  app.get('/who', (c) =>
    c.json({
      ...whoOf(c.env.incoming, c.req.header()),
      user: c.get('serviceClaims')?.sub ?? null,
    }),
  )
  app.get('/cookies', (c) => {
    const cache = c.req.query('cache')
    if (cache !== undefined) c.header('Cache-Control', cache)
    for (const cookie of OWN_COOKIES) c.header('Set-Cookie', cookie, { append: true })
    return c.text('cookies')
  })
  app.post('/upload', async (c) => c.text(String(await countBytes(c.req.raw.body as never))))
  app.post('/trailers', async (c) => c.json(await trailersOf(c.env.incoming)))
  app.get('/download', (c) => c.body(Readable.toWeb(pieces()) as ReadableStream))
  app.get('/error', () => {
    throw new Error('the application’s own')
  })
  app.onError((_error, c) => c.text('the application’s own', 500))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
  return ofServer(server)
}

type Start = (service: Service) => Promise<GuardedApp>

export const GUARDED_APPS: Readonly<Record<string, Start>> = {
  'node:http': startNode,
  Express: startExpress,
  Koa: startKoa,
  Fastify: startFastify,
  Hono: startHono,
  'Nest on Express': nestExpress,
  'Nest on Fastify': nestFastify,
}

export async function startGuarded(
  t: { teardown(work: () => unknown): void },
  start: Start,
  service: Service,
): Promise<{ port: number; server: Server }> {
  const { server, close } = await start(service)
  if (!server.listening)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await close()
    await service.close()
  })
  return { port: (server.address() as AddressInfo).port, server }
}
