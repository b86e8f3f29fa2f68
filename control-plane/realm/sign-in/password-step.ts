/**
 * The first step. An unknown user, a wrong password and a disabled account are one answer, and
 * cost the same; who is paused is told so before anything is computed.
 */
import { SECOND_MS } from '../../../shared/clock.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { OwnFacts } from '../../accounts/attempts.ts'
import { AccountUnusable, type User } from '../../accounts/users.ts'
import type { SignInState } from '../../policy/sign-in.ts'
import { ACR_SECOND_FACTOR, type PasswordFact } from '../../policy/verdict.ts'
import { notBeforeOf } from '../../store/queries/revocations.ts'
import { findUser } from '../../store/queries/users.ts'
import type { Queries } from '../../store/engine.ts'
import { isSessionOver } from '../session-over.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { beginState, stateOf, withState, type AttemptState } from './attempt-state.ts'
import { deviceViewOf, factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { LATER_STEPS, type Outcome } from './outcome.ts'
import { unlessTooOften } from './person-rate.ts'
import { isEndedSince } from './still-good.ts'
import { callerOf, isOnlyMissing, languageOf, type BrowserSignIn } from './browser-sign-in.ts'

export const LOGIN_CHARACTERS_MAX = 320

export function passwordStep(realm: Realm, world: RealmWorld) {
  const { tenant, records, provider, personRate } = realm
  const { tenantId } = tenant
  const { store, users, attempts, policies, clock } = world
  const { attemptOf, ownFacts, ownSid, withDevice } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const cookies = attemptCookies(realm, world)

  return async function tryPassword(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    login: string,
    plain: string,
  ): Promise<Outcome> {
    if (login === '' || plain === '')
      return { kind: 'password', problem: 'password_needed', username: login }
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    const isPossible = login.length <= LOGIN_CHARACTERS_MAX
    const user = isPossible ? await users.byLogin(tenantId, login) : undefined
    let attempt = attemptOf(caller, { user, login })
    const unproven = await ownFacts(ctx, signIn, caller, user, 'not_given')
    const record = async (facts: OwnFacts) =>
      store.changeOf(tenantId, (change) => attempts.settle(change, attempt, facts, decided))

    const before = await attempts.preview(attempt, unproven, decided)
    if (before.kind === 'refused') return toOutcome(await record(unproven), login)

    // Nothing that was ended while the password is checked opens again with it
    const passwordAt = await givenAt(user?.userId)
    const tried = await verify(login, plain)
    if ('kind' in tried) return tried
    const { password, about, subject } = tried
    let facts: OwnFacts = { ...unproven, password }
    // A directory knows people by more names than we do: their own failures and factors count
    if (about !== undefined && about.userId !== user?.userId) {
      attempt = attemptOf(caller, { user: about, login })
      facts = await ownFacts(ctx, signIn, caller, about, password)
    } else if (about === undefined && subject !== undefined)
      attempt = attemptOf(caller, { user: undefined, login, subject })
    if (tried.isUnusable === true) {
      const now = await attempts.preview(attempt, facts, decided)
      return now.kind === 'refused'
        ? toOutcome(await record(facts), login)
        : { kind: 'account_unusable' }
    }
    if (password !== 'right' || about === undefined) return toOutcome(await record(facts), login)
    return unlessTooOften(goOn(about, facts), () => attempts.refuseTooMany(attempt, facts, decided))

    /** The password is right: what else is asked for depends on the policies. */
    async function goOn(user: User, own: OwnFacts): Promise<Outcome> {
      if (!(await finish.untilIssuable(user.userId))) return { kind: 'unavailable' }
      const secret = cookies.mint(signIn.uid)
      const isLost = await isSessionLost(ctx, signIn)
      const judged = await store.changeOf(tenantId, async (change) => {
        const { queries, nowMs } = change
        await personRate.takePassword(change, tenantId, user.userId, own.device.isKnown)
        const current = await records.signInIn(queries, signIn.uid)
        const interaction = current?.payload ?? signIn.interaction
        const known = stateOf(interaction, signIn.browserHash, nowMs)
        const isOfLost = isLost && known?.sessionTs !== undefined
        const isEnded = known !== undefined && (await isEndedSince(queries, tenantId, known))
        const begun = beginState(user.userId, passwordAt, secret.hash)
        const state = isEnded || isOfLost ? begun : continued(known, begun)
        const password = await stillRight(queries, user, passwordAt)
        const shown = await withDevice(own, state, queries)
        const facts: OwnFacts = { ...shown, password, proof: state.proof ?? 'none' }
        const device = deviceViewOf(facts, decided)
        const settled = await attempts.settle(change, attempt, facts, decided)
        if (settled.kind === 'signed_in') {
          const finished = { user, state, facts, policies: decided, language, signedIn: settled }
          const deviceCookie = await finish.commit(
            change,
            { ...signIn, interaction },
            caller,
            finished,
          )
          return { settled, state, device, deviceCookie }
        }
        const isSaved = settled.kind === 'asking' && settled.step !== 'password'
        if (isSaved) await records.saveSignIn(queries, signIn.uid, withState(interaction, state))
        return { settled, state, device, isSaved }
      })
      const { settled, state, device, deviceCookie, isSaved } = judged
      if (isSaved || deviceCookie !== undefined) cookies.give(ctx, signIn.uid, secret)
      if (deviceCookie !== undefined) {
        const isCounted = decided.session.concurrent_max !== null
        const replaced = isCounted ? await ownSid(ctx, user.userId) : undefined
        return { kind: 'signed_in', deviceCookie, replaced }
      }
      const step = settled.kind === 'asking' && LATER_STEPS.find((one) => one === settled.step)
      if (settled.kind === 'refused') return { ...settled, device }
      if (!step) return toOutcome(settled, login)
      if (step === 'second_factor' && (await hasShownFactor(ctx, signIn, user.userId)))
        return { kind: 'go_on' }
      return { kind: 'step', step, state, user, factors: own.factors, device }
    }
  }

  /** What a session has shown on its way to more is worth as much as that session. */
  async function isSessionLost(ctx: RealmContext, signIn: BrowserSignIn): Promise<boolean> {
    const state = stateOf(signIn.interaction, signIn.browserHash, clock.nowMs())
    if (state?.sessionTs === undefined) return false
    const session = await provider.Session.get(ctx)
    return session.accountId !== state.userId || (await isSessionOver(ctx, world, realm, session))
  }

  /** Who signs in within the second of a revocation waits for the next one to begin. */
  async function givenAt(userId: string | undefined): Promise<number> {
    const notBefore = await notBeforeOf(store.read, tenantId, userId ?? '')
    return Math.max(clock.nowMs(), notBefore * SECOND_MS)
  }

  /** The hash that was compared may have waited while somebody changed what it is compared with. */
  async function stillRight(
    queries: Queries,
    { userId, passwordHash }: User,
    passwordAt: number,
  ): Promise<PasswordFact> {
    const now = await findUser(queries, tenantId, userId)
    if (now === undefined || now.passwordHash !== passwordHash) return 'wrong'
    if (now.isDisabled) return 'right_but_disabled'
    const notBefore = await notBeforeOf(queries, tenantId, userId)
    return passwordAt < notBefore * SECOND_MS ? 'not_given' : 'right'
  }

  async function verify(login: string, plain: string): Promise<Verified | Outcome> {
    // What no account can have is not worth a hash; the answer is the one of a wrong password
    const isPossible =
      login.length <= LOGIN_CHARACTERS_MAX && Buffer.byteLength(plain) <= LIMITS.passwordBytesMax
    if (!isPossible) return { password: 'wrong' }
    try {
      const result = await users.authenticate(tenantId, login, plain)
      if (result.kind === 'ok') return { password: 'right', about: result.user }
      const password = result.reason === 'disabled' ? 'right_but_disabled' : 'wrong'
      return { password, about: result.user, subject: result.subject }
    } catch (error) {
      // told only to who is let at the account: for everybody else it is one more guess
      if (error instanceof AccountUnusable)
        return { password: 'not_given', subject: error.subject, isUnusable: true }
      if (!(error instanceof Refusal)) throw error
      if (error.code === 'unavailable') return { kind: 'busy', username: login }
      if (error.code === 'directory_unavailable') return { kind: 'directory_down' }
      throw error
    }
  }

  /** Another tab of this browser has shown the factor already: nobody is asked for it twice. */
  async function hasShownFactor(ctx: RealmContext, signIn: BrowserSignIn, userId: string) {
    const { accountId, acr } = await provider.Session.get(ctx)
    return isOnlyMissing(signIn) && accountId === userId && acr === ACR_SECOND_FACTOR
  }
}

interface Verified {
  readonly password: PasswordFact
  /** The account that was meant, whether the password is right or not. */
  readonly about?: User | undefined
  /** The same where we have no record of it. */
  readonly subject?: string | undefined
  /** The password is right, and nobody can be let in with it. */
  readonly isUnusable?: boolean
}

/**
 * Once more from the browser whose it was: what has been shown need not be shown again. Its secret,
 * and what an app is set up with, are new all the same.
 */
function continued(known: AttemptState | undefined, begun: AttemptState): AttemptState {
  const isDone = known?.finishedAt !== undefined && known.proof === undefined
  if (known?.userId !== begun.userId || isDone) return begun
  const { sessionTs: _replaced, sessionProvenAt: _old, ...shown } = known
  const { upstream: _elsewhere, sessionUpstream: _by, byMail: _mailed, ...rest } = shown
  const { passwordAt, browserHash, challenge, seed } = begun
  return { ...rest, passwordAt, browserHash, challenge, seed }
}

function toOutcome(settled: SignInState, username: string): Outcome {
  if (settled.kind === 'refused') return { ...settled, kind: 'refused' }
  const problem = settled.kind === 'asking' ? settled.reason : 'credentials_wrong'
  return { kind: 'password', problem, username }
}
