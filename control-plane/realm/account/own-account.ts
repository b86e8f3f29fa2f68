/**
 * A person's own account, for whoever holds a session of the realm. Every form goes through the
 * same gate: from our own page, of this very session, and with a fresh proof where it weighs.
 */
import { passkeySite } from '../../accounts/passkeys.ts'
import { FORM_PAGE_HEADERS } from '../answers.ts'
import { isFromOwnPage, readForm } from '../../http/form.ts'
import { confirmPersonPage, notSignedInPage } from '../pages/account/change-pages.ts'
import {
  ownAccountPage,
  type DoneKind,
  type OwnProblem,
} from '../pages/account/own-account-page.ts'
import { english } from '../pages/texts/english.ts'
import { placeOf, requestIdOf, showMessage, showPage } from '../show.ts'
import { asKnown } from '../../store/precedence.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { factorChanges } from './factor-changes.ts'
import { freshProofs, type Proven } from './fresh-proof.ts'
import { holderOf, type Holder } from './holder.ts'
import { endingOwn } from './own-endings.ts'
import {
  wrongPartOf,
  type Back,
  type OwnPage,
  type OwnPageHandler,
  type OwnRequest,
} from './own-page.ts'
import { personChanges } from './person-changes.ts'

const PROOF_FIELDS = [
  'proof_password',
  'passkey_password',
  'proof_code',
  'passkey',
  'username',
  'csrf',
]

