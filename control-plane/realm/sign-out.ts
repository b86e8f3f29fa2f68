/**
 * OpenID Connect RP-Initiated Logout 1.0. With a token of the session that the browser has it is
 * done at once; without one a person is asked first, since any site can link to this address.
 */
import type { IncomingMessage } from 'node:http'
import { decodeJwt } from 'jose'
import { asStranger } from '../store/precedence.ts'
import { FORM_PAGE_HEADERS } from './answers.ts'
import { isFromOwnPage, readForm } from '../http/form.ts'
import { errors } from './oidc.ts'
import { signedOutPage, signOutPage } from './pages/sign-out-pages.ts'
import { signOutThere } from './connections/sign-out-there.ts'
import { sessionCookiePath } from './realm-cookies.ts'
import { endSession } from './session-end.ts'
import { placeOf, requestIdOf, showMessage, showPage } from './show.ts'
import type { Realm, RealmContext, RealmWorld } from './world.ts'

const PARAMETERS = [
  'id_token_hint',
  'post_logout_redirect_uri',
  'state',
  'client_id',
  'logout_hint',
  'ui_locales',
] as const
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>

/** Who the session token in the request says that it belongs to. */
interface Hint {
  readonly sub: string
  readonly sid: string
  /** For which application it was made. */
  readonly clientId: string
}

type ProviderSession = Awaited<ReturnType<Realm['provider']['Session']['get']>>

export function signOutPages(realm: Realm, world: RealmWorld) {
  const { provider, clientId, tenant } = realm
  const { tenantId } = tenant
  const { baseUrl, vault, sessions } = world
  const applicationUrl = realm.applicationUrls[0] ?? realm.issuer
  const there = signOutThere(realm, world)

  return async function signOut(ctx: RealmContext, next: () => Promise<unknown>) {
    if (ctx.path !== '/logout' && ctx.path !== '/logout/confirm') return next()
    if (!['GET', 'HEAD', 'POST'].includes(ctx.method)) return next()
    const isConfirmation = ctx.path === '/logout/confirm'
    if (isConfirmation && ctx.method !== 'POST') return next()

    const sent = await parametersOf(ctx)
    if (typeof sent === 'string') return wrong(ctx, sent)
    const hint = await hintOf(sent.parameters)
    if (hint === 'invalid') return wrong(ctx, 'could not validate id_token_hint')
    const target = await targetOf(sent.parameters, hint)
    if (target instanceof Error) return wrong(ctx, target.message)

    const session = await provider.Session.get(ctx)
    const confirmation = vault.hash(`realm.logout/${tenantId}/${session.uid}`)
    if (isConfirmation) {
      const isOurs = isFromOwnPage(ctx.req.headers, new URL(baseUrl).origin)
      if (!isOurs || sent.confirmation !== confirmation)
        return showMessage(ctx, world, realm, 'expired')
    } else if (session.accountId !== undefined && hint?.sid !== session.sidFor(clientId))
      // also where it is a token of the same person: one from a log signs no other browser out
      return confirm(ctx, sent.parameters, confirmation)

    const { upstream } = session.authorizations?.[clientId] ?? {}
    await leave(ctx, session, hint)
    const onwards = (await there.urlFor(upstream, target)) ?? target
    if (onwards === undefined) {
      const place = placeOf(ctx, world, realm, sent.parameters.ui_locales)
      return showPage(ctx, 200, signedOutPage(place, applicationUrl))
    }
    ctx.status = 303
    ctx.redirect(onwards)
  }

  async function confirm(ctx: RealmContext, parameters: Parameters, confirmation: string) {
    ctx.set(FORM_PAGE_HEADERS)
    const action = `${realm.issuer}/logout/confirm`
    const fields = { ...parameters, confirmation }
    const place = placeOf(ctx, world, realm, parameters.ui_locales)
    await showPage(ctx, 200, signOutPage({ place, action, fields, applicationUrl }))
  }

  /**
   * Ends what the browser holds and what the token names, here and at every gateway. A token alone
   * goes behind the others: whoever finds an old one in a log can send it as often as they like.
   */
  async function leave(ctx: RealmContext, session: ProviderSession, hint: Hint | undefined) {
    const own = session.sidFor(clientId)
    const end = (sid: string) => endSession(world, tenantId, sid, 'signed_out', requestIdOf(ctx))
    if (own !== undefined) await end(own)
    // a token of a session that is forgotten here has expired long since: nothing is written for it
    // and nothing for one of another application: what lies in its logs ends nothing by itself
    const isOwn = hint?.clientId === clientId && hint.sid !== own
    if (isOwn && (await sessions.find(tenantId, hint.sid))) await asStranger(() => end(hint.sid))
    if (session.accountId === undefined) return
    await session.destroy()
    ctx.cookies.set(provider.cookieName('session'), null, {
      path: sessionCookiePath(tenantId, baseUrl.startsWith('https:')),
      signed: true,
    })
  }

  /** A token that has expired still says whose sign-out this is (section 2 of the standard). */
  async function hintOf({
    id_token_hint: token,
  }: Parameters): Promise<Hint | 'invalid' | undefined> {
    if (token === undefined) return undefined
    try {
      const { aud } = decodeJwt(token)
      const client = typeof aud === 'string' ? await provider.Client.find(aud) : undefined
      if (client === undefined) return 'invalid' // or it has been deleted
      const { payload } = await provider.IdToken.validate(token, client)
      const { sub, sid } = payload
      return typeof sub === 'string' && typeof sid === 'string'
        ? { sub, sid, clientId: client.clientId }
        : 'invalid'
    } catch {
      return 'invalid'
    }
  }

  /** Where to go afterwards: a registered address of a client that has been named, or nowhere. */
  async function targetOf(parameters: Parameters, hint: Hint | undefined) {
    const { client_id: named, post_logout_redirect_uri: uri, state } = parameters
    const asking = named ?? hint?.clientId
    if (asking === undefined) return undefined
    const client = await provider.Client.find(asking)
    const isOfHint = hint === undefined || hint.clientId === asking
    if (client === undefined || !isOfHint) return new errors.InvalidClient('client is invalid')
    if (uri === undefined) return undefined
    if (!client.postLogoutRedirectUriAllowed(uri))
      return new Error('post_logout_redirect_uri not registered')
    const url = new URL(uri)
    if (state !== undefined) url.searchParams.set('state', state)
    return url.href
  }

  function wrong(ctx: RealmContext, description: string) {
    const details = ['invalid_request', description]
    return showMessage(ctx, world, realm, 'request_wrong', { details })
  }
}

/** From the query or from a form, each at most once. A string says what is wrong. */
async function parametersOf(ctx: RealmContext) {
  const fields = ctx.method === 'POST' ? await formOf(ctx.req) : queryOf(ctx)
  if (typeof fields === 'string') return fields
  const parameters: Parameters = {}
  for (const name of PARAMETERS) {
    const value = fields.get(name)
    if (value !== undefined) parameters[name] = value
  }
  return { parameters, confirmation: fields.get('confirmation') }
}

async function formOf(request: IncomingMessage) {
  const form = await readForm(request)
  if (form.kind === 'form') return form.fields
  return form.reason === 'repeated_field' ? 'a parameter came twice' : 'the form cannot be read'
}

function queryOf(ctx: RealmContext): Map<string, string> | string {
  const fields = new Map<string, string>()
  for (const [name, value] of Object.entries(ctx.query)) {
    if (typeof value !== 'string') return `${name} must not be provided twice`
    fields.set(name, value)
  }
  return fields
}
