/** The application of guarded-apps.ts on NestJS. Decorators are called, since types are only stripped. */
import 'reflect-metadata'
import type { Server, ServerResponse } from 'node:http'
import {
  Controller,
  Get,
  HttpCode,
  Module,
  Post,
  Req,
  Res,
  type INestApplication,
} from '@nestjs/common'
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { Service } from '../../control-plane/downloads/sdk-node/published.ts'
import { nodeListener, type Claimed, type GuardedApp } from './guarded-routes.ts'

/** Express hands out Node's messages themselves, Fastify wraps them. */
type Wrapped<Message> = Message & { raw?: Message; hijack?: () => void }

class Routes {
  read(request: Wrapped<Claimed>, response: Wrapped<ServerResponse>): void {
    response.hijack?.()
    nodeListener(request.raw ?? request, response.raw ?? response)
  }

  upload(request: Wrapped<Claimed>, response: Wrapped<ServerResponse>): void {
    this.read(request, response)
  }

  error(): never {
    throw new Error('the application’s own')
  }
}

class GuardedModule {}

const method = (name: keyof Routes) => Object.getOwnPropertyDescriptor(Routes.prototype, name)!
for (const name of ['read', 'upload'] as const) {
  Req()(Routes.prototype, name, 0)
  Res()(Routes.prototype, name, 1)
}
Get(['/who', '/cookies', '/download'])(Routes.prototype, 'read', method('read'))
Post(['/upload', '/trailers'])(Routes.prototype, 'upload', method('upload'))
HttpCode(200)(Routes.prototype, 'upload', method('upload'))
Get('/error')(Routes.prototype, 'error', method('error'))
Controller()(Routes)
Module({ controllers: [Routes] })(GuardedModule)

async function start(service: Service, adapter: AbstractHttpAdapter): Promise<GuardedApp> {
  const options = { bodyParser: false, logger: false } as const
  const app: INestApplication = await NestFactory.create(GuardedModule, adapter, options)
  app.use(service.nest())
  await app.init()
  return { server: app.getHttpServer() as Server, close: () => app.close() }
}

export const nestExpress = (service: Service) => start(service, new ExpressAdapter())

export async function nestFastify(service: Service): Promise<GuardedApp> {
  const adapter = new FastifyAdapter()
  const fastify = adapter.getInstance()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const app = await start(service, adapter)
  await fastify.ready()
  return app
}