export function ownAccountPages(realm: Realm, world: RealmWorld) {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { sessions, devices, enrolledDevices, factors, baseUrl } = world
  const accountUrl = `${issuer}/account`
  const applicationUrl = realm.applicationUrls[0] ?? issuer
  const proofs = freshProofs(realm, world)
  const ending = endingOwn(realm, world)
  const back: Back = { accountUrl, done, problem, proofSentence }

  const pages: Readonly<Record<string, OwnPage>> = {
    '/account': { get: show },
    '/account/sessions': { post: endSessions },
    '/account/devices': { post: forgetDevice },
    '/account/machines': { post: removeMachine },
    '/account/confirm': { post: confirm },
    '/account/codes-kept': { post: async ({ ctx }) => done(ctx) },
    ...personChanges(realm, world, proofs, back),
    ...factorChanges(realm, world, proofs, back),
  }

  return async function ownAccount(ctx: RealmContext, next: () => Promise<unknown>) {
    const page = Object.hasOwn(pages, ctx.path) ? pages[ctx.path] : undefined
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
    const handler = isRead ? page?.get : ctx.method === 'POST' ? page?.post : undefined
    if (page === undefined || handler === undefined) return next()
    if (!isRead && !isFromOwnPage(ctx.req.headers, new URL(baseUrl).origin))
      return showMessage(ctx, world, realm, 'cross_site')
    ctx.set(FORM_PAGE_HEADERS)
    const holder = await holderOf(ctx, realm, world)
    if (holder === undefined) return askToSignIn(ctx)
    return asKnown(() => answerHolder(ctx, page, handler, holder))
  }

  /** What somebody does with their own account, above all for its safety, waits for no stranger. */
  async function answerHolder(
    ctx: RealmContext,
    page: OwnPage,
    handler: OwnPageHandler,
    begun: Holder,
  ) {
    const isRead = ctx.method !== 'POST'
    if (isRead) {
      const request = { ctx, holder: begun, fields: new Map<string, string>() }
      const isOpen = !(await isProofNeeded(page, request))
      const next = ctx.path.slice('/account/'.length)
      return isOpen ? handler(request) : askForProof(request, '/account/confirm', { next })
    }
    const form = await readForm(ctx.req)
    const fields = form.kind === 'form' ? form.fields : new Map<string, string>()
    // a form may be sent for half a minute, and the session may be taken away meanwhile
    const holder = await holderOf(ctx, realm, world)
    if (holder === undefined) return askToSignIn(ctx)
    const request = { ctx, holder, fields }
    const isKept = ctx.path === '/account/codes-kept'
    if (!isKept && fields.get('csrf') !== holder.csrf) return problem(request, 'old_page', 403)
    if (await isProofNeeded(page, request)) {
      // The page before asks for it; what has none goes on behind the question
      if (page.get !== undefined) return redirect(ctx, ctx.path)
      if (!(await isProven(request))) return
    }
    return handler(request)
  }

  async function isProofNeeded({ proof }: OwnPage, { ctx, holder }: OwnRequest) {
    if (proof === undefined || (await proofs.isFresh(ctx, holder))) return false
    return proof === 'always' || (await proofs.kindsOf(holder)).length > 0
  }

  function redirect(ctx: RealmContext, path: string) {
    ctx.status = 303
    ctx.redirect(`${issuer}${path}`)
  }

  /** Leads to where signing in leads back to the account: never a dead end. */
  function askToSignIn(ctx: RealmContext, how: 'once' | 'again' = 'once') {
    const path = `/service/login?returnTo=%2Fservice%2Fme${how === 'again' ? '&step_up=1' : ''}`
    const url = new URL(path, applicationUrl).href
    const text = how === 'again' ? 'signInAgain' : 'notSignedIn'
    return showPage(ctx, 403, notSignedInPage(placeOf(ctx, world, realm), text, url))
  }

  /** False: the proof is asked for, and the form that was sent goes on behind it. */
  async function isProven(request: OwnRequest): Promise<boolean> {
    const { ctx, holder, fields } = request
    if (await proofs.isFresh(ctx, holder)) return true
    const hidden = Object.fromEntries([...fields].filter(([name]) => !PROOF_FIELDS.includes(name)))
    const password = fields.get('proof_password') ?? fields.get('passkey_password')
    if (password === undefined) {
      await askForProof(request, ctx.path, hidden)
      return false
    }
    const proven = await proofs.prove(ctx, holder, {
      password,
      code: fields.get('proof_code') ?? '',
      passkey: fields.get('passkey') ?? '',
    })
    if (proven.kind === 'proven') {
      proofs.remember(ctx, holder, (await proofs.kindsOf(holder)).length > 0)
      return true
    }
    await askForProof(request, ctx.path, hidden, proven)
    return false
  }

  async function askForProof(
    { ctx, holder }: OwnRequest,
    path: string,
    fields: Readonly<Record<string, string>>,
    proven?: Proven,
  ) {
    const { passwordHash, source } = holder.user
    if (passwordHash === '' && source === 'own') return askToSignIn(ctx, 'again')
    const problem = proven && proofSentence(ctx, proven)
    const view = {
      place: placeOf(ctx, world, realm),
      action: `${issuer}${path}`,
      accountUrl,
      username: holder.user.username,
      hidden: { ...fields, csrf: holder.csrf },
      problem,
      wrong: proven && wrongPartOf(proven),
      ...(await proofs.demand(holder)),
    }
    return showPage(ctx, problem === undefined ? 200 : 422, confirmPersonPage(view))
  }

  /** On to the page that was asked for, and to no other address. */
  async function confirm(request: OwnRequest) {
    const { ctx, fields } = request
    const path = `/account/${fields.get('next') ?? ''}`
    const isPage = Object.hasOwn(pages, path) && pages[path]?.get !== undefined
    if (!isPage) return done(ctx)
    if (await isProven(request)) redirect(ctx, path)
  }

  function proofSentence(ctx: RealmContext, proven: Proven): string | undefined {
    const { texts } = placeOf(ctx, world, realm)
    if (proven.kind === 'paused')
      return `${texts.attempt.user_paused} ${texts.waitMinutes(proven.minutes)}`
    const sentences = {
      proven: undefined,
      refused: texts.attempt.network_denied,
      wrong_password: texts.account.own.problems.password_wrong,
      wrong_code: texts.attempt.code_wrong,
      code_missing: texts.attempt.second_factor_needed,
      busy: texts.busy,
    }
    return sentences[proven.kind]
  }

  async function show(request: OwnRequest) {
    const { ctx } = request
    const said = ctx.query.done
    const done = isDone(said) ? said : undefined
    return showAccount(request, 200, { done })
  }

  async function showAccount(
    { ctx, holder }: OwnRequest,
    status: number,
    said: { readonly done?: DoneKind | undefined; readonly problem?: OwnProblem },
  ) {
    const { user, sid, csrf } = holder
    const { userId } = user
    const page = ownAccountPage({
      place: placeOf(ctx, world, realm),
      accountUrl,
      applicationUrl,
      csrf,
      user,
      factors: await factors.list({ tenantId, userId }),
      canAddPasskey: passkeySite(baseUrl) !== undefined,
      sid,
      sessions: await sessions.listAliveOf(tenantId, userId),
      devices: await devices.list(tenantId, userId),
      machines: await enrolledDevices.ofPerson(tenantId, userId),
      ...said,
    })
    return showPage(ctx, status, page)
  }

  function done(ctx: RealmContext, kind?: DoneKind) {
    redirect(ctx, kind === undefined ? '/account' : `/account?done=${kind}`)
  }

  function problem(request: OwnRequest, problem: OwnProblem, status = 422) {
    return showAccount(request, status, { problem })
  }

  async function endSessions(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const { userId } = holder.user
    if (fields.has('others')) {
      await ending.endOthers(userId, holder.sid, requestIdOf(ctx))
      return done(ctx, 'others')
    }
    const sid = fields.get('sid') ?? ''
    const isEnded = await ending.endSession(userId, sid, requestIdOf(ctx))
    return isEnded ? done(ctx, 'session') : problem(request, 'session_gone', 404)
  }

  async function removeMachine(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const device = fields.get('device') ?? ''
    const isRemoved = await ending.removeMachine(holder.user.userId, device, requestIdOf(ctx))
    return isRemoved ? done(ctx, 'machine') : problem(request, 'machine_gone', 404)
  }

  async function forgetDevice(request: OwnRequest) {
    const { ctx, holder, fields } = request
    const device = fields.get('device') ?? ''
    const isForgotten = await ending.forgetDevice(holder.user.userId, device, requestIdOf(ctx))
    return isForgotten ? done(ctx, 'device') : problem(request, 'device_gone', 404)
  }
}

function isDone(said: unknown): said is DoneKind {
  return typeof said === 'string' && Object.hasOwn(english.account.own.done, said)
}
