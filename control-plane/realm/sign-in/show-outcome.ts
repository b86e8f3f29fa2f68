/** The answer to each outcome: a page, a message, or the way on. */
import { encodeQR } from 'qr'
import { SECOND_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { authenticationOptions, passkeySite, registrationOptions } from '../../accounts/passkeys.ts'
import { enrolmentUri } from '../../accounts/totp.ts'
import { isMailOffered, isSignUpOpen } from '../../policy/password.ts'
import type { PasswordProblem } from '../../policy/new-password.ts'
import { ATTEMPT_REASONS, type AttemptReason, type RefusalReason } from '../../policy/verdict.ts'
import type { Connection } from '../../connections/connections.ts'
import { upstreamCookies } from '../connections/upstream-cookies.ts'
import { FORM_PAGE_HEADERS, type MessageKind } from '../answers.ts'
import { authorizeAgainUrl } from '../return-urls.ts'
import { devicePage, type DevicePageView } from '../pages/device-page.ts'
import { enrolPage } from '../pages/enrol-page.ts'
import { newPasswordPage } from '../pages/new-password-page.ts'
import { recoveryCodesPage } from '../pages/recovery-codes-page.ts'
import { secondFactorPage } from '../pages/second-factor-page.ts'
import { addressPage } from '../pages/address-page.ts'
import { signInPage } from '../pages/sign-in-page.ts'
import type { Texts } from '../pages/texts/english.ts'
import { SESSION_ENDED, SESSION_ENDINGS } from '../../../shared/sign-in/session-ended.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { signUpIn } from '../sign-up/open.ts'
import { deviceScriptUrl } from './device-proof.ts'
import { finishing } from './finish.ts'
import type { Outcome } from './outcome.ts'
import { LOGIN_CHARACTERS_MAX } from './password-step.ts'
import { passkeyScriptUrl } from './passkey-script.ts'
import { isConfirmation, whereFrom, type BrowserSignIn } from './browser-sign-in.ts'

/** Theirs is a page on which the check can be done again. */
type DeviceRefusal = 'device_not_enrolled' | 'device_not_compliant'

/** What a refusal is told as; the reason itself is in the log and in the events. */
const REFUSAL_PAGES: Record<Exclude<RefusalReason, DeviceRefusal>, MessageKind> = {
  address_unreadable: 'network_denied',
  network_denied: 'network_denied',
  network_not_allowed: 'network_denied',
  user_paused: 'user_paused',
  address_blocked: 'address_blocked',
  too_many_sessions: 'sessions_full',
}

interface PasswordPage {
  readonly status: number
  readonly username?: string | undefined
  readonly problem?: string | undefined
  readonly reason?: AttemptReason | undefined
  /** Where both are there: an address is asked for first, and what was typed leads to a password. */
  readonly step?: 'address' | 'password'
}

/** One answer for all: whoever may not use a password does not learn that it is the right one. */
const MISTAKEN: ReadonlySet<AttemptReason | undefined> = new Set<AttemptReason>([
  'credentials_wrong',
  'account_disabled',
  'connection_required',
])

export function showingOutcomes(realm: Realm, world: RealmWorld) {
  const { tenant, provider, issuer } = realm
  const { store, clock, connections, factors, policies, baseUrl } = world
  const finish = finishing(realm, world)
  const site = passkeySite(baseUrl)

  function textsOf(ctx: RealmContext, signIn: BrowserSignIn): Texts {
    return placeFor(ctx, signIn).texts
  }

  function placeFor(ctx: RealmContext, { interaction }: BrowserSignIn) {
    return placeOf(ctx, world, realm, interaction.params?.ui_locales)
  }

  async function showPassword(ctx: RealmContext, signIn: BrowserSignIn, view: PasswordPage) {
    const { login_hint: loginHint, [SESSION_ENDED]: ended } = signIn.interaction.params ?? {}
    const place = placeFor(ctx, signIn)
    const upstream = upstreamCookies(realm, world)
    const isConnecting = upstream.link(ctx, signIn.uid) !== undefined
    const ending = SESSION_ENDINGS.find((one) => one === ended)
    const { status, reason, step, username = textOf(loginHint) } = view
    const offered = isConnecting ? [] : await connections.active(tenant.tenantId)
    const decided = await policies.of(tenant.tenantId)
    const isNobodys = !isConnecting && !isConfirmation(signIn)
    const isSignUpOffered =
      isNobodys &&
      isSignUpOpen(decided) &&
      (await signUpIn(store.read, tenant.tenantId)) !== undefined
    const isEmergency = !isConnecting && decided.password.sign_in === 'break_glass'
    const isPasswordAsked = step === 'password' || (step === undefined && status !== 200)
    const isAsked = isPasswordAsked || ctx.query.emergency !== undefined
    const mistaken = isEmergency ? 'connection_required' : 'credentials_wrong'
    const said = MISTAKEN.has(reason) ? mistaken : reason
    const { connections: words } = place.texts
    const problem = view.problem ?? (said && place.texts.attempt[said])
    const buttons = offered.map((one) => buttonOf(signIn, one))
    const [only, ...others] = buttons
    const isOneStep = isEmergency && !isAsked && others.length === 0 && problem === undefined
    // a provider that is away sends nobody back: whoever tries again sees the other way
    if (isOneStep && only !== undefined && ending === undefined && !upstream.isAway(ctx))
      return ctx.redirect(only.href)
    ctx.set(FORM_PAGE_HEADERS)
    const shown = {
      place,
      applicationHost: hostOf(signIn),
      action: actionOf(signIn),
      username: username.slice(0, LOGIN_CHARACTERS_MAX),
      isConfirmation: isConfirmation(signIn),
      problem,
      notice: isConnecting ? words.connect : ending && place.texts.sessionEnded[ending],
      connections: buttons,
      signUpUrl: isSignUpOffered ? signUpUrlOf(signIn) : undefined,
    }
    const emergencyUrl = isEmergency && !isAsked ? `${actionOf(signIn)}&emergency` : undefined
    const hasChoice = isEmergency ? others.length > 0 && !isAsked : only !== undefined
    if (hasChoice && !isPasswordAsked)
      return showPage(ctx, status, addressPage({ ...shown, emergencyUrl }))
    const forgottenUrl = `${realm.issuer}/account/forgotten`
    const ways = isEmergency
      ? { isEmergency, emergencyUrl }
      : {
          isMailOffered: !isConnecting && isMailOffered(decided),
          forgottenUrl,
          connections: [],
          otherWaysUrl: only && actionOf(signIn),
        }
    await showPage(ctx, status, signInPage({ ...shown, ...ways }))
  }

  const buttonOf = ({ uid }: BrowserSignIn, { name, connectionId }: Connection) => ({
    name,
    href: `${issuer}/sign-in/${uid}/connection/${connectionId}`,
  })

  /** `isAnswer`: something was sent, so that asking once more means that it was not enough. */
  async function showOutcome(ctx: RealmContext, signIn: BrowserSignIn, outcome: Outcome) {
    const texts = textsOf(ctx, signIn)
    switch (outcome.kind) {
      case 'signed_in':
        return finish.answer(ctx, signIn, outcome.deviceCookie, outcome.replaced)
      case 'go_on': {
        const session = await provider.Session.get(ctx)
        ctx.status = 303
        return ctx.redirect(authorizeAgainUrl(realm, signIn.interaction, session.loginTs))
      }
      case 'refused':
        return showRefusal(ctx, signIn, outcome)
      case 'password': {
        const { username, problem } = outcome
        return showPassword(ctx, signIn, { status: 422, username, reason: problem })
      }
      case 'busy':
        ctx.set('Retry-After', '5')
        return showPassword(ctx, signIn, {
          status: 503,
          username: outcome.username,
          problem: texts.busy,
        })
      case 'other_browser':
        return showMessage(ctx, world, realm, 'cookie_missing', whereFrom(signIn))
      case 'too_often': {
        const { waitSeconds } = outcome
        ctx.set('Retry-After', String(waitSeconds))
        const wait = texts.waitMinutes(Math.ceil((waitSeconds * SECOND_MS) / MINUTE_MS))
        const details = [wait, requestIdOf(ctx)]
        return showMessage(ctx, world, realm, 'too_often', { ...whereFrom(signIn), details })
      }
      case 'unavailable':
      case 'directory_down':
      case 'account_unusable':
        return showMessage(ctx, world, realm, outcome.kind, whereFrom(signIn))
      case 'recovery_codes': {
        ctx.set(FORM_PAGE_HEADERS)
        const { codes } = outcome
        const view = { place: placeFor(ctx, signIn), action: actionOf(signIn), codes }
        return showPage(ctx, 200, recoveryCodesPage(view))
      }
      case 'step':
        return showStep(ctx, signIn, outcome)
    }
  }

  async function showStep(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    outcome: Outcome & { kind: 'step' },
  ) {
    const { step, state, user, factors: kinds } = outcome
    if (step === 'device') {
      const isAsked = outcome.device === undefined || outcome.device.failing.length === 0
      return showDevice(ctx, signIn, isAsked ? 'asked' : 'warned', outcome)
    }
    const { username, userId } = user
    const owner = { tenantId: tenant.tenantId, userId }
    const place = placeFor(ctx, signIn)
    const problem = sentenceOf(place.texts, outcome.problem)
    const action = actionOf(signIn)
    const scriptUrl = passkeyScriptUrl(realm)
    const { challenge, seed } = state
    const isBusy = outcome.problem === 'busy'
    const status = isBusy ? 503 : problem === undefined ? 200 : 422
    if (isBusy) ctx.set('Retry-After', '5')
    ctx.set(FORM_PAGE_HEADERS)
    switch (step) {
      case 'second_factor': {
        const known = site && kinds.includes('passkey') ? await factors.passkeys(owner) : []
        const options =
          site && known.length > 0 ? await authenticationOptions(site, challenge, known) : undefined
        const passkey = options && { options, scriptUrl }
        const hasApp = kinds.includes('totp')
        const view = { place, action, username, hasApp, passkey, problem }
        return showPage(ctx, status, secondFactorPage(view))
      }
      case 'enrol': {
        const registration = { challenge, tenantName: tenant.name, userId, username, known: [] }
        const options = site && (await registrationOptions(site, registration))
        const passkey = options && { options, scriptUrl }
        const qrSvg = encodeQR(enrolmentUri(seed, tenant.name, username), 'svg', { border: 1 })
        const key = seed.replace(/.{4}(?=.)/g, '$& ')
        const view = { place, action, username, key, qrSvg, passkey, problem }
        return showPage(ctx, status, enrolPage(view))
      }
      case 'new_password': {
        const charactersMin = (await policies.of(tenant.tenantId)).password.min_length
        const view = { place, action, username, charactersMin, problem }
        return showPage(ctx, status, newPasswordPage(view))
      }
    }
  }

  async function showRefusal(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    refused: Outcome & { kind: 'refused' },
  ) {
    const { reason, until } = refused
    if (reason === 'device_not_enrolled') return showDevice(ctx, signIn, 'missing', refused)
    if (reason === 'device_not_compliant') return showDevice(ctx, signIn, 'failing', refused)
    const details = [requestIdOf(ctx)]
    if (until !== undefined) {
      const waitMs = Math.max(SECOND_MS, until * SECOND_MS - clock.nowMs())
      ctx.set('Retry-After', String(Math.ceil(waitMs / SECOND_MS)))
      details.unshift(textsOf(ctx, signIn).waitMinutes(Math.ceil(waitMs / MINUTE_MS)))
    }
    const kind = REFUSAL_PAGES[reason]
    return showMessage(ctx, world, realm, kind, { ...whereFrom(signIn), details })
  }

  async function showDevice(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    kind: DevicePageView['kind'],
    outcome: Outcome & { kind: 'step' | 'refused' },
  ) {
    const place = placeFor(ctx, signIn)
    const { failing = [], mayGoOn = false, mayType = false, graceUntil } = outcome.device ?? {}
    const { platform = 'linux' } = outcome.device ?? {}
    const [problem, username] =
      outcome.kind === 'step' ? [outcome.problem, outcome.user.username] : [undefined, '']
    const isUnchecked = problem === 'device_proof_needed'
    const isWrong = problem === 'code_wrong'
    const checkUrl = `${issuer}/sign-in/${signIn.uid}/device`
    ctx.set(FORM_PAGE_HEADERS)
    const page = devicePage({
      ...{
        place,
        action: actionOf(signIn),
        username,
        kind,
        mayGoOn,
        mayType,
        platform,
        failing,
        graceUntil,
      },
      problem: isUnchecked ? place.texts.attempt.device_proof_needed : undefined,
      typedProblem: isWrong ? place.texts.device.typedWrong : undefined,
      ...{ checkUrl, stateUrl: `${checkUrl}/state`, scriptUrl: deviceScriptUrl(realm) },
    })
    return showPage(
      ctx,
      outcome.kind === 'refused' ? 403 : isUnchecked || isWrong ? 422 : 200,
      page,
    )
  }

  function actionOf(signIn: BrowserSignIn): string {
    return `${issuer}/sign-in/${signIn.uid}?app=${encodeURIComponent(hostOf(signIn))}`
  }

  function signUpUrlOf({ uid }: BrowserSignIn): string {
    return `${issuer}/sign-in/${uid}/sign-up`
  }

  return { signUpUrlOf, showOutcome, showPassword, textsOf, actionOf, hostOf }
}

/** That something more is asked for is what the page is there for: only what was wrong is said. */
function sentenceOf(
  texts: Texts,
  problem: AttemptReason | PasswordProblem | 'busy' | undefined,
): string | undefined {
  if (problem === undefined || problem === 'second_factor_needed') return undefined
  if (problem === 'busy') return texts.busy
  if (problem === 'enrolment_needed' || problem === 'password_expired') return undefined
  const reason = ATTEMPT_REASONS.find((one) => one === problem)
  if (reason !== undefined) return texts.attempt[reason]
  return texts.steps.passwordProblem[problem as PasswordProblem]
}

function hostOf({ interaction }: BrowserSignIn): string {
  return new URL(String(interaction.params?.redirect_uri)).host
}

const textOf = (parameter: unknown): string => (typeof parameter === 'string' ? parameter : '')
