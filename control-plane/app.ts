/** The HTTP API as one function of a request: no socket in here. */
import { Hono } from 'hono'
import { createRateLimits } from '../shared/rate-limits.ts'
import { answerError, requestIds } from './api/answers.ts'
import type { ApiEnv } from './api/api-env.ts'
import { createCallers } from './api/callers.ts'
import { integrationContract } from './api/contract/contract.ts'
import { healthRoutes } from './api/health-routes.ts'
import { answerUnknown } from './api/methods.ts'
import { operatorRoutes } from './api/operator/operator-routes.ts'
import { ownKeyRoutes, tenantKeyRoutes } from './api/public-key-routes.ts'
import { verificationRoutes } from './api/verification-routes.ts'
import { signpostRoutes } from './console/signpost.ts'
import { mailboxKey } from './config.ts'
import type { Mailbox } from './mail/mailbox.ts'
import { mailboxRoutes } from './mail/mailbox-page.ts'
import type { Services } from './services.ts'

export interface AppSettings {
  readonly operatorKey: string
  /** Of an installation without a mail server. */
  readonly mailbox?: Mailbox | undefined
}

export function createApp(services: Services, { operatorKey, mailbox }: AppSettings) {
  const { tenants, clock, log } = services
  const rates = createRateLimits(clock)
  const callers = createCallers({ operatorKey, tenants, rates })
  const world = { ...services, callers, rates }
  const contract = integrationContract()
  const app = new Hono<ApiEnv>()

  app.use(requestIds)
  app.onError(answerError(log))
  app.notFound(answerUnknown(app))

  app.route('/', signpostRoutes(services.baseUrl))
  if (mailbox !== undefined) app.route('/', mailboxRoutes(mailbox, mailboxKey(operatorKey)))
  app.route('/health', healthRoutes(services))
  app.get('/api/v1/contract', callers.anyone, (c) => c.json(contract))
  app.route('/api/v1/public-key', ownKeyRoutes(world))
  app.route('/api/v1/operator', operatorRoutes(world))
  app.route('/api/v1', verificationRoutes(world))
  app.route('/tenants', tenantKeyRoutes(world))

  return app
}
