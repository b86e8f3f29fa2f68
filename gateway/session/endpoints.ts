/**
 * `/service/login`, `/service/callback`, `/service/logout` and `/service/me` on a tenant's own
 * hostname. Whatever goes wrong ends on a page that says what to do, or starts the sign-in anew;
 * never on a 403 and never in a loop.
 */
import type { ServiceEndpoint } from '../../shared/enforcement/decide.ts'
import { answerPage } from '../answers.ts'
import type { RequestContext } from '../request.ts'
import { callback } from './callback.ts'
import { reasonOf, type EndpointWorld } from './endpoint-world.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { me } from './me.ts'

type Handler = (context: RequestContext) => Promise<void> | void

export function createServiceEndpoints(
  world: EndpointWorld,
): (context: RequestContext, endpoint: ServiceEndpoint) => void {
  const handlers: Readonly<Record<ServiceEndpoint, Handler>> = {
    login: (context) => login(context, world),
    callback: (context) => callback(context, world),
    logout: (context) => logout(context, world),
    me: (context) => me(context, world),
  }
  return (context, endpoint) => {
    Promise.try(handlers[endpoint], context).catch((error: unknown) => {
      world.log.warn(
        { reason: reasonOf(error), tenant: context.tenant.tenantId, endpoint },
        'failed',
      )
      unavailable(context)
    })
  }
}

function unavailable(context: RequestContext) {
  answerPage(
    context.exchange,
    503,
    {
      title: 'Sign-in is not available right now',
      text: 'Please try again in a moment. Who is signed in already stays signed in.',
      code: 'sign_in_unavailable',
      action: { href: '/', label: 'Try again' },
    },
    ['Retry-After: 5'],
  )
}
