/**
 * The first step of somebody who asks for a mail instead of giving a password. Asking is answered before
 * anybody is looked for; what comes back counts in the browser alone that has asked, so that a link that
 * is planted, or opened by whoever was talked into it, signs nobody in elsewhere. Looking uses nothing up.
 */
import { LIMITS } from '../../../shared/limits.ts'
import { newTicketSecret } from '../../accounts/tickets.ts'
import { isSameSecret } from '../../keys/vault.ts'
import { isMailOffered } from '../../policy/password.ts'
import { judge } from '../../policy/sign-in.ts'
import { takeRate } from '../../store/queries/rates.ts'
import { findUser, updateUser } from '../../store/queries/users.ts'
import type { TenantChange } from '../../store/store.ts'
import { upstreamCookies } from '../connections/upstream-cookies.ts'
import { requestIdOf } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { beginState } from './attempt-state.ts'
import { callerOf, languageOf, type BrowserSignIn } from './browser-sign-in.ts'
import { factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { firstProofs } from './first-proof.ts'
import { isMailOver, mailedOf, nextMailAt, withMailed, type MailedState } from './mailed-state.ts'
import type { Outcome } from './outcome.ts'
import { LOGIN_CHARACTERS_MAX } from './password-step.ts'
import { unlessTooOften } from './person-rate.ts'
import { isReachedByMail, newSignInCode, readSignInCode } from './sign-in-mail.ts'
import { usableUser } from './still-good.ts'

/** What somebody shows of a mail. */
export type ShownOfMail =
  | { readonly kind: 'code'; readonly typed: string }
  | { readonly kind: 'ticket'; readonly secret: string }

/** `asked`: so it was, whatever comes of it. `over`: another one has to be asked for. */
export type MailOutcome =
  | Outcome
  | {
      readonly kind:
        | 'asked'
        | 'mail_over'
        | 'mail_wrong'
        | 'mail_off'
        | 'mail_enough'
        | 'login_missing'
    }
  | { readonly kind: 'mail_wait'; readonly waitSeconds: number }
  | { readonly kind: 'client_wait'; readonly waitSeconds: number }

export function mailSteps(realm: Realm, world: RealmWorld) {
  const { tenant, records, personRate } = realm
  const { tenantId } = tenant
  const { store, vault, clock, log, users, tickets, attempts, devices, policies } = world
  const { signInMail, behindAnswer } = world
  const { attemptOf, ownFacts, ownSid } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const settleFirst = firstProofs(realm, world)
  const cookies = attemptCookies(realm, world)

  const codeHashOf = (uid: string, code: string) =>
    vault.hash(`realm.mailed_code/${tenantId}/${uid}/${code}`)

  /** Whoever connects an account shows its password, not that they read its mail. */
  async function isOffered(ctx: RealmContext, { uid }: BrowserSignIn): Promise<boolean> {
    if (upstreamCookies(realm, world).link(ctx, uid) !== undefined) return false
    return isMailOffered(await policies.of(tenantId))
  }

  /** Everything that can be told apart here depends on who asks, and on nobody's account. */
  async function ask(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    typed: string,
  ): Promise<MailOutcome> {
    const login = typed.trim()
    const { uid } = signIn
    if (!(await isOffered(ctx, signIn))) return { kind: 'mail_off' }
    if (login === '' || login.length > LOGIN_CHARACTERS_MAX) return { kind: 'login_missing' }
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    const user = await users.byLogin(tenantId, login)
    const attempt = attemptOf(caller, { user, login })
    // of the person only whether the browser is theirs: to read of their past would show in the time
    const isKnownDevice = await devices.isKnown(tenantId, user?.userId, caller.deviceTokens)
    const nobodys = await ownFacts(ctx, signIn, caller, undefined, 'not_given')
    const own = { ...nobodys, device: { ...nobodys.device, isKnown: isKnownDevice } }
    const before = await attempts.preview(attempt, own, decided)
    if (before.kind === 'refused')
      return store.changeOf(tenantId, async (change): Promise<Outcome> => {
        const settled = await attempts.settle(change, attempt, own, decided)
        return settled.kind === 'refused' ? settled : { kind: 'unavailable' }
      })
    const browserSecret = cookies.mint(uid)
    const [secret, code] = [newTicketSecret(), newSignInCode()]
    let replacedHash: string | undefined
    const outcome = await store.changeOf(tenantId, async (change): Promise<MailOutcome> => {
      const current = await records.signInIn(change.queries, uid)
      if (current === undefined || current.isFinished) return { kind: 'other_browser' }
      const earlier = mailedOf(current.payload, signIn.browserHash)
      const early = earlier && tooEarly(earlier, change.nowMs)
      if (early !== undefined) return early
      const waitSeconds = await takeRate(change, {
        kind: 'sign-in mails of client',
        key: `${tenantId} ${caller.countedAs}`,
        rate: LIMITS.rateSignInMailsOfClient,
      })
      if (waitSeconds !== undefined) return { kind: 'client_wait', waitSeconds }
      replacedHash = earlier?.ticketHash
      const mailed: MailedState = {
        browserHash: browserSecret.hash,
        login,
        ticketHash: tickets.hashOf(secret),
        codeHash: codeHashOf(uid, code),
        askedAt: change.nowMs,
        failures: 0,
        asked: (earlier?.asked ?? 0) + 1,
      }
      await records.saveSignIn(change.queries, uid, withMailed(current.payload, mailed))
      return { kind: 'asked' }
    })
    if (outcome.kind !== 'asked') return outcome
    cookies.give(ctx, uid, browserSecret, false)
    const { ip, userAgent } = caller
    const asked = { tenantId, uid, userId: user?.userId, secret, code, replacedHash }
    const actor = { name: 'realm', requestId: requestIdOf(ctx) }
    behindAnswer(async () => {
      try {
        await signInMail.send({ ...asked, isKnownDevice, ip, userAgent, language }, actor)
      } catch (error) {
        log.error({ tenant_id: tenantId, error }, 'a mail to sign in with was not written')
      }
    })
    return outcome
  }

  async function redeem(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    shown: ShownOfMail,
  ): Promise<MailOutcome> {
    const { uid, browserHash } = signIn
    if (!(await isOffered(ctx, signIn))) return { kind: 'mail_off' }
    const known = mailedOf(signIn.interaction, browserHash)
    if (known === undefined || isMailOver(known, clock.nowMs())) return { kind: 'mail_over' }
    const isRight = isShown(uid, known, shown)
    // of another mail: nobody guesses at so many letters, and nobody is looked for
    if (!isRight && shown.kind === 'ticket') return { kind: 'mail_over' }
    const { login } = known
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    const user = await users.byLogin(tenantId, login)
    const attempt = attemptOf(caller, { user, login })
    const own = await ownFacts(ctx, signIn, caller, user, 'not_given')
    // a guess does not wait: that there is something to wait for would tell of an account
    if (isRight && !(await finish.untilIssuable(user?.userId ?? ''))) return { kind: 'unavailable' }
    const provenAt = clock.nowMs()
    const browserSecret = cookies.mint(uid)
    const changed = store.changeOf(tenantId, async (change): Promise<MailOutcome> => {
      const { queries, nowMs } = change
      const current = await records.signInIn(queries, uid)
      if (current === undefined || current.isFinished) return { kind: 'other_browser' }
      const interaction = current.payload
      const mailed = mailedOf(interaction, browserHash)
      if (mailed === undefined || isMailOver(mailed, nowMs)) return { kind: 'mail_over' }
      const failed = async (next: MailedState): Promise<MailOutcome> => {
        await records.saveSignIn(queries, uid, withMailed(interaction, next))
        const facts = { ...own, password: 'mail_wrong' } as const
        const settled = await attempts.settle(change, attempt, facts, decided)
        return settled.kind === 'refused' ? settled : { kind: 'mail_wrong' }
      }
      // whoever is paused does not guess on, and the right code is not taken either
      const before = judge(await attempts.withFailures(queries, attempt, own), decided)
      if (before.kind === 'refused') {
        const settled = await attempts.settle(change, attempt, own, decided)
        return settled.kind === 'refused' ? settled : { kind: 'unavailable' }
      }
      if (!isShown(uid, mailed, shown))
        return shown.kind === 'ticket'
          ? { kind: 'mail_over' } // replaced meanwhile
          : failed({ ...mailed, failures: mailed.failures + 1 })
      return take(change, mailed)

      async function take(change: TenantChange, { ticketHash }: MailedState): Promise<MailOutcome> {
        const ticket = await tickets.spendHashed(change, tenantId, 'sign_in', ticketHash)
        if (ticket === undefined || ticket.content !== uid) return { kind: 'mail_over' }
        const { userId } = ticket
        const now = await findUser(queries, tenantId, userId)
        // whose name it was may be another's by now, or be reached another way
        if (now === undefined || userId !== user?.userId || !(await isReachedByMail(queries, now)))
          return { kind: 'mail_over' }
        await personRate.takePassword(change, tenantId, userId, own.device.isKnown)
        const begun = beginState(userId, provenAt, browserSecret.hash)
        const state = { ...begun, byMail: { to: now.emailKey } }
        if ((await usableUser(queries, tenantId, state, undefined)) === undefined)
          return { kind: 'unavailable' }
        if (now.emailProvenAt === null)
          await updateUser(queries, tenantId, userId, { emailProvenAt: nowMs })
        const proven = { signIn, interaction: withMailed(interaction, undefined), user: now, state }
        return settleFirst(change, { ...proven, attempt, own, caller, decided, language })
      }
    })
    const outcome = await unlessTooOften(changed, () =>
      attempts.refuseTooMany(attempt, { ...own, password: 'mailed' }, decided),
    )
    if (outcome.kind === 'mail_wrong') signInMail.count('wrong')
    if (outcome.kind !== 'signed_in' && outcome.kind !== 'step') return outcome
    signInMail.count('used')
    cookies.give(ctx, uid, browserSecret)
    if (outcome.kind !== 'signed_in' || decided.session.concurrent_max === null) return outcome
    return { ...outcome, replaced: await ownSid(ctx, user?.userId) }
  }

  function isShown(uid: string, mailed: MailedState, shown: ShownOfMail): boolean {
    if (shown.kind === 'ticket')
      return isSameSecret(tickets.hashOf(shown.secret), mailed.ticketHash)
    const code = readSignInCode(shown.typed)
    return code !== undefined && isSameSecret(codeHashOf(uid, code), mailed.codeHash)
  }

  return {
    browserHash: cookies.hashHeld,
    isOffered,
    ask,
    redeem,
    isOfMail: (mailed: MailedState, secret: string): boolean =>
      !isMailOver(mailed, clock.nowMs()) && isSameSecret(tickets.hashOf(secret), mailed.ticketHash),
  }
}

function tooEarly(mailed: MailedState, nowMs: number): MailOutcome | undefined {
  const nextAt = nextMailAt(mailed)
  if (nextAt === undefined) return { kind: 'mail_enough' }
  const waitMs = nextAt - nowMs
  return waitMs > 0 ? { kind: 'mail_wait', waitSeconds: Math.ceil(waitMs / 1000) } : undefined
}
