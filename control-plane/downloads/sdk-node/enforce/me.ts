/**
 * `/service/me` where the middleware enforces: it knows of no session but the one before it, so people
 * go on to their account at the service, which lists all, and programs are told of this one.
 */
import { jsonAnswer, redirection, type Answer } from '../../../../shared/sign-in/answer.ts'
import { methodRefused } from '../../../../shared/sign-in/bad-request.ts'
import { accountUrlOf, ownSessionOf, wantsPage } from '../../../../shared/sign-in/own-session.ts'
import { isRead } from '../../../../shared/sign-in/service-request.ts'
import type { SignInReason } from '../../../../shared/reasons.ts'
import type { EnforcedRequest } from './enforced-request.ts'

export function me(
  enforced: EnforcedRequest,
  askToSignIn: (enforced: EnforcedRequest, reason: SignInReason) => Answer,
): Answer {
  const { head, tenant } = enforced
  if (!isRead(head.method)) return methodRefused(enforced, 'GET, HEAD')
  const verdict = enforced.readSession()
  if (verdict.kind === 'invalid') return askToSignIn(enforced, verdict.reason)
  if (wantsPage(head.accept)) return redirection(303, accountUrlOf(tenant))
  const own = ownSessionOf(tenant, verdict.session.claims)
  return jsonAnswer(200, { ...own, sessions: null, devices: null, machines: null })
}
