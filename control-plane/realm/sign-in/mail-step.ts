/**
 * The first step of somebody who asks for a mail instead of giving a password. Asking is answered before
 * anybody is looked for; what comes back counts in the browser alone that has asked, so that a link that
 * is planted, or opened by whoever was talked into it, signs nobody in elsewhere. Looking uses nothing up.
 */
import type { AdapterPayload } from 'oidc-provider'
import { LIMITS } from '../../../shared/limits.ts'
import { isSameSecret } from '../../keys/vault.ts'
import { isMailOffered } from '../../policy/password.ts'
import { findUser, updateUser } from '../../store/queries/users.ts'
import type { TenantChange } from '../../store/store.ts'
import { upstreamCookies } from '../connections/upstream-cookies.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { beginState } from './attempt-state.ts'
import { mailAsking } from './asked-mail.ts'
import { callerOf, languageOf, type BrowserSignIn } from './browser-sign-in.ts'
import { factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { firstProofs } from './first-proof.ts'
import {
  isMailOver,
  mailedOf,
  SIGN_IN_MAILED,
  withMailed,
  type MailedState,
} from './mailed-state.ts'
import type { MailOutcome } from './outcome.ts'
import { LOGIN_CHARACTERS_MAX } from './password-step.ts'
import { unlessTooOften } from './person-rate.ts'
import { mailGuesses, type ShownOfMail } from './shown-mail.ts'
import { isReachedByMail } from './sign-in-mail.ts'
import { usableUser } from './still-good.ts'

export function mailSteps(realm: Realm, world: RealmWorld) {
  const { tenant, personRate } = realm
  const { tenantId } = tenant
  const { store, clock, users, tickets, attempts, policies, signInMail } = world
  const { attemptOf, ownFacts, ownSid } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const settleFirst = firstProofs(realm, world)
  const cookies = attemptCookies(realm, world)

  const askForMail = mailAsking(realm, world)
  const { isShown, guess } = mailGuesses(realm, world)

  /** Whoever connects an account shows its password, not that they read its mail. */
  async function isOffered(ctx: RealmContext, { uid }: BrowserSignIn): Promise<boolean> {
    if (upstreamCookies(realm, world).link(ctx, uid) !== undefined) return false
    return isMailOffered(await policies.of(tenantId))
  }

  async function ask(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    typed: string,
  ): Promise<MailOutcome> {
    const login = typed.trim()
    if (!(await isOffered(ctx, signIn))) return { kind: 'mail_off' }
    if (login === '' || login.length > LOGIN_CHARACTERS_MAX) return { kind: 'login_missing' }
    const user = await users.byLogin(tenantId, login)
    return askForMail(ctx, signIn, {
      ...{ login, user, kept: SIGN_IN_MAILED },
      rateOfClient: { kind: 'sign-in mails of client', rate: LIMITS.rateSignInMailsOfClient },
      send: (asked, actor) => signInMail.send({ ...asked, userId: user?.userId }, actor),
    })
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
    const changed = store.changeOf(tenantId, (change): Promise<MailOutcome> => {
      const guessed = { signIn, kept: SIGN_IN_MAILED, shown, attempt, own, decided }
      return guess(change, guessed, (interaction, mailed) => take(change, interaction, mailed))
    })

    async function take(
      change: TenantChange,
      interaction: AdapterPayload,
      { ticketHash }: MailedState,
    ): Promise<MailOutcome> {
      const { queries, nowMs } = change
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

  return {
    isOffered,
    ask,
    redeem,
    isOfMail: (mailed: MailedState, secret: string): boolean =>
      !isMailOver(mailed, clock.nowMs()) && isSameSecret(tickets.hashOf(secret), mailed.ticketHash),
  }
}
