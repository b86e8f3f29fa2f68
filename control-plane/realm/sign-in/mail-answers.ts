/**
 * The pages of a sign-in by email. The link in the mail leads to a page with a button, in the browser that
 * has asked; in every other it says where to go on, and that is all.
 */
import { addressOf } from '../../listener/client-address.ts'
import { FORM_PAGE_HEADERS } from '../answers.ts'
import { mailOpenedPage, mailAskedPage } from '../pages/mail-pages.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { stateOf } from './attempt-state.ts'
import { browserSignInOf, whereFrom, type BrowserSignIn } from './browser-sign-in.ts'
import { homeRealm } from './home-realm.ts'
import { SIGN_IN_MAILED, mailedOf } from './mailed-state.ts'
import { mailSteps } from './mail-step.ts'
import { reasonOf, type MailOutcome, type Outcome } from './outcome.ts'
import { showingOutcomes } from './show-outcome.ts'
import { askedHere, shownIn, ticketIn } from './shown-mail.ts'
import { submittedForm } from './submitted-form.ts'

const MAIL_PATH = /^\/sign-in\/([A-Za-z0-9_-]{20,64})\/email$/

export function mailAnswers(realm: Realm, world: RealmWorld) {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { clock, log } = world
  const { showOutcome, showPassword, textsOf, actionOf, hostOf } = showingOutcomes(realm, world)
  const steps = mailSteps(realm, world)
  const homes = homeRealm(realm, world)
  const isOwn = askedHere(realm, world, SIGN_IN_MAILED)

  const mailUrl = ({ uid }: BrowserSignIn) => `${issuer}/sign-in/${uid}/email`

  /** From the page of the password, with what was typed there as a name. */
  async function ask(ctx: RealmContext, signIn: BrowserSignIn, typed: string) {
    const login = typed.trim()
    const home = (await steps.isOffered(ctx, signIn)) ? await homes.of(login) : undefined
    if (home !== undefined) return homes.lead(ctx, signIn, home, login)
    return answer(ctx, signIn, await steps.ask(ctx, signIn, typed), login)
  }

  async function answer(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    outcome: MailOutcome,
    username = '',
  ) {
    const texts = textsOf(ctx, signIn)
    note(ctx, outcome)
    switch (outcome.kind) {
      case 'asked':
        ctx.status = 303
        return ctx.redirect(mailUrl(signIn))
      case 'login_missing':
        return showPassword(ctx, signIn, { status: 422, problem: texts.mail.addressNeeded })
      case 'mail_off': // since the page was made
        return showPassword(ctx, signIn, { status: 422, username, reason: 'password_needed' })
      case 'mail_wrong':
        return waiting(ctx, signIn, { problem: texts.attempt.email_code_wrong })
      case 'mail_over':
        return waiting(ctx, signIn, { problem: texts.mail.over })
      case 'mail_enough':
        return waiting(ctx, signIn, { notice: texts.mail.enough })
      case 'mail_wait':
        return waiting(ctx, signIn, { notice: texts.mail.waitSeconds(outcome.waitSeconds) })
      case 'client_wait':
        ctx.set('Retry-After', String(outcome.waitSeconds))
        return showMessage(ctx, world, realm, 'too_many', whereFrom(signIn))
      default:
        return showOutcome(ctx, signIn, outcome)
    }
  }

  function note(ctx: RealmContext, outcome: MailOutcome) {
    const from = { tenant_id: tenantId, request_id: requestIdOf(ctx), ip: addressOf(ctx.req) }
    const reason = reasonOf(outcome as Outcome)
    log.info({ ...from, outcome: outcome.kind, reason }, 'sign-in by email')
  }

  /**
   * While the mail is on its way. Who has asked for none has the page of the password, and who has come on
   * since (a second click) what is asked for there.
   */
  async function waiting(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    { problem, notice }: { readonly problem?: string; readonly notice?: string } = {},
  ) {
    const record = await realm.records.signIn(signIn.uid)
    const mailed = record && mailedOf(record.payload, signIn.browserHash)
    ctx.status = 303
    if (mailed === undefined) return ctx.redirect(actionOf(signIn))
    const place = placeOf(ctx, world, realm, signIn.interaction.params?.ui_locales)
    ctx.set(FORM_PAGE_HEADERS)
    const view = { place, action: mailUrl(signIn), login: mailed.login, problem, notice }
    const page = mailAskedPage({ ...view, otherWaysUrl: actionOf(signIn) })
    return showPage(ctx, problem === undefined ? 200 : 422, page)
  }

  /** Programs that look for malware open every link, some of them all that a page has: nothing happens. */
  async function open(ctx: RealmContext, uid: string) {
    const { ticket } = ctx.query
    const isLink = ticket !== undefined
    if (isLink && !(await isOwn(ctx, uid))) return elsewhere(ctx)
    const signIn = await browserSignInOf(ctx, realm, world, uid)
    if (signIn === undefined) return
    const { interaction, browserHash, isFinished } = signIn
    const mailed = mailedOf(interaction, browserHash)
    const isPassed = isFinished || stateOf(interaction, browserHash, clock.nowMs()) !== undefined
    if (isPassed || mailed === undefined || !(await steps.isOffered(ctx, signIn))) {
      ctx.status = 303
      return ctx.redirect(actionOf(signIn)) // which knows how far it has come
    }
    if (!isLink) return waiting(ctx, signIn)
    const secret = ticketIn(ticket)
    if (!steps.isOfMail(mailed, secret))
      return waiting(ctx, signIn, { problem: textsOf(ctx, signIn).mail.over })
    const place = placeOf(ctx, world, realm, interaction.params?.ui_locales)
    ctx.set(FORM_PAGE_HEADERS)
    const applicationHost = hostOf(signIn)
    const { login } = mailed
    const view = { place, action: mailUrl(signIn), ticket: secret, applicationHost, login }
    return showPage(ctx, 200, mailOpenedPage(view))
  }

  function elsewhere(ctx: RealmContext) {
    world.signInMail.count('other_browser')
    return showMessage(ctx, world, realm, 'email_other_browser')
  }

  async function submit(ctx: RealmContext, uid: string) {
    const submitted = await submittedForm(ctx, realm, world, uid)
    if (submitted === undefined) return
    const { signIn, form } = submitted
    if (form.kind === 'refused') return waiting(ctx, signIn)
    const { interaction, browserHash } = signIn
    const mailed = mailedOf(interaction, browserHash)
    if (form.fields.has('again') && mailed !== undefined) return ask(ctx, signIn, mailed.login)
    const shown = shownIn(form.fields)
    if (shown === undefined) {
      const { codeNeeded } = textsOf(ctx, signIn).mail
      return waiting(ctx, signIn, { problem: codeNeeded })
    }
    return answer(ctx, signIn, await steps.redeem(ctx, signIn, shown))
  }

  return { ask, open, submit }
}

export function mailPages(realm: Realm, world: RealmWorld) {
  const { open, submit } = mailAnswers(realm, world)
  return async function mailPages(ctx: RealmContext, next: () => Promise<unknown>) {
    const uid = MAIL_PATH.exec(ctx.path)?.[1]
    if (uid === undefined) return next()
    if (ctx.method === 'POST') return submit(ctx, uid)
    return ctx.method === 'GET' || ctx.method === 'HEAD' ? open(ctx, uid) : next()
  }
}
