/** The HTTP API as one function of a request: no socket in here. */
import { Hono } from 'hono'
import { routePath } from 'hono/route'
import type { CustomFetch } from 'openid-client'
import { DEVICE_PLATFORMS } from '../shared/device/facts.ts'
import { createRateLimits } from '../shared/rate-limits.ts'
import { answerError, requestIds } from './api/answers.ts'
import type { ApiContext, ApiEnv } from './http/context.ts'
import { createCallers } from './api/callers.ts'
import { mount } from './api/mount.ts'
import { apiEndpoints } from './api/endpoints.ts'
import { answerUnknown } from './api/methods.ts'
import { signpostRoutes } from './console/signpost.ts'
import { createConsolePages, type ConsolePages } from './console/world.ts'
import { mailboxKey } from './config.ts'
import type { LiveKey } from './keys/live-key.ts'
import type { Mailbox } from './mail/mailbox.ts'
import { mailboxRoutes } from './mail/mailbox-page.ts'
import { answerScim, SCIM_PATH } from './scim/answer-request.ts'
import type { Services } from './services/services.ts'

interface AppSettings {
  readonly operatorKey: LiveKey
  /** How the console reaches its own realm; over the network, if nothing is said. */
  readonly realmFetch?: CustomFetch
  /** Of an installation without a mail server. */
  readonly mailbox?: Mailbox | undefined
  readonly pages?: ConsolePages
}

/** Pages of the console elsewhere: those who install a device agent are given short addresses. */
const INSTALL_FILES = DEVICE_PLATFORMS.map((platform) => `/install/${platform}/:tenant_id`)

const overNetwork: CustomFetch = (url, options) => fetch(url, options as RequestInit)

export function createApp(
  services: Services,
  {
    operatorKey,
    mailbox,
    realmFetch = overNetwork,
    pages = createConsolePages(services),
  }: AppSettings,
) {
  const { tenants, clients, clock } = services
  const rates = createRateLimits(clock)
  const callers = createCallers({ operatorKey, tenants, clients, rates })
  const app = newApp(services)
  app.notFound(answerUnknown(app))

  app.route('/', signpostRoutes(services.baseUrl))
  if (mailbox !== undefined)
    app.route(
      '/',
      mailboxRoutes(mailbox, () => mailboxKey(operatorKey.current())),
    )

  /** Who changes something and looks at once should see it: the answer waits for the gateways. */
  app.use('/api/v1/operator/tenants/*', async (c, next) => {
    await next()
    // what is created (201) is a draft or a user: no gateway has to hear of it
    const isLooking = c.req.method === 'GET' || c.req.method === 'HEAD'
    if (!isLooking && c.res.ok && c.res.status !== 201) await services.changesSettled()
  })
  let opened: Promise<Hono<ApiEnv>> | undefined
  const consoleApp = () => {
    opened ??= import('./console/console.ts').then(({ openConsole }) =>
      openConsole(newApp(services), { ...services, ...pages, rates }, realmFetch),
    )
    opened.catch(() => (opened = undefined)) // descriptors were short, say: the next visit tries again
    return opened
  }
  const ofConsole = async (c: ApiContext) => (await consoleApp()).fetch(c.req.raw, c.env)
  app.all('/console/*', ofConsole)
  for (const path of INSTALL_FILES) app.get(path, ofConsole)
  mount(app, apiEndpoints({ ...services, rates }), callers)
  app.all(SCIM_PATH, answerScim({ ...services, rates }))
  // who may not ask does not learn what exists
  app.all('/api/v1/operator/*', callers.operator(false), answerUnknown(app))

  return app
}

/** What all answers have: an id, a route in their trace, and one shape of what went wrong. */
function newApp({ log, tracing }: Pick<Services, 'log' | 'tracing'>) {
  const app = new Hono<ApiEnv>()
  app.use(requestIds)
  app.use(async (c, next) => {
    await next()
    const route = routePath(c) // of whoever has answered
    if (!route.endsWith('*')) tracing.note('http.route', route)
  })
  app.onError(answerError(log))
  return app
}
