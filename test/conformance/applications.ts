/**
 * One application for each framework, set up as its own documentation does it, behind the
 * middleware: it writes down whatever reaches it and answers `ok`.
 */
import 'reflect-metadata'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import { All, Controller, Module, Req, Res, type INestApplication } from '@nestjs/common'
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import type { Service } from '../../control-plane/downloads/sdk-node/published.ts'
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import { leaveOpen, never, openAnswerOf } from './open-answers.ts'
import type { Arrivals } from './target.ts'

type Claimed = IncomingMessage & { serviceClaims?: TokenClaims | undefined }

export interface Application {
  readonly server: Server
  close?(): Promise<unknown>
}

export type Framework = (service: Service, arrivals: Arrivals) => Promise<Application> | Application

function note(arrivals: Arrivals, request: Claimed, shown: object = request.headers) {
  arrivals.push({
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: [...request.rawHeaders],
    shown: { ...shown },
    user: request.serviceClaims?.sub ?? null,
  })
}

const ignoreBody = (_request: unknown, _payload: unknown, done: (error: null) => void) => done(null)

function bareNode(service: Service, arrivals: Arrivals): Application {
  const listener = (request: Claimed, response: ServerResponse) => {
    note(arrivals, request)
    if (!leaveOpen(request.url ?? '', response)) response.end('ok')
  }
  return { server: createServer(service.node(listener)) }
}

function onExpress(service: Service, arrivals: Arrivals): Application {
  const app = express()
  app.use(service.express())
  app.use((request, response) => {
    note(arrivals, request)
    if (!leaveOpen(request.url, response)) response.send('ok')
  })
  return { server: createServer(app) }
}

function onKoa(service: Service, arrivals: Arrivals): Application {
  const app = new Koa()
  app.silent = true
  app.use(service.koa())
  app.use(async (context) => {
    const { serviceClaims } = context.state as { serviceClaims?: TokenClaims }
    const { method, url, headers, req } = context
    const user = serviceClaims?.sub ?? null
    arrivals.push({ method, target: url, rawHeaders: [...req.rawHeaders], shown: headers, user })
    const open = openAnswerOf(url)
    if (open !== undefined) context.set(open.fields)
    context.body = open === undefined ? 'ok' : (open.body ?? (await never()))
  })
  const callback = app.callback()
  return { server: createServer((request, response) => void callback(request, response)) }
}

async function onFastify(service: Service, arrivals: Arrivals): Promise<Application> {
  const app: FastifyInstance = fastify()
  await app.register(service.fastify())
  app.addContentTypeParser('*', ignoreBody)
  // as a proxy or a page for everything would be written: routes and the rest
  const answer = async (request: unknown, reply: FastifyReply) => {
    const { method, url, raw, headers, serviceClaims } = request as {
      method: string
      url: string
      raw: Claimed
      headers: Record<string, unknown>
      serviceClaims?: TokenClaims
    }
    const user = serviceClaims?.sub ?? null
    arrivals.push({ method, target: url, rawHeaders: [...raw.rawHeaders], shown: headers, user })
    const open = openAnswerOf(url)
    if (open === undefined) return 'ok'
    return reply.headers(open.fields).send(open.body ?? (await never()))
  }
  app.all('*', answer)
  app.setNotFoundHandler(async (request, reply) => {
    reply.code(200)
    return answer(request, reply)
  })
  await app.ready()
  return { server: app.server, close: () => app.close() }
}

function onHono(service: Service, arrivals: Arrivals): Application {
  const app = new Hono<{
    Variables: { serviceClaims: TokenClaims | undefined }
    Bindings: { incoming: IncomingMessage }
  }>()
  app.use(service.hono())
  app.all('*', async (c) => {
    const { pathname, search } = new URL(c.req.url)
    arrivals.push({
      method: c.req.method,
      target: pathname + search,
      rawHeaders: [...c.env.incoming.rawHeaders],
      shown: c.req.header(),
      user: c.get('serviceClaims')?.sub ?? null,
    })
    const open = openAnswerOf(pathname)
    if (open === undefined) return c.text('ok')
    return c.body(Readable.toWeb(open.body ?? (await never())) as ReadableStream, 200, open.fields)
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  return { server: server as Server }
}

/** Express hands out Node's own, Fastify wraps it. */
type NestResponse = ServerResponse & {
  readonly raw?: ServerResponse
  hijack?(): unknown
  send(body: string): unknown
}

/** Decorators are called, since types are only stripped. */
function nestModule(everything: string, arrivals: Arrivals) {
  class Everything {
    answer(request: Claimed & { raw?: Claimed }, response: NestResponse) {
      note(arrivals, request.raw ?? request, request.headers)
      if (leaveOpen(request.url ?? '', response.raw ?? response)) response.hijack?.()
      else response.send('ok')
    }
  }
  class Application {}
  const answer = Object.getOwnPropertyDescriptor(Everything.prototype, 'answer')!
  All(everything)(Everything.prototype, 'answer', answer)
  Req()(Everything.prototype, 'answer', 0)
  Res()(Everything.prototype, 'answer', 1)
  Controller()(Everything)
  Module({ controllers: [Everything] })(Application)
  return Application
}

const onNest =
  (openAdapter: () => AbstractHttpAdapter, everything: string): Framework =>
  async (service, arrivals) => {
    const options = { logger: false, bodyParser: false } as const
    const app: INestApplication = await NestFactory.create(
      nestModule(everything, arrivals),
      openAdapter(),
      options,
    )
    app.use(service.nest())
    const instance = app.getHttpAdapter().getInstance() as Partial<FastifyInstance>
    instance.addContentTypeParser?.('*', ignoreBody)
    await app.init()
    // what `listen()` does on Fastify
    await instance.ready?.()
    return { server: app.getHttpServer() as Server, close: () => app.close() }
  }

export const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  'node:http': bareNode,
  Express: onExpress,
  Koa: onKoa,
  Fastify: onFastify,
  Hono: onHono,
  'Nest on Express': onNest(() => new ExpressAdapter(), '{*path}'),
  'Nest on Fastify': onNest(() => new FastifyAdapter(), '*'),
}
