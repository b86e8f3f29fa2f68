/** A sign-in as one browser sees it, and who that browser is. */
import type { AdapterPayload } from 'oidc-provider'
import { countedAs } from '../../../shared/client-address.ts'
import { deviceTokensIn } from '../../accounts/devices.ts'
import { addressOf } from '../../listener/client-address.ts'
import { noteGood } from '../../listener/known-credentials.ts'
import { ACR_SECOND_FACTOR } from '../../policy/verdict.ts'
import { applicationHomeOf } from '../../tenants/application-home.ts'
import { applicationUrlOf } from '../return-urls.ts'
import { cookieValues, pathCookieName } from '../realm-cookies.ts'
import { placeOf, showMessage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { upstreamCookies, type PendingLink } from '../connections/upstream-cookies.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { isAnswered, isOfBrowser } from './attempt-state.ts'

/** A sign-in that this browser may see: still open, or finished a short while ago. */
export interface BrowserSignIn {
  readonly uid: string
  readonly interaction: AdapterPayload
  readonly isFinished: boolean
  /** Of the secret that this browser shows for it. */
  readonly browserHash: string | undefined
}

/** Where a request comes from, as far as it can be told. */
export interface Caller {
  readonly ip: string
  readonly countedAs: string
  readonly userAgent: string
  /** What the browser keeps of earlier sign-ins. */
  readonly deviceTokens: readonly string[]
  /** An identity at a provider that waits for this sign-in. */
  readonly linkFor: (uid: string) => PendingLink | undefined
}

export function callerOf(ctx: RealmContext, realm: Realm, world: RealmWorld): Caller {
  const { tenant } = realm
  const { baseUrl } = world
  const ip = addressOf(ctx.req)
  const name = pathCookieName(tenant.tenantId, 'device', baseUrl.startsWith('https:'))
  const deviceTokens = deviceTokensIn(cookieValues(ctx.get('cookie'), name))
  const linkFor = (uid: string) => upstreamCookies(realm, world).link(ctx, uid)
  const userAgent = ctx.get('user-agent')
  return { ip, countedAs: countedAs(ip), userAgent, deviceTokens, linkFor }
}

/** Only the browser that began a sign-in may go on with it; the others learn what to do. */
export async function browserSignInOf(
  ctx: RealmContext,
  realm: Realm,
  world: RealmWorld,
  uid: string,
): Promise<BrowserSignIn | undefined> {
  const { provider, records } = realm
  const held = ctx.cookies.get(provider.cookieName('interaction'), { signed: true })
  const known = await records.signIn(uid)
  if (known !== undefined && held === uid) {
    const browserHash = attemptCookies(realm, world).hashHeld(ctx, uid)
    if (isAnswered(known.payload) && isOfBrowser(known.payload, browserHash)) noteGood(ctx.req)
    return { uid, interaction: known.payload, isFinished: known.isFinished, browserHash }
  }
  const applicationUrl = applicationUrlOf(realm, ctx.query.app)
  if (known === undefined) {
    const session = await provider.Session.get(ctx)
    if (session.accountId !== undefined && applicationUrl !== undefined)
      ctx.redirect(applicationUrl)
    else await showMessage(ctx, world, realm, 'expired', { applicationUrl })
  } else
    await showMessage(ctx, world, realm, 'cookie_missing', {
      applicationUrl,
      uiLocales: known.payload.params?.ui_locales,
    })
  return undefined
}

export function whereFrom({ interaction }: BrowserSignIn) {
  const { redirect_uri: redirectUri, ui_locales: uiLocales } = interaction.params ?? {}
  return { applicationUrl: applicationHomeOf(String(redirectUri)), uiLocales }
}

export function languageOf(
  ctx: RealmContext,
  world: RealmWorld,
  realm: Realm,
  { interaction }: BrowserSignIn,
): string {
  return placeOf(ctx, world, realm, interaction.params?.ui_locales).texts.language
}

/** The application wants more than a password; its first wish that we know decides. */
export function wantsSecondFactor(acrValues: unknown): boolean {
  const wishes = typeof acrValues === 'string' ? acrValues.split(' ') : []
  return wishes.find((wish) => /^aal\d$/.test(wish)) === ACR_SECOND_FACTOR
}

/** Nothing stood in the way but a session that another tab has opened since. */
export function isOnlyMissing({ interaction }: BrowserSignIn): boolean {
  return interaction.prompt?.reasons.join() === 'no_session'
}

/** The application wants to know once more who is there, whoever is signed in. */
export function isConfirmation({ interaction }: BrowserSignIn): boolean {
  const reasons = interaction.prompt?.reasons ?? []
  return reasons.includes('login_prompt') || reasons.includes('max_age')
}

/** The person is signed in, and only asked for more. */
export function isOnlyStepUp({ interaction }: BrowserSignIn): boolean {
  const reasons = interaction.prompt?.reasons ?? []
  return reasons.length > 0 && reasons.every((one) => one === 'step_up' || one === 'device')
}
