/**
 * The sign-in of a person, page by page. A sign-in is an `Interaction` of the provider, in the
 * store, held by a cookie of its own; between two requests nothing about it is in memory.
 */
import type { AdapterPayload } from 'oidc-provider'
import { addressOf } from '../listener/client-address.ts'
import { ACR_SECOND_FACTOR } from '../policy/verdict.ts'
import { authorizeAgainUrl } from './return-urls.ts'
import type { Texts } from './pages/texts/english.ts'
import { lacksDevice } from './session-device.ts'
import { requestIdOf, showMessage } from './show.ts'
import { exhausted, isOfAnother } from './sign-in/attempt-state.ts'
import { homeRealm } from './sign-in/home-realm.ts'
import { laterSteps } from './sign-in/later-steps.ts'
import { mailAnswers } from './sign-in/mail-answers.ts'
import { reasonOf, type Outcome } from './sign-in/outcome.ts'
import { passwordStep } from './sign-in/password-step.ts'
import type { Input } from './sign-in/proofs.ts'
import { showingOutcomes } from './sign-in/show-outcome.ts'
import { submittedForm } from './sign-in/submitted-form.ts'
import {
  isOnlyMissing,
  isOnlyStepUp,
  browserSignInOf,
  whereFrom,
  type BrowserSignIn,
} from './sign-in/browser-sign-in.ts'
import type { Realm, RealmContext, RealmWorld } from './world.ts'

const SIGN_IN_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})$/

