/** `/service/logout`: here at once, everywhere soon, and at the realm if it can be reached. */
import {
  clearCookie,
  HOPS_COOKIE,
  SEEN_COOKIE,
  SESSION_COOKIE,
} from '../../shared/enforcement/cookies.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { answerPage, redirect } from '../answers.ts'
import type { RequestContext } from '../request.ts'
import { reasonOf, type EndpointWorld } from './endpoint-world.ts'
import { refuseMethod } from './own-requests.ts'

export async function logout(context: RequestContext, world: EndpointWorld) {
  const { exchange, tenant } = context
  const { method, secFetchSite } = exchange.head
  if (method !== 'GET' && method !== 'POST') return refuseMethod(context, 'GET, POST')
  // another site can make a browser come here; ending a session needs the person
  const isImage = method === 'GET' && secFetchSite === '' && !isNavigation(exchange.head)
  if (secFetchSite === 'cross-site' || isImage) return confirmLogout(context)
  const cleared = [SESSION_COOKIE, SEEN_COOKIE, HOPS_COOKIE].map((name) =>
    clearCookie(name, context.isCookieSecure),
  )
  const session = world.sessions.claimsOf(context)
  if (session === undefined) return signedOut(context, cleared)
  world.endSession(context, session.claims, 'logout')
  try {
    const location = await world.relyingParty.endSessionLocation(tenant, {
      idToken: session.token,
      returnUrl: `${context.edgeUrl}/`,
    })
    redirect(exchange, 303, location, cleared)
  } catch (error) {
    world.log.warn({ reason: reasonOf(error), tenant: tenant.tenantId }, 'realm logout not reached')
    signedOut(context, cleared)
  }
}

function confirmLogout(context: RequestContext) {
  answerPage(context.exchange, 200, {
    title: 'Sign out?',
    text: `Another site asked to sign you out of ${context.tenant.name}.`,
    code: 'confirm_logout',
    form: { action: '/service/logout', label: 'Sign out' },
  })
}

function signedOut(context: RequestContext, cookies: readonly string[]) {
  answerPage(
    context.exchange,
    200,
    {
      title: 'You are signed out',
      text: `Your session of ${context.tenant.name} has ended.`,
      code: 'signed_out',
      action: { href: '/', label: 'Sign in again' },
    },
    cookies.map((cookie) => `Set-Cookie: ${cookie}`),
  )
}
