/**
 * What leads to an account that somebody makes themselves: a mail that only they read, what they are called,
 * and a password. Before the mail there is nothing; behind it either an account, which goes on as behind any
 * first proof, or somebody who waits for an administrator and has neither session nor password until then.
 */
import { randomBytes } from 'node:crypto'
import type { AdapterPayload } from 'oidc-provider'
import { LIMITS } from '../../../shared/limits.ts'
import { hasUnseen } from '../../../shared/unseen.ts'
import { isEmailAddress, isOneMailbox } from '../../accounts/email-address.ts'
import { fold } from '../../accounts/login-keys.ts'
import type { PasswordProblem } from '../../policy/new-password.ts'
import { isMailOffered } from '../../policy/password.ts'
import { judge } from '../../policy/sign-in.ts'
import type { Policies } from '../../policy/policies.ts'
import { takeEachRate } from '../../store/queries/rates.ts'
import { countSignUps, findSignUpOf, insertSignUp } from '../../store/queries/sign-ups.ts'
import { findUserByKey } from '../../store/queries/users.ts'
import type { TenantChange } from '../../store/store.ts'
import { upstreamCookies } from '../connections/upstream-cookies.ts'
import { requestIdOf } from '../show.ts'
import { askerRates } from '../sign-in/asker-rates.ts'
import { mailAsking } from '../sign-in/asked-mail.ts'
import { attemptCookies } from '../sign-in/attempt-cookie.ts'
import { beginState, PASSWORD_KEPT_MS } from '../sign-in/attempt-state.ts'
import {
  callerOf,
  isConfirmation,
  languageOf,
  whereFrom,
  type BrowserSignIn,
  type Caller,
} from '../sign-in/browser-sign-in.ts'
import { factsAbout } from '../sign-in/facts.ts'
import { finishing } from '../sign-in/finish.ts'
import { firstProofs } from '../sign-in/first-proof.ts'
import {
  isMailOver,
  SIGN_UP_MAILED,
  signUpOf,
  withSignUp,
  type SignUpState,
} from '../sign-in/mailed-state.ts'
import type { MailOutcome } from '../sign-in/outcome.ts'
import { unlessTooOften } from '../sign-in/person-rate.ts'
import { mailGuesses, type ShownOfMail } from '../sign-in/shown-mail.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { isDomainAllowed, isDomainConnected, mayHaveAccount, signUpIn } from './open.ts'
import { createSignedUp } from './sign-ups.ts'

/** `refused`: not with this address. `taken`: told only to who has shown that they read its mail. */
export type SignUpOutcome =
  | MailOutcome
  | { readonly kind: 'confirmed' | 'waiting' | 'taken' | 'full' }
  | { readonly kind: 'address_wrong' | 'address_refused' | 'name_wrong' | 'passwords_differ' }
  | { readonly kind: 'password_wrong'; readonly why: PasswordProblem }

interface Details {
  readonly name: string
  readonly password: string
  readonly repeated: string
}

/** All that is known when the account, or the request for it, is written. */
interface Completing {
  readonly signIn: BrowserSignIn
  readonly caller: Caller
  readonly decided: Policies
  readonly language: string
  readonly name: string
  readonly passwordHash: string
  readonly requestId: string
}

