/**
 * `/service/me`: the person's own session, and the others with their devices, which the realm
 * knows. Without the realm the own session is still told.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import {
  jsonAnswer,
  methodRefused,
  pageAnswer,
  redirection,
  type Answer,
} from '../../shared/sign-in/answer.ts'
import { logout } from '../../shared/sign-in/logout.ts'
import { FORM_PAGE_HEADER_LINES } from '../../shared/sign-in/pages.ts'
import { isRead, onlyParameter, type SignInWorld } from '../../shared/sign-in/service-request.ts'
import { BodyTooLarge } from '../wire/exchange.ts'
import type { RequestContext } from '../request/context.ts'
import { mePageHtml, type MePage } from './me-page.ts'
import type { Ending, OwnSessions } from './own-sessions.ts'
import type { ProvenSession } from '../request/sessions.ts'

/** What the service's own addresses stand on. */
export interface EndpointWorld extends SignInWorld<RequestContext> {
  readonly ownSessions: OwnSessions
  /** The control plane has ended it; here it is refused before the fleet link says so. */
  refuseSession(context: RequestContext, sid: string, issuedSeconds: number): void
}

type SessionProof = Pick<ProvenSession, 'token' | 'claims'>

export async function me(context: RequestContext, world: EndpointWorld): Promise<Answer> {
  const { method } = context.exchange.head
  if (!isRead(method) && method !== 'POST') return methodRefused('GET, HEAD, POST')
  const verdict = world.sessions.read(context)
  if (verdict.kind === 'invalid') return context.signIn(verdict.reason)
  return isRead(method)
    ? show(context, world, verdict.session)
    : end(context, world, verdict.session)
}

async function show(
  context: RequestContext,
  world: EndpointWorld,
  session: SessionProof,
): Promise<Answer> {
  const { tenant } = context
  const { claims } = session
  const own = await world.ownSessions.list(tenant, session)
  const listed = own.kind === 'listed' ? own.listed : undefined
  const { name, email, sub, sid } = claims
  const endSeconds = Math.min(claims.exp, claims.iat + tenant.sessionRules.sessionSecondsMax)
  const signedInAt = new Date(claims.authTime * 1000).toISOString()
  const endsAt = new Date(endSeconds * 1000).toISOString()
  const accountUrl = `${tenant.client.issuer}/account`
  const csrf = csrfOf(tenant.seenKeys[0], sid)
  if (!wantsPage(context))
    return jsonAnswer(200, {
      tenant_id: tenant.tenantId,
      user_id: sub,
      sid,
      name,
      email,
      signed_in_at: signedInAt,
      ends_at: endsAt,
      sessions: listed?.sessions ?? null,
      devices: listed?.devices ?? null,
      account_url: accountUrl,
      csrf,
    })
  const said = onlyParameter(context.query, 'done')
  const done = said === 'session' || said === 'device' ? said : undefined
  const about = { application: tenant.name, name, email, signedInAt, endsAt, accountUrl }
  const body = mePageHtml({ ...about, csrf, listed, done })
  return { status: 200, headerLines: FORM_PAGE_HEADER_LINES, body }
}

async function end(
  context: RequestContext,
  world: EndpointWorld,
  session: SessionProof,
): Promise<Answer> {
  const { tenant } = context
  const { claims } = session
  if (!isFromOwnPage(context)) return refuse(context, 'cross_site_form')
  const fields = await fieldsOf(context)
  if (fields === undefined) return refuse(context, 'form_too_large')
  const csrf = onlyParameter(fields, 'csrf') ?? ''
  if (!tenant.seenKeys.some((key) => isSame(csrf, csrfOf(key, claims.sid))))
    return refuse(context, 'cross_site_form')
  const ending = endingIn(fields)
  if (ending === undefined) return refuse(context, 'form_invalid')
  if ('sid' in ending && ending.sid === claims.sid) return logout(context, world)
  const ended = await world.ownSessions.end(tenant, session, ending)
  if (ended.kind !== 'listed') return refuse(context, ended.kind)
  // its token is not here: whatever may have been issued by now
  const latest = context.nowSeconds + LIMITS.issuedAheadSecondsMax
  if ('sid' in ending) world.refuseSession(context, ending.sid, latest)
  if (!wantsPage(context)) return jsonAnswer(200, { ended: ending })
  const done: MePage['done'] = 'sid' in ending ? 'session' : 'device'
  return redirection(303, `/service/me?done=${done}`)
}

/** The lock is the value in the form; this keeps another site's form from even trying. */
function isFromOwnPage(context: RequestContext): boolean {
  const { secFetchSite } = context.head
  if (secFetchSite !== '' && secFetchSite !== 'same-origin' && secFetchSite !== 'none') return false
  return context.isFromOwnOrigin
}

async function fieldsOf({ exchange }: RequestContext): Promise<string | undefined> {
  try {
    return (await exchange.readBody(LIMITS.ownFormBytesMax)).toString('utf8')
  } catch (error) {
    if (error instanceof BodyTooLarge) return undefined
    throw error
  }
}

function endingIn(fields: string): Ending | undefined {
  const sid = onlyParameter(fields, 'sid')
  const device = onlyParameter(fields, 'device')
  if (sid !== undefined && device !== undefined) return undefined
  if (sid !== undefined) return { sid }
  return device === undefined ? undefined : { device }
}

function csrfOf(key: Buffer, sid: string): string {
  return createHmac('sha256', key).update(`me\0${sid}`).digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const REFUSALS = {
  cross_site_form: {
    status: 403,
    title: 'This form was not sent from this page',
    text: 'Nothing has been ended. Open the page again and press the button there.',
  },
  form_invalid: {
    status: 400,
    title: 'This form cannot be read',
    text: 'Name one session or one device that is to end. Open the page again.',
  },
  form_too_large: {
    status: 413,
    title: 'This form is too large',
    text: 'Nothing has been ended. Open the page again and press the button there.',
  },
  not_found: {
    status: 404,
    title: 'There is no such session or device',
    text: 'It may have ended already. Open the page again to see what there is.',
  },
  unavailable: {
    status: 503,
    title: 'This cannot be done right now',
    text: 'We cannot tell whether it has ended. Open the page again in a moment.',
  },
} as const

function refuse(context: RequestContext, code: keyof typeof REFUSALS): Answer {
  const { status, title, text } = REFUSALS[code]
  const lines = status === 503 ? ['Retry-After: 5'] : []
  if (!wantsPage(context))
    return jsonAnswer(status, { error: code, detail: `${title}. ${text}` }, lines)
  const action = { href: '/service/me', label: 'Back to your sessions' }
  return pageAnswer(status, { title, text, code, action }, lines)
}

function wantsPage({ exchange }: RequestContext): boolean {
  return /\btext\/html\b/i.test(exchange.head.accept)
}
