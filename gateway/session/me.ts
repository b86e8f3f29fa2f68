/**
 * `/service/me`: the person's own session, and the others with their devices, which the realm
 * knows. Without the realm the own session is still told.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '../../shared/limits.ts'
import { jsonAnswer, pageAnswer, redirection, type Answer } from '../../shared/sign-in/answer.ts'
import { methodRefused } from '../../shared/sign-in/bad-request.ts'
import { logout } from '../../shared/sign-in/logout.ts'
import { ownSessionOf, wantsPage } from '../../shared/sign-in/own-session.ts'
import { isRead, onlyParameter, type SignInWorld } from '../../shared/sign-in/service-request.ts'
import { english } from '../../shared/sign-in/texts/english.ts'
import { spokenBy, TEXTS } from '../../shared/sign-in/texts/languages.ts'
import { BodyTooLarge } from '../wire/exchange.ts'
import type { RequestContext } from '../request/context.ts'
import { LOCAL_TIMES_HEADER_LINES } from './local-times.ts'
import { mePageHtml, type MePage } from './me-page.ts'
import type { Ending, OwnSessions } from './own-sessions.ts'
import type { ProvenSession } from '../request/sessions.ts'

/** What the service's own addresses stand on. */
export interface EndpointWorld extends SignInWorld<RequestContext> {
  readonly ownSessions: OwnSessions
  /** The control plane has ended it; here it is refused before the fleet link says so. */
  refuseSession(context: RequestContext, sid: string, issuedSeconds: number): void
}

const DONE = ['session', 'device', 'machine'] as const

type SessionProof = Pick<ProvenSession, 'token' | 'claims'>

export async function me(context: RequestContext, world: EndpointWorld): Promise<Answer> {
  const { method } = context.exchange.head
  if (!isRead(method) && method !== 'POST') return methodRefused(context, 'GET, HEAD, POST')
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
  const facts = ownSessionOf(tenant, claims)
  const csrf = csrfOf(tenant.seenKeys[0], claims.sid)
  if (!isForPage(context)) {
    const { sessions = null, devices = null, machines = null } = listed ?? {}
    return jsonAnswer(200, { ...facts, sessions, devices, machines, csrf })
  }
  const said = onlyParameter(context.query, 'done')
  const done = DONE.find((one) => one === said)
  const about = {
    application: tenant.name,
    name: facts.name,
    email: facts.email,
    signedInAt: facts.signed_in_at,
    endsAt: facts.ends_at,
    accountUrl: facts.account_url,
  }
  const body = mePageHtml({ ...about, csrf, listed, done }, spokenBy(context))
  return { status: 200, headerLines: LOCAL_TIMES_HEADER_LINES, body }
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
  if (!isForPage(context)) return jsonAnswer(200, { ended: ending })
  const done: MePage['done'] =
    'sid' in ending ? 'session' : 'device' in ending ? 'device' : 'machine'
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
  const machine = onlyParameter(fields, 'machine')
  if ([sid, device, machine].filter((one) => one !== undefined).length !== 1) return undefined
  if (sid !== undefined) return { sid }
  return device === undefined ? { machine: machine ?? '' } : { device }
}

function csrfOf(key: Buffer, sid: string): string {
  return createHmac('sha256', key).update(`me\0${sid}`).digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const REFUSALS = {
  cross_site_form: 403,
  form_invalid: 400,
  form_too_large: 413,
  not_found: 404,
  unavailable: 503,
} as const

function detailOf(code: keyof typeof REFUSALS): string {
  const { title, text } = english.me.refusals[code]
  return `${title}. ${text}`
}

function refuse(context: RequestContext, code: keyof typeof REFUSALS): Answer {
  const status = REFUSALS[code]
  const lines = status === 503 ? ['Retry-After: 5'] : []
  if (!isForPage(context)) return jsonAnswer(status, { error: code, detail: detailOf(code) }, lines)
  const language = spokenBy(context)
  const { back, refusals } = TEXTS[language].me
  const action = { href: '/service/me', label: back }
  return pageAnswer(status, { ...refusals[code], language, code, action }, lines)
}

function isForPage({ exchange }: RequestContext): boolean {
  return wantsPage(exchange.head.accept)
}
