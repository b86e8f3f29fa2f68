/** What a realm answers itself, around the provider's endpoints; the order is the way inwards. */
import { isUnavailable } from './answers.ts'
import { ownAccountPages } from './account/own-account.ts'
import { ownSessions } from './account/own-sessions.ts'
import { recoveryPages } from './account/recovery.ts'
import { connectionPages } from './connections/connection-pages.ts'
import { samlPages } from './connections/saml-pages.ts'
import { signOutThere } from './connections/sign-out-there.ts'
import { isHangUp } from '../listener/hang-up.ts'
import { noteGood } from '../listener/known-credentials.ts'
import { readForm } from '../http/form.ts'
import { asKnown } from '../store/precedence.ts'
import { requestIdOf, showMessage } from './show.ts'
import { signInPages } from './sign-in.ts'
import { attemptCookies } from './sign-in/attempt-cookie.ts'
import { isBegun, isOfBrowser } from './sign-in/attempt-state.ts'
import { deviceProofPages } from './sign-in/device-proof.ts'
import { mailPages } from './sign-in/mail-answers.ts'
import { passkeyScript } from './sign-in/passkey-script.ts'
import { signUpPages } from './sign-up/sign-up-pages.ts'
import { signOutPages } from './sign-out.ts'
import type { Realm, RealmContext, RealmWorld } from './world.ts'
import { SECOND_MS } from '../../shared/clock.ts'
import { endSession } from './session-end.ts'

type Next = () => Promise<unknown>
type Middleware = (ctx: RealmContext, next: Next) => Promise<unknown>

const RESUME_PATH = /^\/authorize\/([A-Za-z0-9_-]{20,64})$/
const PUBLISHED_PATH =
  /^\/(?:jwks|\.well-known\/(?:openid-configuration|oauth-authorization-server))$/

export function realmPages(realm: Realm, world: RealmWorld): readonly Middleware[] {
  return [
    cookieLengths,
    knownSessions,
    failurePages(realm, world),
    publishedDocuments,
    postedRequests(realm, world),
    logo(realm, world),
    onlyInItsBrowser(realm, world),
    leaveOtherAccount(realm, world),
    passkeyScript,
    ownSessions(realm, world),
    deviceProofPages(realm, world),
    connectionPages(realm, world),
    signOutThere(realm, world).pages,
    samlPages(realm, world),
    mailPages(realm, world),
    signUpPages(realm, world),
    signInPages(realm, world),
    recoveryPages(realm, world),
    ownAccountPages(realm, world),
    signOutPages(realm, world),
  ]
}

/** Whose session the provider has found is known at the door from then on. */
async function knownSessions(ctx: RealmContext, next: Next) {
  await next()
  const { oidc } = ctx as { oidc?: { session?: { accountId?: string } } }
  if (oidc?.session?.accountId !== undefined) noteGood(ctx.req)
}

function failurePages(realm: Realm, world: RealmWorld): Middleware {
  return async (ctx, next) => {
    try {
      await next()
      if (ctx.status === 404 && ctx.body == null) await showMessage(ctx, world, realm, 'not_found')
    } catch (error) {
      if (isHangUp(error, ctx.req)) return
      if (isUnavailable(error)) return showMessage(ctx, world, realm, 'unavailable')
      const { tenantId } = realm.tenant
      world.log.error({ tenant_id: tenantId, request_id: requestIdOf(ctx), error }, 'realm failed')
      await showMessage(ctx, world, realm, 'internal')
    }
  }
}

/**
 * A request for a sign-in may come as a form (OpenID Connect Core, section 3.1.2.1). It goes on as
 * an address, since browsers bring no Lax cookie along with a form of another site.
 */
function postedRequests(realm: Realm, world: RealmWorld): Middleware {
  return async (ctx, next) => {
    if (ctx.method !== 'POST' || ctx.path !== '/authorize') return next()
    const form = await readForm(ctx.req)
    if (form.kind === 'refused') {
      const details = ['invalid_request', `the form was refused: ${form.reason}`]
      return showMessage(ctx, world, realm, 'request_wrong', { details })
    }
    ctx.status = 303
    const query = new URLSearchParams([...form.fields]).toString()
    ctx.redirect(`${realm.issuer}/authorize?${query}`)
  }
}

