/**
 * The sign-in page and what follows from it. A sign-in is an `Interaction` of the provider, in the
 * store, held by a cookie of its own; between two requests nothing about it is in memory.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdapterPayload } from 'oidc-provider'
import { nowSeconds, SECOND_MS } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { SignInState } from '../policy/sign-in.ts'
import { judge } from '../policy/sign-in.ts'
import { DEFAULT_POLICIES } from '../policy/policies.ts'
import type { PasswordFact, SignInFacts } from '../policy/verdict.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import { addressOf } from './address.ts'
import { FORM_PAGE_HEADERS } from './answers.ts'
import { SIGN_IN_SECONDS } from './configuration.ts'
import { isFromOwnPage, readForm } from './form.ts'
import { applicationUrlOf, authorizeAgainUrl } from './onward.ts'
import { signInPage } from './pages/sign-in-page.ts'
import type { Texts } from './pages/texts/english.ts'
import type { Realm, RealmContext } from './realm.ts'
import { placeOf, requestIdOf, showMessage, showPage } from './show.ts'
import type { RealmWorld } from './world.ts'

const SIGN_IN_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})$/
const LOGIN_CHARACTERS_MAX = 320
/** Timers keep a clock of their own, which may be so much ahead of the wall's. */
const TIMER_EARLY_MS = 2

/** A sign-in that this browser may see: still open, or finished a short while ago. */
interface Visit {
  readonly uid: string
  readonly interaction: AdapterPayload
  readonly isFinished: boolean
}

