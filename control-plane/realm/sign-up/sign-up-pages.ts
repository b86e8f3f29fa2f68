/** The pages of a self sign-up, at an address of the sign-in that it is part of. */
import { addressOf } from '../../listener/client-address.ts'
import { isMailOffered } from '../../policy/password.ts'
import { FORM_PAGE_HEADERS, isUnavailable } from '../answers.ts'
import { mailAskedPage, mailOpenedPage } from '../pages/mail-pages.ts'
import { signUpDetailsPage, signUpPage, signUpWaitingPage } from '../pages/sign-up-pages.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import { stateOf } from '../sign-in/attempt-state.ts'
import { browserSignInOf, whereFrom, type BrowserSignIn } from '../sign-in/browser-sign-in.ts'
import { homeRealm } from '../sign-in/home-realm.ts'
import { SIGN_UP_MAILED, signUpOf } from '../sign-in/mailed-state.ts'
import { reasonOf, type Outcome } from '../sign-in/outcome.ts'
import { showingOutcomes } from '../sign-in/show-outcome.ts'
import { submittedForm } from '../sign-in/submitted-form.ts'
import { askedHere, shownIn, ticketIn } from '../sign-in/shown-mail.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { signUpSteps, type SignUpOutcome } from './sign-up-steps.ts'

const SIGN_UP_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})\/sign-up$/

interface Said {
  readonly problem?: string | undefined
  readonly notice?: string | undefined
  /** What was typed. */
  readonly email?: string
  readonly name?: string
  readonly wrong?: readonly string[]
}