export function signInPages(realm: Realm, world: RealmWorld) {
  const { tenant, clientId, provider, records } = realm
  const { store, clock, log } = world
  const { showOutcome, showPassword, textsOf } = showingOutcomes(realm, world)
  const tryPassword = passwordStep(realm, world)
  const goOn = laterSteps(realm, world)
  const home = homeRealm(realm, world)
  const mail = mailAnswers(realm, world)

  return async function signInPages(ctx: RealmContext, next: () => Promise<unknown>) {
    const uid = SIGN_IN_PATH.exec(ctx.path)?.[1]
    if (uid === undefined) return next()
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return open(ctx, uid)
    if (ctx.method === 'POST') return submit(ctx, uid)
  }

  async function open(ctx: RealmContext, uid: string) {
    const signIn = await browserSignInOf(ctx, realm, world, uid)
    if (signIn === undefined) return
    const { interaction, isFinished } = signIn
    const session = await provider.Session.get(ctx)
    const isSteppedUp = isOnlyStepUp(signIn) && (await hasShownMore(signIn, session))
    const isAnswered = isFinished || isOnlyMissing(signIn) || isSteppedUp
    if (session.accountId !== undefined && isAnswered && !hasCodesToKeep(interaction))
      return ctx.redirect(authorizeAgainUrl(realm, interaction, session.loginTs)) // another tab did
    if (isFinished) return showMessage(ctx, world, realm, 'expired', whereFrom(signIn))
    if (tenant.licenceBlocksSignin)
      return showMessage(ctx, world, realm, 'licence_blocked', whereFrom(signIn))
    const outcome = await goOn(ctx, signIn, { kind: 'none' })
    if (outcome !== undefined) return showOutcome(ctx, signIn, outcome)
    if (isOfAnother(interaction, signIn.browserHash, clock.nowMs()))
      return showOutcome(ctx, signIn, { kind: 'other_browser' })
    const problem = problemBefore(interaction, textsOf(ctx, signIn))
    return showPassword(ctx, signIn, { status: 200, problem })
  }

  /** Another tab has shown what the session was asked for. */
  async function hasShownMore(
    { interaction }: BrowserSignIn,
    session: Awaited<ReturnType<typeof provider.Session.get>>,
  ): Promise<boolean> {
    const reasons = interaction.prompt?.reasons ?? []
    if (reasons.includes('step_up') && session.acr !== ACR_SECOND_FACTOR) return false
    return (
      !reasons.includes('device') || !(await lacksDevice(world, tenant.tenantId, clientId, session))
    )
  }

  async function submit(ctx: RealmContext, uid: string) {
    const submitted = await submittedForm(ctx, realm, world, uid)
    if (submitted === undefined) return
    const { signIn, form } = submitted
    if (form.kind === 'refused') {
      const status = form.reason === 'too_large' ? 413 : 400
      return showPassword(ctx, signIn, { status, problem: textsOf(ctx, signIn).formTooLong })
    }
    if (form.fields.has('restart')) return restart(ctx, signIn)
    const isElsewhere = form.fields.has('password') || form.fields.has('by_email')
    const named = isElsewhere ? undefined : form.fields.get('username')
    if (named !== undefined && (await home.isAsked(ctx, signIn)))
      return home.goOn(ctx, signIn, named)
    if (form.fields.has('by_email')) return mail.ask(ctx, signIn, form.fields.get('username') ?? '')
    const outcome = await timedOutcome(ctx, signIn, form.fields)
    const { tenantId } = tenant
    const from = { tenant_id: tenantId, request_id: requestIdOf(ctx), ip: addressOf(ctx.req) }
    log.info({ ...from, outcome: outcome.kind, reason: reasonOf(outcome) }, 'sign-in')
    return showOutcome(ctx, signIn, outcome)
  }

  /** How long each step takes and what comes of it, in few words. */
  function timedOutcome(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    fields: ReadonlyMap<string, string>,
  ): Promise<Outcome> {
    return world.tracing.span('sign_in', { attributes: { step: stepOf(fields) } }, async (span) => {
      const outcome = await outcomeOf(ctx, signIn, fields)
      span.set('outcome', outcome.kind)
      return outcome
    })
  }

  async function outcomeOf(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    fields: ReadonlyMap<string, string>,
  ): Promise<Outcome> {
    const login = fields.get('username')
    const password = fields.get('password')
    if (login !== undefined || password !== undefined)
      return tryPassword(ctx, signIn, login ?? '', password ?? '')
    const outcome = await goOn(ctx, signIn, inputOf(fields))
    if (outcome !== undefined) return outcome
    return isOfAnother(signIn.interaction, signIn.browserHash, clock.nowMs())
      ? { kind: 'other_browser' }
      : { kind: 'password', problem: 'password_needed' }
  }

  async function restart(ctx: RealmContext, signIn: BrowserSignIn) {
    const { uid, browserHash } = signIn
    // somebody else's goes on until a password is given here
    await store.changeOf(realm.tenant.tenantId, async ({ queries, nowMs }) => {
      const known = await records.signInIn(queries, uid)
      if (known === undefined || known.isFinished) return
      if (!isOfAnother(known.payload, browserHash, nowMs))
        await records.saveSignIn(queries, uid, exhausted(known.payload))
    })
    return showPassword(ctx, signIn, { status: 200 })
  }
}

const stepOf = (fields: ReadonlyMap<string, string>) =>
  fields.has('username') || fields.has('password') ? 'password' : inputOf(fields).kind

function inputOf(fields: ReadonlyMap<string, string>): Input {
  for (const kind of ['code', 'passkey', 'new_password', 'device', 'device_code'] as const) {
    const value = fields.get(kind)
    if (value !== undefined && value.trim() !== '') return { kind, value }
  }
  return { kind: fields.has('codes_saved') ? 'codes_saved' : 'none' }
}

function hasCodesToKeep(interaction: AdapterPayload): boolean {
  return (
    (interaction as { attempt?: { recoveryCodes?: unknown } }).attempt?.recoveryCodes !== undefined
  )
}

/** The application named an account, and the one that was used is not it. */
function problemBefore(
  { prompt, lastSubmission }: AdapterPayload,
  texts: Texts,
): string | undefined {
  const isOther = prompt?.reasons.includes('other_account') && lastSubmission?.login !== undefined
  return isOther ? texts.otherAccount : undefined
}