/** Discovery says what is true of us, and may be kept for as long as a rotation can wait. */
async function publishedDocuments(ctx: RealmContext, next: Next) {
  await next()
  if (!PUBLISHED_PATH.test(ctx.path) || ctx.status !== 200) return
  ctx.set('Cache-Control', 'public, max-age=60')
  const document = ctx.body as Record<string, unknown>
  if ('response_modes_supported' in document) document.response_modes_supported = ['query']
}

/** What a page shows at its top. Its address names its content, so it may be kept for good. */
function logo({ tenant }: Realm, { tenants }: RealmWorld): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/logo' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next()
    const picture = await tenants.logo(tenant)
    if (picture === undefined) return next()
    const isNamed = ctx.query.v === tenant.brandLogoTag
    ctx.status = 200
    ctx.set({
      'Content-Type': picture.mediaType,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': isNamed ? 'public, max-age=31536000, immutable' : 'public, max-age=60',
      ETag: `"${tenant.brandLogoTag}"`,
    })
    if (ctx.fresh) ctx.status = 304
    else ctx.body = picture.bytes
  }
}

/**
 * What a sign-in has come to is for the browser that has shown the proof. The provider goes by this
 * cookie, whatever the address says, so that is what is looked at.
 */
function onlyInItsBrowser(realm: Realm, world: RealmWorld): Middleware {
  const { provider, records } = realm
  const cookies = attemptCookies(realm, world)
  return async (ctx, next) => {
    const uid = ctx.cookies.get(provider.cookieName('resume'), { signed: true })
    const known = uid === undefined ? undefined : await records.signIn(uid)
    if (uid === undefined || known === undefined || known.isFinished) return next()
    const { params } = known.payload
    if (!isBegun(known.payload) || isOfBrowser(known.payload, cookies.hashHeld(ctx, uid)))
      return next()
    return showMessage(ctx, world, realm, 'cookie_missing', { uiLocales: params?.ui_locales })
  }
}

/**
 * Somebody else has signed in with this browser: the account from before leaves, everywhere. The
 * provider would ask for that with a form that sends itself, which needs JavaScript.
 */
function leaveOtherAccount(realm: Realm, world: RealmWorld): Middleware {
  const { provider, records, clientId, tenant } = realm
  return async (ctx, next) => {
    const uid = RESUME_PATH.exec(ctx.path)?.[1]
    if (uid === undefined) return next()
    if (ctx.cookies.get(provider.cookieName('resume'), { signed: true }) !== uid) return next()
    const login = (await records.signIn(uid))?.payload.result?.login
    if (login === undefined) return next()
    const session = await provider.Session.get(ctx)
    if (session.accountId === undefined || session.accountId === login.accountId) return next()
    const sid = session.sidFor(clientId)
    const { tenantId } = tenant
    if (sid !== undefined)
      await asKnown(() => endSession(world, tenantId, sid, 'account_switched', requestIdOf(ctx)))
    await session.destroy()
    return next()
  }
}

/**
 * The provider says by the clock on the wall when its cookies end, and a device whose clock runs
 * ahead may throw them away at once: its owner could never sign in. A length of time means the
 * same on every clock, and wins where both are given (RFC 6265, section 5.3).
 */
async function cookieLengths(ctx: RealmContext, next: () => Promise<unknown>) {
  await next()
  const lines = ctx.res.getHeader('Set-Cookie')
  if (!Array.isArray(lines)) return
  ctx.set('Set-Cookie', lines.map(withLength))
}

function withLength(line: string): string {
  const [, expires] = /; expires=([^;]+)/i.exec(line) ?? []
  if (expires === undefined || /; max-age=/i.test(line)) return line
  const seconds = Math.max(0, Math.round((Date.parse(expires) - Date.now()) / SECOND_MS))
  return `${line}; max-age=${seconds}`
}