export function signUpPages(realm: Realm, world: RealmWorld) {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { clock, log, policies } = world
  const showing = showingOutcomes(realm, world)
  const { showOutcome, showPassword, textsOf, actionOf, hostOf, signUpUrlOf } = showing
  const steps = signUpSteps(realm, world)
  const homes = homeRealm(realm, world)
  const isOwn = askedHere(realm, world, SIGN_UP_MAILED)

  return async function signUpPages(ctx: RealmContext, next: () => Promise<unknown>) {
    const uid = SIGN_UP_PATH.exec(ctx.path)?.[1]
    if (uid === undefined) return next()
    if (ctx.method === 'POST') return submit(ctx, uid)
    return ctx.method === 'GET' || ctx.method === 'HEAD' ? open(ctx, uid) : next()
  }

  /** Where this sign-up stands, for the browser whose it is. */
  async function show(ctx: RealmContext, signIn: BrowserSignIn, said: Said = {}) {
    const record = await realm.records.signIn(signIn.uid)
    const payload = record?.payload ?? signIn.interaction
    const place = placeOf(ctx, world, realm, payload.params?.ui_locales)
    const state = signUpOf(payload, signIn.browserHash)
    const { problem, notice, email = '', name = '', wrong } = said
    const action = signUpUrlOf(signIn)
    const status = problem === undefined ? 200 : 422
    ctx.set(FORM_PAGE_HEADERS)
    if (state === undefined || said.email !== undefined) {
      const view = { place, action, problem, email, signInUrl: actionOf(signIn) }
      return showPage(ctx, status, signUpPage(view))
    }
    const { login } = state
    if (state.isWaiting === true) {
      const { applicationUrl = issuer } = whereFrom(signIn)
      return showPage(ctx, 200, signUpWaitingPage(place, login, applicationUrl))
    }
    if (steps.provenOf(payload, signIn.browserHash) !== undefined) {
      const decided = await policies.of(tenantId)
      const { min_length: charactersMin, sign_up: signUp } = decided.password
      const has = { hasPassword: !isMailOffered(decided), needsApproval: signUp === 'approval' }
      const view = { place, action, problem, wrong, email: login, name, charactersMin, ...has }
      return showPage(ctx, status, signUpDetailsPage(view))
    }
    const words = place.texts.signUp.sent
    const view = { place, action, login, problem, notice, words, otherWaysUrl: actionOf(signIn) }
    return showPage(ctx, status, mailAskedPage(view))
  }

  async function open(ctx: RealmContext, uid: string) {
    const { ticket } = ctx.query
    if (ticket !== undefined && !(await isOwn(ctx, uid))) return elsewhere(ctx)
    const signIn = await browserSignInOf(ctx, realm, world, uid)
    if (signIn === undefined) return
    if (await isPassed(ctx, signIn)) return ctx.redirect(actionOf(signIn))
    const state = signUpOf(signIn.interaction, signIn.browserHash)
    if (ticket === undefined || state === undefined || state.provenAt !== undefined)
      return show(ctx, signIn)
    const secret = ticketIn(ticket)
    const { signUp, mail } = textsOf(ctx, signIn)
    if (!steps.isOfMail(state, secret)) return show(ctx, signIn, { problem: mail.over })
    const place = placeOf(ctx, world, realm, signIn.interaction.params?.ui_locales)
    ctx.set(FORM_PAGE_HEADERS)
    const view = { place, action: signUpUrlOf(signIn), ticket: secret, words: signUp.opened }
    const whose = { applicationHost: hostOf(signIn), login: state.login }
    return showPage(ctx, 200, mailOpenedPage({ ...view, ...whose }))
  }

  /** Finished, gone on with a password meanwhile, or closed: the sign-in knows how far it has come. */
  async function isPassed(ctx: RealmContext, signIn: BrowserSignIn): Promise<boolean> {
    const { interaction, browserHash, isFinished } = signIn
    if (isFinished || stateOf(interaction, browserHash, clock.nowMs()) !== undefined) return true
    return (await steps.openFor(ctx, signIn)) === undefined
  }

  function elsewhere(ctx: RealmContext) {
    world.signUpMail.count('other_browser')
    return showMessage(ctx, world, realm, 'email_other_browser')
  }

  async function submit(ctx: RealmContext, uid: string) {
    const submitted = await submittedForm(ctx, realm, world, uid)
    if (submitted === undefined) return
    const { signIn, form } = submitted
    if (await isPassed(ctx, signIn)) {
      ctx.status = 303
      return ctx.redirect(actionOf(signIn))
    }
    if (form.kind === 'refused')
      return show(ctx, signIn, { problem: textsOf(ctx, signIn).formTooLong })
    const { fields } = form
    const { interaction, browserHash } = signIn
    const state = signUpOf(interaction, browserHash)
    const isProven = steps.provenOf(interaction, browserHash) !== undefined
    const isAgain = fields.has('again') && !isProven && state?.isWaiting !== true
    const email = isAgain ? state?.login : fields.get('email')
    if (email !== undefined) return ask(ctx, signIn, email)
    if (fields.has('name')) return complete(ctx, signIn, fields)
    const shown = shownIn(fields)
    if (shown !== undefined) return answer(ctx, signIn, await steps.confirm(ctx, signIn, shown))
    return show(ctx, signIn, { problem: textsOf(ctx, signIn).mail.codeNeeded })
  }

  async function ask(ctx: RealmContext, signIn: BrowserSignIn, typed: string) {
    const email = typed.trim()
    const home = await homes.of(email)
    if (home !== undefined) return homes.lead(ctx, signIn, home, email)
    return answer(ctx, signIn, await steps.ask(ctx, signIn, email), { email })
  }

  async function complete(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    fields: ReadonlyMap<string, string>,
  ) {
    const [name = '', password = '', repeated = ''] = ['name', 'password', 'repeated'].map((one) =>
      fields.get(one),
    )
    try {
      const outcome = await steps.complete(ctx, signIn, { name, password, repeated })
      return await answer(ctx, signIn, outcome, { name })
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return show(ctx, signIn, { name, problem: textsOf(ctx, signIn).busy })
    }
  }

  async function answer(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    outcome: SignUpOutcome,
    typed: { readonly email?: string; readonly name?: string } = {},
  ) {
    const texts = textsOf(ctx, signIn)
    const { address, details, taken } = texts.signUp
    const from = { tenant_id: tenantId, request_id: requestIdOf(ctx), ip: addressOf(ctx.req) }
    const reason = reasonOf(outcome as Outcome)
    log.info({ ...from, outcome: outcome.kind, reason }, 'sign-up')
    const { name = '' } = typed
    switch (outcome.kind) {
      case 'asked':
      case 'confirmed':
      case 'waiting':
        ctx.status = 303
        return ctx.redirect(signUpUrlOf(signIn)) // reloading it sends nothing again
      case 'mail_off': // since the page was made
        ctx.status = 303
        return ctx.redirect(actionOf(signIn))
      case 'login_missing':
      case 'address_wrong':
        return show(ctx, signIn, { email: '', ...typed, problem: address.invalid })
      case 'address_refused':
        return show(ctx, signIn, { email: '', ...typed, problem: address.refused })
      case 'name_wrong':
        return show(ctx, signIn, { name, problem: details.nameInvalid, wrong: ['name'] })
      case 'passwords_differ': {
        const problem = texts.account.passwordsDiffer
        return show(ctx, signIn, { name, problem, wrong: ['password', 'repeated'] })
      }
      case 'password_wrong': {
        const problem = texts.steps.passwordProblem[outcome.why]
        return show(ctx, signIn, { name, problem, wrong: ['password'] })
      }
      case 'taken':
        return showPassword(ctx, signIn, { status: 422, problem: taken })
      case 'full':
        return showMessage(ctx, world, realm, 'sign_up_full', whereFrom(signIn))
      case 'mail_wrong':
        return show(ctx, signIn, { problem: texts.attempt.email_code_wrong })
      case 'mail_over':
        return show(ctx, signIn, { problem: texts.mail.over })
      case 'mail_enough':
        return show(ctx, signIn, { notice: texts.mail.enough })
      case 'mail_wait':
        return show(ctx, signIn, { notice: texts.mail.waitSeconds(outcome.waitSeconds) })
      case 'client_wait':
        ctx.set('Retry-After', String(outcome.waitSeconds))
        return showMessage(ctx, world, realm, 'too_many', whereFrom(signIn))
      default:
        return showOutcome(ctx, signIn, outcome)
    }
  }
}
