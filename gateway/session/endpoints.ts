/**
 * `/service/login`, `/service/callback`, `/service/logout` and `/service/me` on a tenant's own
 * hostname. Whatever goes wrong ends on a page that says what to do, or starts the sign-in anew;
 * never on a 403 and never in a loop.
 */
import type { ServiceEndpoint } from '../../shared/enforcement/decide.ts'
import type { Answer } from '../../shared/sign-in/answer.ts'
import { callback } from '../../shared/sign-in/callback.ts'
import { login } from '../../shared/sign-in/login.ts'
import { logout } from '../../shared/sign-in/logout.ts'
import { signInUnavailable } from '../../shared/sign-in/refusals.ts'
import { reasonOf } from '../../shared/sign-in/service-request.ts'
import { respond } from '../request/respond.ts'
import type { RequestContext } from '../request/context.ts'
import { me, type EndpointWorld } from './me.ts'

type Handler = (context: RequestContext, world: EndpointWorld) => Promise<Answer>

const HANDLERS: Readonly<Record<ServiceEndpoint, Handler>> = { login, callback, logout, me }

export function createServiceEndpoints(world: EndpointWorld) {
  return (context: RequestContext, endpoint: ServiceEndpoint): void => {
    const answering = HANDLERS[endpoint](context, world).then((answer) =>
      respond(context.exchange, answer),
    )
    answering.catch((error: unknown) => {
      world.log.warn(
        { reason: reasonOf(error), tenant_id: context.tenant.tenantId, endpoint },
        'failed',
      )
      respond(context.exchange, signInUnavailable(context))
    })
  }
}
