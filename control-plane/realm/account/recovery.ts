/**
 * The way back in, and the first way in: a link by mail, then a password of one's own. Which
 * account a link belongs to is in the store; the page shows it only to who holds the link.
 */
import { Refusal } from '../../../shared/errors.ts'
import { FORM_PAGE_HEADERS, isUnavailable } from '../answers.ts'
import { isFromOwnPage, readForm } from '../../http/form.ts'
import {
  choosePasswordPage,
  confirmEmailPage,
  emailChangedPage,
  forgottenPage,
  mailSentPage,
  passwordSavedPage,
} from '../pages/account-pages.ts'
import { notSignedInPage } from '../pages/account/change-pages.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import { asKnown } from '../../store/precedence.ts'
import type { Queries } from '../../store/engine.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { holderOf } from './holder.ts'
import { askedIn, wasTakenAway } from './asking-session.ts'

const LOGIN_CHARACTERS_MAX = 320
const PASSWORD_PAGES: Readonly<Record<string, 'invite' | 'reset'>> = {
  '/account/invitation': 'invite',
  '/account/new-password': 'reset',
}

export function recoveryPages(realm: Realm, world: RealmWorld) {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { store, accountMail, behindAnswer, tickets, users, policies, log, baseUrl } = world
  const applicationUrl = realm.applicationUrls[0] ?? issuer

  return async function recovery(ctx: RealmContext, next: () => Promise<unknown>) {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
    if (!isRead && ctx.method !== 'POST') return next()
    const passwordKind = PASSWORD_PAGES[ctx.path]
    const isOurs =
      passwordKind !== undefined || /^\/account\/(?:forgotten|new-email)$/.test(ctx.path)
    if (!isOurs) return next()
    if (!isRead && !isFromOwnPage(ctx.req.headers, new URL(baseUrl).origin))
      return showMessage(ctx, world, realm, 'cross_site')
    ctx.set(FORM_PAGE_HEADERS)
    if (ctx.path === '/account/forgotten') return isRead ? askForName(ctx) : sendLink(ctx)
    if (passwordKind === undefined) return newEmail(ctx, isRead)
    return isRead ? askForPassword(ctx, passwordKind) : savePassword(ctx, passwordKind)
  }

  function askForName(ctx: RealmContext) {
    const place = placeOf(ctx, world, realm)
    return showPage(ctx, 200, forgottenPage({ place, action: `${issuer}/account/forgotten` }))
  }

  /** Answered before anything is looked up: neither words nor time tell who has an account. */
  async function sendLink(ctx: RealmContext) {
    const form = await readForm(ctx.req)
    const login = form.kind === 'form' ? (form.fields.get('username') ?? '') : ''
    if (login === '' || login.length > LOGIN_CHARACTERS_MAX) return askForName(ctx)
    const place = placeOf(ctx, world, realm)
    const actor = { name: 'realm', requestId: requestIdOf(ctx) }
    behindAnswer(async () => {
      try {
        await accountMail.forgotten(tenantId, login, actor, place.texts.language)
      } catch (error) {
        log.error({ tenant_id: tenantId, error }, 'a link for a new password was not written')
      }
    })
    return showPage(ctx, 200, mailSentPage(place, applicationUrl))
  }

  async function askForPassword(ctx: RealmContext, kind: 'invite' | 'reset', problem?: string) {
    const secret = secretOf(ctx)
    const ticket = await tickets.look(tenantId, kind, secret)
    if (ticket === undefined) return linkGone(ctx)
    const { username } = await users.get(tenantId, ticket.userId)
    const page = choosePasswordPage({
      place: placeOf(ctx, world, realm),
      action: `${issuer}${ctx.path}?ticket=${encodeURIComponent(secret)}`,
      kind,
      username,
      charactersMin: (await policies.of(tenantId)).password.min_length,
      problem,
    })
    return showPage(ctx, problem === undefined ? 200 : 422, page)
  }

  async function savePassword(ctx: RealmContext, kind: 'invite' | 'reset') {
    const { texts } = placeOf(ctx, world, realm)
    const form = await readForm(ctx.req)
    if (form.kind === 'refused')
      return askForPassword(ctx, kind, texts.steps.passwordProblem.password_too_long)
    const plain = form.fields.get('password') ?? ''
    if (plain !== form.fields.get('repeated'))
      return askForPassword(ctx, kind, texts.account.passwordsDiffer)
    const secret = secretOf(ctx)
    const ticket = await tickets.look(tenantId, kind, secret)
    if (ticket === undefined) return linkGone(ctx)
    const { userId } = ticket
    try {
      const actor = { name: userId, requestId: requestIdOf(ctx) }
      const choose = () =>
        users.choosePassword(tenantId, userId, plain, actor, {
          reason: kind === 'reset' ? 'password_reset' : 'password_chosen',
          isMailProven: true,
          alongside: async (change, user) => {
            const spent = await tickets.spend(change, tenantId, kind, secret)
            if (spent === undefined) throw new Refusal('ticket_spent')
            if (kind === 'reset')
              await accountMail.tellPasswordChanged(change, user, texts.language, {
                areBrowsersForgotten: true,
              })
          },
        })
      const problem = await asKnown(choose) // the link has been shown: it is no stranger
      if (problem !== undefined)
        return await askForPassword(ctx, kind, texts.steps.passwordProblem[problem])
    } catch (error) {
      if (error instanceof Refusal && error.code === 'ticket_spent') return linkGone(ctx)
      if (isUnavailable(error)) return askForPassword(ctx, kind, texts.busy)
      throw error
    }
    accountMail.deliver()
    return showPage(ctx, 200, passwordSavedPage(placeOf(ctx, world, realm), kind, applicationUrl))
  }

  async function newEmail(ctx: RealmContext, isRead: boolean) {
    const secret = secretOf(ctx)
    const place = placeOf(ctx, world, realm)
    const ticket = await tickets.look(tenantId, 'email', secret)
    if (ticket === undefined) return linkGone(ctx)
    const { email, sid } = askedIn(ticket)
    const isVoid = (queries: Queries) => wasTakenAway(queries, tenantId, ticket, sid)
    if (await isVoid(store.read)) return linkGone(ctx)
    // whoever reads the mail may be somebody else, and would give their address to the account of a stranger
    const holder = await holderOf(ctx, realm, world)
    if (holder?.user.userId !== ticket.userId)
      return showPage(ctx, 403, notSignedInPage(place, 'signInForEmail', applicationUrl))
    const action = `${issuer}/account/new-email?ticket=${encodeURIComponent(secret)}`
    if (isRead) return showPage(ctx, 200, confirmEmailPage({ place, action, email }))
    try {
      const actor = { name: ticket.userId, requestId: requestIdOf(ctx) }
      const prove = () =>
        users.proveEmail(tenantId, ticket.userId, email, actor, async (change, before) => {
          const spent = await tickets.spend(change, tenantId, 'email', secret)
          if (spent === undefined || (await isVoid(change.queries)))
            throw new Refusal('ticket_spent')
          await accountMail.tellEmailChanged(change, before, email, place.texts.language)
        })
      await asKnown(prove)
    } catch (error) {
      const isGone =
        error instanceof Refusal && ['ticket_spent', 'email_taken'].includes(error.code)
      if (isGone) return linkGone(ctx)
      throw error
    }
    accountMail.deliver()
    return showPage(ctx, 200, emailChangedPage(place, email, applicationUrl))
  }

  function linkGone(ctx: RealmContext) {
    return showMessage(ctx, world, realm, 'link_gone', { applicationUrl })
  }
}

function secretOf(ctx: RealmContext): string {
  const { ticket } = ctx.query
  return typeof ticket === 'string' && /^[\w-]{1,100}$/.test(ticket) ? ticket : ''
}