export function signInPages(realm: Realm, world: RealmWorld) {
  const { tenant, provider, records } = realm
  const { tenantId } = tenant
  const { store, users, clock, log, baseUrl } = world

  return async function signIn(ctx: RealmContext, next: () => Promise<unknown>) {
    const uid = SIGN_IN_PATH.exec(ctx.path)?.[1]
    if (uid === undefined) return next()
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return open(ctx, uid)
    if (ctx.method === 'POST') return submit(ctx, uid)
  }

  async function open(ctx: RealmContext, uid: string) {
    const visit = await visitOf(ctx, uid)
    if (visit === undefined) return
    const session = await provider.Session.get(ctx)
    const { isFinished, interaction } = visit
    const isSignedIn = session.accountId !== undefined
    const isOnlyMissing = interaction.prompt?.reasons.join() === 'no_session'
    if (isSignedIn && (isFinished || isOnlyMissing))
      return ctx.redirect(authorizeAgainUrl(realm, interaction, session.loginTs)) // another tab did
    if (isFinished) return showMessage(ctx, world, realm, 'expired', whereFrom(visit))
    if (tenant.licenceBlocksSignin)
      return showMessage(ctx, world, realm, 'licence_blocked', whereFrom(visit))
    return ask(ctx, visit, {
      status: 200,
      problem: problemBefore(interaction, textsOf(ctx, visit)),
    })
  }

  async function submit(ctx: RealmContext, uid: string) {
    if (!isFromOwnPage(ctx.req.headers, new URL(baseUrl).origin))
      return showMessage(ctx, world, realm, 'cross_site')
    const visit = await visitOf(ctx, uid)
    if (visit === undefined) return
    if (tenant.licenceBlocksSignin)
      return showMessage(ctx, world, realm, 'licence_blocked', whereFrom(visit))
    const form = await readForm(ctx.req)
    if (form.kind === 'refused') {
      ctx.set('Connection', 'close') // the rest of the body is not read
      const status = form.reason === 'too_large' ? 413 : 400
      return ask(ctx, visit, { status, problem: textsOf(ctx, visit).formTooLong })
    }
    const username = form.fields.get('username') ?? ''
    const attempt = await tryPassword(username, form.fields.get('password') ?? '')
    if (attempt === 'busy') {
      ctx.set('Retry-After', '5')
      return ask(ctx, visit, { status: 503, username, problem: textsOf(ctx, visit).busy })
    }
    const { state, userId, why } = attempt
    const ip = addressOf(ctx.req)
    const request_id = requestIdOf(ctx)
    log.info({ tenantId, request_id, ip, outcome: state.kind, reason: why }, 'sign-in')
    if (state.kind === 'signed_in' && userId !== undefined) return finish(ctx, visit, userId, state)
    const reason = state.kind === 'signed_in' ? 'credentials_wrong' : state.reason
    return ask(ctx, visit, { status: 422, username, problem: textsOf(ctx, visit).attempt[reason] })
  }

  /** Only the browser that began a sign-in may go on with it; the others learn what to do. */
  async function visitOf(ctx: RealmContext, uid: string): Promise<Visit | undefined> {
    const held = ctx.cookies.get(provider.cookieName('interaction'), { signed: true })
    const known = await records.signIn(uid)
    if (known !== undefined && held === uid)
      return { uid, interaction: known.payload, isFinished: known.isFinished }
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

  async function ask(
    ctx: RealmContext,
    { uid, interaction }: Visit,
    {
      status,
      username,
      problem,
    }: { status: number; username?: string; problem?: string | undefined },
  ) {
    const { redirect_uri: redirectUri, login_hint: loginHint } = interaction.params ?? {}
    const { host } = new URL(String(redirectUri))
    ctx.set(FORM_PAGE_HEADERS)
    const hint = typeof loginHint === 'string' ? loginHint : ''
    const page = signInPage({
      place: placeOf(ctx, world, realm, interaction.params?.ui_locales),
      applicationHost: host,
      action: `${realm.issuer}/sign-in/${uid}?app=${encodeURIComponent(host)}`,
      username: (username ?? hint).slice(0, LOGIN_CHARACTERS_MAX),
      problem,
    })
    await showPage(ctx, status, page)
  }

  function textsOf(ctx: RealmContext, { interaction }: Visit): Texts {
    return placeOf(ctx, world, realm, interaction.params?.ui_locales).texts
  }

  async function tryPassword(login: string, plain: string) {
    if (login === '' || plain === '') return judged('not_given')
    // What no account can have is not worth a hash; the answer is the one of a wrong password
    const isPossible =
      login.length <= LOGIN_CHARACTERS_MAX && Buffer.byteLength(plain) <= LIMITS.passwordBytesMax
    if (!isPossible) return judged('wrong', 'impossible')
    try {
      const result = await users.authenticate(tenantId, login, plain)
      if (result.kind === 'ok') return judged('right', 'ok', result.user.userId)
      return judged(result.reason === 'disabled' ? 'right_but_disabled' : 'wrong', result.reason)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unavailable') return 'busy' as const
      throw error
    }
  }

  /** The password was right and no policy objects: the provider takes over from here. */
  async function finish(
    ctx: RealmContext,
    visit: Visit,
    userId: string,
    { amr, acr }: SignInState & { kind: 'signed_in' },
  ) {
    const { uid, interaction } = visit
    if (!(await untilIssuable(userId)))
      return showMessage(ctx, world, realm, 'unavailable', whereFrom(visit))
    const ts = nowSeconds(clock)
    const resumed = {
      ...interaction,
      session: undefined, // whoever it was: `leaveOtherAccount` looks at who it is now
      consumed: undefined,
      exp: ts + SIGN_IN_SECONDS,
      result: { login: { accountId: userId, ts, amr: [...amr], acr } },
    }
    await records.adapter('Interaction').upsert(uid, resumed, SIGN_IN_SECONDS)
    const returnTo = interaction.returnTo ?? ''
    // Set once more, since for a form that is sent twice the first answer has taken it away
    ctx.cookies.set(provider.cookieName('resume'), uid, {
      path: new URL(returnTo).pathname,
      maxAge: SIGN_IN_SECONDS * SECOND_MS,
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
    })
    ctx.status = 303
    ctx.redirect(returnTo)
  }

  /**
   * What is issued before a not-before time is dead on arrival. It is at most the next whole
   * second, so we wait for it; anything longer is a clock that has been set back.
   */
  async function untilIssuable(userId: string): Promise<boolean> {
    const notBefore = await notBeforeOf(store.read, tenantId, userId)
    const waitMs = notBefore * SECOND_MS - clock.nowMs()
    if (waitMs > 2 * SECOND_MS) return false
    if (waitMs > 0) await sleep(waitMs + TIMER_EARLY_MS)
    return true
  }
}

function whereFrom({ interaction }: Visit) {
  const { redirect_uri: redirectUri, ui_locales: uiLocales } = interaction.params ?? {}
  return { applicationUrl: new URL('/', String(redirectUri)).href, uiLocales }
}

function judged(password: PasswordFact, why: string = password, userId?: string) {
  return { state: judge({ ...NOTHING_KNOWN, password }, DEFAULT_POLICIES), why, userId }
}

const NOTHING_KNOWN: Omit<SignInFacts, 'password'> = {
  at: 0,
  address: '127.0.0.1',
  failures: { user: [], address: [] },
  passwordChangedAt: null,
  device: { isKnown: false, isEnrolled: false, isNetworkKnown: false },
  factors: [],
  proof: 'none',
  isStepUp: false,
  sessions: 0,
}

/** The application named an account, and the one that was used is not it. */
function problemBefore(
  { prompt, lastSubmission }: AdapterPayload,
  texts: Texts,
): string | undefined {
  const isOther = prompt?.reasons.includes('other_account') && lastSubmission?.login !== undefined
  return isOther ? texts.otherAccount : undefined
}
