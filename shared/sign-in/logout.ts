/** `/service/logout`: here at once, everywhere soon, and at the realm if it can be reached. */
import { clearCookie, HOPS_COOKIE, SEEN_COOKIE, SESSION_COOKIE } from '../enforcement/cookies.ts'
import { isNavigation } from '../enforcement/navigation.ts'
import { isRevoked } from '../enforcement/session.ts'
import { judgeTimes, type TokenClaims } from '../enforcement/token.ts'
import { cookieLines, methodRefused, pageAnswer, redirection, type Answer } from './answer.ts'
import { reasonOf, type SignInWorld, type Visit } from './visit.ts'

export async function logout<V extends Visit>(visit: V, world: SignInWorld<V>): Promise<Answer> {
  const { head, tenant } = visit
  const { method, secFetchSite } = head
  if (method !== 'GET' && method !== 'POST') return methodRefused('GET, POST')
  // another site can make a browser come here; ending a session needs the person
  const isImage = method === 'GET' && secFetchSite === '' && !isNavigation(head)
  if (secFetchSite === 'cross-site' || isImage) return confirmLogout(visit)
  const cleared = [SESSION_COOKIE, SEEN_COOKIE, HOPS_COOKIE].map((name) =>
    clearCookie(name, visit.isCookieSecure),
  )
  const session = world.sessions.claimsOf(visit)
  if (session === undefined) return signedOut(visit, cleared)
  // who is out already, a moment or a year ago, is not put out again with every request
  if (!isOver(session.claims, visit)) world.endSession(visit, session.claims, 'logout')
  try {
    const location = await world.relyingParty.endSessionLocation(tenant, {
      idToken: session.token,
      returnUrl: `${visit.edgeUrl}/`,
    })
    return redirection(303, location, cleared)
  } catch (error) {
    world.log.warn({ reason: reasonOf(error), tenant: tenant.tenantId }, 'realm logout not reached')
    return signedOut(visit, cleared)
  }
}

function isOver(claims: TokenClaims, { tenant, revoked, nowSeconds }: Visit): boolean {
  const { sessionSecondsMax } = tenant.sessionRules
  return (
    isRevoked(claims, revoked) || judgeTimes(claims, nowSeconds, sessionSecondsMax) !== undefined
  )
}

function confirmLogout({ tenant }: Visit): Answer {
  return pageAnswer(200, {
    title: 'Sign out?',
    text: `Another site asked to sign you out of ${tenant.name}.`,
    code: 'confirm_logout',
    form: { action: '/service/logout', label: 'Sign out' },
  })
}

function signedOut({ tenant }: Visit, cookies: readonly string[]): Answer {
  return pageAnswer(
    200,
    {
      title: 'You are signed out',
      text: `Your session of ${tenant.name} has ended.`,
      code: 'signed_out',
      action: { href: '/', label: 'Sign in again' },
    },
    cookieLines(cookies),
  )
}
