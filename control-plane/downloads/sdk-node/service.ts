/** A guard with a way into every framework. Adapters carry outcomes out; none decides anything. */
import { expressAdapter } from './adapters/express.ts'
import { fastifyAdapter } from './adapters/fastify.ts'
import { honoAdapter } from './adapters/hono.ts'
import { koaAdapter } from './adapters/koa.ts'
import { nextAdapter, type NextResponses } from './adapters/next.ts'
import { nodeAdapter, type Listener } from './adapters/node.ts'
import { upgradeAdapter, type UpgradeListener } from './adapters/upgrade.ts'
import type { Guard } from './guard.ts'

export type Service = ReturnType<typeof createService>

export function createService(guard: Guard) {
  return {
    judge: guard.judge,
    ready: guard.ready,
    close: guard.close,
    node: (listener: Listener) => nodeAdapter(guard, listener),
    upgrade: (listener: UpgradeListener) => upgradeAdapter(guard, listener),
    express: () => expressAdapter(guard),
    /** `app.use(service.nest())` in `main.ts`: the same on Express and on Fastify. */
    nest: () => expressAdapter(guard),
    koa: () => koaAdapter(guard),
    fastify: () => fastifyAdapter(guard),
    hono: () => honoAdapter(guard),
    next: <Answer extends Response>(responses: NextResponses<Answer>) =>
      nextAdapter(guard, responses),
  }
}
