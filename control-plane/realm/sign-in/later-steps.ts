/**
 * What comes behind the password: a second factor, enrolling one, a new password. Each request
 * brings at most one proof; where the sign-in stands is judged anew from the facts, so a page that
 * is sent twice, late, or from another tab is never out of step.
 */
import { passkeySite } from '../../accounts/passkeys.ts'
import type { OwnFacts } from '../../accounts/attempts.ts'
import type { User } from '../../accounts/users.ts'
import { judge, type SignInState } from '../../policy/sign-in.ts'
import type { FactorKind } from '../../policy/verdict.ts'
import { notBeforeOf } from '../../store/queries/revocations.ts'
import type { Realm, RealmContext } from '../realm.ts'
import { requestIdOf } from '../show.ts'
import type { RealmWorld } from '../world.ts'
import { beginState, stateOf, withState, type AttemptState } from './attempt-state.ts'
import { factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { LATER_STEPS, type LaterStep, type Outcome } from './outcome.ts'
import { proofs, type Proof } from './proofs.ts'
import { callerOf, isOnlyMissing, isOnlyStepUp, languageOf, type Visit } from './visit.ts'

/** What a form carries, or nothing where the page is only looked at. */
export type Input =
  | { readonly kind: 'none' | 'codes_saved' }
  | { readonly kind: 'code' | 'passkey' | 'new_password'; readonly value: string }

export function laterSteps(realm: Realm, world: RealmWorld) {
  const { tenant, records, provider } = realm
  const { tenantId } = tenant
  const { store, users, attempts, devices, policies, factors, clock, baseUrl } = world
  const { attemptOf, ownFacts, ownSid } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const { proofOf } = proofs(realm, world, passkeySite(baseUrl))

  /** undefined: there is nothing to go on with, the password is asked for. */
  return async function goOn(
    ctx: RealmContext,
    visit: Visit,
    input: Input,
  ): Promise<Outcome | undefined> {
    const session = await provider.Session.get(ctx)
    const begun = stateOf(visit.interaction, clock.nowMs())
    const state = begun ?? (await stateOfSession())
    if (state === undefined) return undefined
    const { userId } = state
    if (isOnlyMissing(visit) && session.accountId === userId && state.recoveryCodes === undefined)
      return { kind: 'go_on' }
    const user = await usableUser(state)
    if (user === undefined && input.kind === 'new_password' && (await isChosen(state, input.value)))
      return goOn(ctx, await withNewPassword(visit), { kind: 'none' })
    if (user === undefined) return undefined

    const found = callerOf(ctx, realm, baseUrl)
    const caller = { ...found, deviceCookie: found.deviceCookie ?? devices.newCookie() }
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, visit)
    const attempt = attemptOf(caller, { user, login: user.username })
    const known = await ownFacts(ctx, visit, found, user, 'right')
    const proven = { ...known, proof: state.proof ?? 'none' } as const
    const before = await attempts.preview(attempt, proven, decided)

    if (input.kind === 'new_password' && stepOf(before) === 'new_password') {
      const actor = { name: 'realm', requestId: requestIdOf(ctx) }
      const problem = await users.choosePassword(tenantId, userId, input.value, actor)
      if (problem !== undefined && !(await isChosen(state, input.value)))
        return { kind: 'step', step: 'new_password', state, user, factors: known.factors, problem }
      return goOn(ctx, await withNewPassword(visit), { kind: 'none' })
    }
    const proof = await proofOf(stepOf(before), { user, state }, input)
    if (!(await finish.untilIssuable(userId))) return { kind: 'unavailable' }
    const outcome = await store.change(async (change): Promise<Outcome | undefined> => {
      const { queries, nowMs } = change
      const record = await records.signInIn(queries, visit.uid)
      const interaction = record?.payload ?? visit.interaction
      const current = stateOf(interaction, nowMs) ?? (begun === undefined ? state : undefined)
      if (current?.userId !== userId) return undefined
      const { next, facts, isNewFactor } = await shown(current)
      const judged = judge(await attempts.withFailures(queries, attempt, facts), decided)
      const save = () => records.saveSignIn(queries, visit.uid, withState(interaction, next))

      if (judged.kind === 'signed_in' && next.recoveryCodes && input.kind !== 'codes_saved') {
        if (isNewFactor) await save()
        return { kind: 'recovery_codes', codes: next.recoveryCodes }
      }
      // A page that is only looked at leaves no trace
      const isNews = input.kind !== 'none' || judged.kind === 'signed_in' || begun === undefined
      if (isNews) await attempts.settle(change, attempt, facts, decided)
      if (judged.kind === 'refused') return judged
      if (judged.kind === 'signed_in') {
        const signed = { user, state: next, facts, policies: decided, language, signedIn: judged }
        await finish.commit(change, { ...visit, interaction }, caller, signed)
        return { kind: 'signed_in', caller }
      }
      if (isNews) await save()
      const step = stepOf(judged)
      if (step === undefined) return undefined
      const problem = input.kind === 'none' ? undefined : problemOf(judged, proof)
      return { kind: 'step', step, state: next, user, factors: facts.factors, problem }

      /** What the proof adds, unless a second click finds that the first has added it. */
      async function shown(current: AttemptState) {
        const facts: OwnFacts = { ...known, proof: current.proof ?? 'none' }
        const unchanged = { next: current, facts, isNewFactor: false }
        const now = judge(await attempts.withFailures(queries, attempt, facts), decided)
        if (proof === undefined || stepOf(now) !== proof.step) return unchanged
        if (proof.kind === 'wrong' || !(await proof.take(change))) return failed(current, facts)
        const next: AttemptState = { ...current, proof: proof.kind }
        const kinds: FactorKind[] = [...facts.factors, proof.kind]
        if (proof.step === 'second_factor')
          return { next, facts: { ...facts, proof: proof.kind }, isNewFactor: false }
        const recoveryCodes = await factors.renewRecoveryCodes(change, { tenantId, userId })
        return {
          next: { ...next, recoveryCodes },
          facts: { ...facts, factors: kinds, proof: proof.kind },
          isNewFactor: true,
        }
      }
    })
    if (outcome?.kind !== 'signed_in' || decided.session.concurrent_max === null) return outcome
    return { ...outcome, replaced: await ownSid(ctx, userId) }

    /** A session that is asked for more has given its password already. */
    async function stateOfSession(): Promise<AttemptState | undefined> {
      const { accountId, loginTs = 0 } = session
      if (!isOnlyStepUp(visit) || visit.isFinished || accountId === undefined) return undefined
      if (accountId !== visit.interaction.session?.accountId) return undefined
      const sid = session.sidFor(realm.clientId)
      const notBefore = await notBeforeOf(store.read, tenantId, accountId, sid)
      return loginTs < notBefore ? undefined : beginState(accountId, clock.nowMs())
    }
  }

  /** Somebody who may still sign in, with the password that was given. */
  async function usableUser({ userId, passwordAt }: AttemptState): Promise<User | undefined> {
    const user = await users.find(tenantId, userId)
    if (user === undefined || user.isDisabled) return undefined
    return user.passwordChangedAt <= passwordAt ? user : undefined
  }

  /** A second click on the page for a new password comes when the first has set it. */
  async function isChosen({ userId, passwordAt }: AttemptState, plain: string): Promise<boolean> {
    const user = await users.find(tenantId, userId)
    if (user === undefined || user.passwordChangedAt <= passwordAt) return false
    return (await users.authenticate(tenantId, user.username, plain)).kind === 'ok'
  }

  /** The person who has just chosen a password knows it. */
  async function withNewPassword(visit: Visit): Promise<Visit> {
    return store.change(async ({ queries, nowMs }) => {
      const record = await records.signInIn(queries, visit.uid)
      const payload = record?.payload ?? visit.interaction
      const state = stateOf(payload, nowMs)
      if (state === undefined) return visit
      const interaction = withState(payload, { ...state, passwordAt: nowMs })
      await records.saveSignIn(queries, visit.uid, interaction)
      return { ...visit, interaction, isFinished: false }
    })
  }
}

/** Only a factor that exists can be guessed at: a typing error while enrolling one is none. */
function failed(current: AttemptState, facts: OwnFacts) {
  const isGuess = facts.factors.length > 0
  const next = { ...current, failures: current.failures + 1 }
  if (!isGuess) return { next: current, facts, isNewFactor: false }
  return { next, facts: { ...facts, proof: 'wrong' as const }, isNewFactor: false }
}

function stepOf(state: SignInState): LaterStep | undefined {
  return state.kind === 'asking' ? LATER_STEPS.find((step) => step === state.step) : undefined
}

function problemOf(state: SignInState & { kind: 'asking' }, proof: Proof | undefined) {
  const isWrong = proof !== undefined && proof.step === state.step
  return isWrong ? 'code_wrong' : state.reason
}