export function signUpSteps(realm: Realm, world: RealmWorld) {
  const { tenant, records } = realm
  const { tenantId } = tenant
  const { store, clock, tickets, attempts, policies, signUpMail } = world
  const { attemptOf, ownFacts } = factsAbout(realm, world)
  const cookies = attemptCookies(realm, world)
  const finish = finishing(realm, world)
  const settleFirst = firstProofs(realm, world)
  const askForMail = mailAsking(realm, world)
  const { isShown, guess } = mailGuesses(realm, world)

  /** Not to who is signed in, or connects an account that they have. */
  async function openFor(ctx: RealmContext, signIn: BrowserSignIn) {
    if (isConfirmation(signIn)) return undefined
    if (upstreamCookies(realm, world).link(ctx, signIn.uid) !== undefined) return undefined
    return signUpIn(store.read, tenantId)
  }

  async function ask(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    typed: string,
  ): Promise<SignUpOutcome> {
    const email = typed.trim()
    const open = await openFor(ctx, signIn)
    if (open === undefined) return { kind: 'mail_off' }
    if (!isEmailAddress(email) || !isOneMailbox(email)) return { kind: 'address_wrong' }
    if (!isDomainAllowed(open, email) || (await isDomainConnected(store.read, tenantId, email)))
      return { kind: 'address_refused' }
    return askForMail(ctx, signIn, {
      ...{ login: email, kept: SIGN_UP_MAILED },
      rateOfClient: { kind: 'sign-up mails of client', rate: LIMITS.rateSignUpMailsOfClient },
      send: (asked, actor) => signUpMail.send({ ...asked, email }, actor),
    })
  }

  async function confirm(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    shown: ShownOfMail,
  ): Promise<SignUpOutcome> {
    const { uid, browserHash } = signIn
    if ((await openFor(ctx, signIn)) === undefined) return { kind: 'mail_off' }
    if (provenOf(signIn.interaction, browserHash) !== undefined) return { kind: 'confirmed' }
    const known = signUpOf(signIn.interaction, browserHash)
    if (known === undefined || isMailOver(known, clock.nowMs())) return { kind: 'mail_over' }
    if (shown.kind === 'ticket' && !isShown(uid, known, shown)) return { kind: 'mail_over' }
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const attempt = attemptOf(caller, { user: undefined, login: known.login })
    const own = await ownFacts(ctx, signIn, caller, undefined, 'not_given')
    const browserSecret = cookies.mint(uid)
    let isProven = false
    const outcome = await store.changeOf(tenantId, (change) => {
      const guessed = { signIn, kept: SIGN_UP_MAILED, shown, attempt, own, decided }
      return guess(change, guessed, async (interaction, mailed): Promise<MailOutcome> => {
        const ticket = await tickets.spendHashed(change, tenantId, 'sign_up', mailed.ticketHash)
        if (ticket === undefined || ticket.content !== fold(mailed.login))
          return { kind: 'mail_over' }
        const proven = { ...mailed, browserHash: browserSecret.hash, provenAt: change.nowMs }
        await records.saveSignIn(change.queries, uid, withSignUp(interaction, proven))
        isProven = true
        return { kind: 'asked' }
      })
    })
    if (outcome.kind === 'mail_wrong') signUpMail.count('wrong')
    if (!isProven) return outcome
    cookies.give(ctx, uid, browserSecret)
    return { kind: 'confirmed' }
  }

  /** Whose address is proven, and who has not said yet who they are. */
  function provenOf(payload: AdapterPayload, browserHash: string | undefined) {
    const state = signUpOf(payload, browserHash)
    const isOver = clock.nowMs() >= (state?.provenAt ?? 0) + PASSWORD_KEPT_MS
    return isOver || state?.isWaiting === true ? undefined : state
  }

  async function complete(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    { name: typed, password, repeated }: Details,
  ): Promise<SignUpOutcome> {
    if ((await openFor(ctx, signIn)) === undefined) return { kind: 'mail_off' }
    const proven = provenOf(signIn.interaction, signIn.browserHash)
    if (proven === undefined) return { kind: 'mail_over' }
    const name = typed.trim()
    const isName = name !== '' && name.length <= LIMITS.nameCharactersMax && name.isWellFormed()
    if (!isName || hasUnseen(name)) return { kind: 'name_wrong' }
    const { login: email } = proven
    const decided = await policies.of(tenantId)
    let passwordHash = ''
    if (!isMailOffered(decided)) {
      if (password !== repeated) return { kind: 'passwords_differ' }
      const whose = { tenantId, username: email, email, name }
      const why = await world.passwordRules.check(password, whose, decided.password)
      if (why !== undefined) return { kind: 'password_wrong', why }
      passwordHash = await world.passwords.hash(password, tenantId)
    }
    if (!(await finish.untilIssuable(''))) return { kind: 'unavailable' }
    const caller = callerOf(ctx, realm, world)
    const language = languageOf(ctx, world, realm, signIn)
    const requestId = requestIdOf(ctx)
    const given = { signIn, caller, decided, language, name, passwordHash, requestId }
    const own = await ownFacts(ctx, signIn, caller, undefined, 'not_given')
    const attempt = attemptOf(caller, { user: undefined, login: email })
    const browserSecret = cookies.mint(signIn.uid)
    const outcome = await unlessTooOften(
      store.changeOf(tenantId, async (change): Promise<SignUpOutcome> => {
        const current = await records.signInIn(change.queries, signIn.uid)
        if (current === undefined || current.isFinished) return { kind: 'other_browser' }
        const state = provenOf(current.payload, signIn.browserHash)
        if (state === undefined) return { kind: 'mail_over' }
        const before = judge(await attempts.withFailures(change.queries, attempt, own), decided)
        if (before.kind === 'refused') {
          const settled = await attempts.settle(change, attempt, own, decided)
          return settled.kind === 'refused' ? settled : { kind: 'unavailable' }
        }
        return write(
          change,
          { ...given, signIn: { ...signIn, interaction: current.payload } },
          state,
        )
      }),
      () => attempts.refuseTooMany(attempt, own, decided),
    )
    if (outcome.kind === 'waiting') signUpMail.count('requested')
    if (outcome.kind !== 'signed_in' && outcome.kind !== 'step') return outcome
    signUpMail.count('created')
    cookies.give(ctx, signIn.uid, browserSecret)
    return outcome

    async function write(
      change: TenantChange,
      completing: Completing,
      state: SignUpState,
    ): Promise<SignUpOutcome> {
      const { queries } = change
      const emailKey = fold(email)
      if (!(await mayHaveAccount(queries, tenantId, { email, emailKey })))
        return { kind: 'address_refused' }
      if ((await findUserByKey(queries, tenantId, 'emailKey', emailKey)) !== undefined)
        return { kind: 'taken' }
      const open = await signUpIn(queries, tenantId)
      if (open?.sign_up === 'approval') return wait(change, completing, state)
      if (!(await takeEachRate(change, ratesOf(caller)))) return { kind: 'full' }
      return begin(change, completing, state)
    }

    /** The account is there, and its person comes in like everybody else. */
    async function begin(change: TenantChange, completing: Completing, state: SignUpState) {
      const actor = { name: 'realm', requestId }
      const { provenAt = change.nowMs } = state
      const account = { tenantId, email, name, passwordHash, provenAt }
      const user = await createSignedUp(change, account, actor, { by: 'sign_up' })
      const begun = beginState(user.userId, change.nowMs, browserSecret.hash)
      const byMail = passwordHash === '' ? { byMail: { to: user.emailKey } } : {}
      const { interaction } = completing.signIn
      return settleFirst(change, {
        ...{ caller, decided, language, user },
        signIn: completing.signIn,
        interaction: withSignUp(interaction, undefined),
        state: { ...begun, ...byMail },
        attempt: attemptOf(caller, { user, login: email }),
        own: {
          ...own,
          ...{ userId: user.userId, password: 'right' },
          passwordChangedAt: Math.floor(user.passwordChangedAt / 1000),
        },
      })
    }
  }

  /** Whoever waits already does so with what they have given first. */
  async function wait(
    { queries, nowMs, audit }: TenantChange,
    { signIn, caller, language, name, passwordHash, requestId }: Completing,
    state: SignUpState,
  ): Promise<SignUpOutcome> {
    const email = state.login
    const emailKey = fold(email)
    if ((await findSignUpOf(queries, tenantId, emailKey)) === undefined) {
      if ((await countSignUps(queries, tenantId)) >= LIMITS.signUpsWaitingMax)
        return { kind: 'full' }
      if (!(await takeEachRate({ queries, nowMs }, ratesOf(caller)))) return { kind: 'full' }
      const signUpId = `sup_${randomBytes(16).toString('hex')}`
      await insertSignUp(queries, {
        ...{ signUpId, tenantId, email, emailKey, name, passwordHash, language },
        applicationUrl: whereFrom(signIn).applicationUrl,
        ip: caller.ip.slice(0, LIMITS.addressTextMax),
        provenAt: state.provenAt ?? nowMs,
        createdAt: nowMs,
        expiresAt: nowMs + LIMITS.signUpKeptMs,
        toldAt: null,
      })
      const content = { sign_up_id: signUpId, email }
      await audit({ name: 'realm', requestId }, { action: 'sign_up.requested', tenantId, content })
    }
    const { interaction, uid } = signIn
    await records.saveSignIn(queries, uid, withSignUp(interaction, { ...state, isWaiting: true }))
    return { kind: 'waiting' }
  }

  const ratesOf = (caller: Caller) => [
    ...askerRates(tenantId, caller, 'sign-ups of client', LIMITS.rateSignUpsOfClientADay),
    { kind: 'sign-ups of tenant', key: tenantId, rate: LIMITS.rateSignUpsOfTenantADay },
  ]

  return {
    openFor,
    ask,
    confirm,
    provenOf,
    complete,
    isOfMail: (state: SignUpState, secret: string): boolean =>
      !isMailOver(state, clock.nowMs()) && isShown('', state, { kind: 'ticket', secret }),
  }
}
