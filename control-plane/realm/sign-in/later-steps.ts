/**
 * What comes behind the password: a second factor, enrolling one, a new password. Each request
 * brings at most one proof; where the sign-in stands is judged anew from the facts, so a page that
 * is sent twice, late, or from another tab is never out of step.
 */
import type { AdapterPayload } from 'oidc-provider'
import { SECOND_MS } from '../../../shared/clock.ts'
import { isUnavailable } from '../answers.ts'
import { passkeySite } from '../../accounts/passkeys.ts'
import type { OwnFacts } from '../../accounts/attempts.ts'
import type { User } from '../../accounts/users.ts'
import { isProofDemanded } from '../../policy/device.ts'
import { judge, type SignInState } from '../../policy/sign-in.ts'
import { ACR_SECOND_FACTOR, type FactorKind } from '../../policy/verdict.ts'
import { asKnown } from '../../store/precedence.ts'
import type { TenantChange } from '../../store/store.ts'
import { isSessionOver } from '../session-over.ts'
import { requestIdOf } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import {
  beginState,
  isExhausted,
  maySetUp,
  stateOf,
  withState,
  type AttemptState,
} from './attempt-state.ts'
import { deviceViewOf, factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { LATER_STEPS, type LaterStep, type Outcome } from './outcome.ts'
import { unlessTooOften } from './person-rate.ts'
import { proofs, type Input, type Proof } from './proofs.ts'
import { withShownDevice } from './shown-device.ts'
import { usableUser } from './still-good.ts'
import {
  callerOf,
  isOnlyMissing,
  isOnlyStepUp,
  languageOf,
  type BrowserSignIn,
} from './browser-sign-in.ts'

type Session = Awaited<ReturnType<Realm['provider']['Session']['get']>>

export function laterSteps(realm: Realm, world: RealmWorld) {
  const { tenant, records, provider } = realm
  const { tenantId } = tenant
  const { store, vault, users, attempts, policies, factors, clock, baseUrl } = world
  const { accountMail, deviceTypedCodes } = world
  const { attemptOf, ownFacts, ownSid, withDevice } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const cookies = attemptCookies(realm, world)
  const proofOf = proofs(realm, world, passkeySite(baseUrl))

  /** undefined: there is nothing to go on with, the password is asked for. */
  return async function goOn(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    input: Input,
  ): Promise<Outcome | undefined> {
    const session = await provider.Session.get(ctx)
    const begun = stateOf(signIn.interaction, signIn.browserHash, clock.nowMs())
    const sid = session.sidFor(realm.clientId)
    const secret = cookies.mint(signIn.uid)
    const state = begun ?? (await stateOfSession())
    if (state === undefined) return undefined
    const { userId } = state
    if (isOnlyMissing(signIn) && session.accountId === userId && state.recoveryCodes === undefined)
      return { kind: 'go_on' }
    if (state.sessionTs !== undefined && !(await isAlive(state))) return undefined
    const user = await usableUser(store.read, tenantId, state, sid)
    if (user === undefined) return goOnWithChosen()

    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    const attempt = attemptOf(caller, { user, login: user.username })
    const known = await ownFacts(ctx, signIn, caller, user, 'right')
    const proven = { ...(await withDevice(known, state)), proof: state.proof ?? 'none' } as const
    const before = await attempts.preview(attempt, proven, decided)

    const isSetUp = stepOf(before) === 'enrol' || stepOf(before) === 'new_password'
    if (isSetUp && !maySetUp(state, clock.nowMs())) return undefined

    if (input.kind === 'new_password' && stepOf(before) === 'new_password') {
      const problem = await choose(input.value, user)
      if (problem === undefined || problem === 'overtaken') return goOnWithChosen()
      const again = problem === 'busy' ? undefined : await goOnWithChosen()
      const asked = { kind: 'step', step: 'new_password', state, user } as const
      return again ?? { ...asked, factors: known.factors, problem }
    }
    const isFirst = (payload: AdapterPayload) => begun === undefined && !isExhausted(payload)
    const proof = await proofOf(stepOf(before), { user, state }, input)
    if (!(await finish.untilIssuable(userId))) return { kind: 'unavailable' }
    const noteFactor = async (change: TenantChange, kind: 'totp' | 'passkey') => {
      const actor = { name: userId, requestId: requestIdOf(ctx) }
      const content = { user_id: userId, kind }
      await change.audit(actor, { action: 'factor.added', tenantId, content })
      await accountMail.tellFactorsChanged(change, user, `${kind}_added`, language)
    }
    const changed = store.changeOf(tenantId, async (change): Promise<Outcome | undefined> => {
      const { queries, nowMs } = change
      const record = await records.signInIn(queries, signIn.uid)
      if (record === undefined) return undefined // a sign-out has ended it meanwhile
      const { payload: interaction } = record
      const held = stateOf(interaction, signIn.browserHash, nowMs)
      const current = held ?? (isFirst(interaction) ? state : undefined)
      if (current?.userId !== userId) return undefined
      const now = await usableUser(queries, tenantId, current, sid)
      if (now?.passwordHash !== user.passwordHash) return undefined
      const { next, facts, isNewFactor } = await shown(current)
      const judged = judge(await attempts.withFailures(queries, attempt, facts), decided)
      const save = () => records.saveSignIn(queries, signIn.uid, withState(interaction, next))

      // a guess is counted, and a machine that was shown stays shown, whatever the policies say
      if (input.kind === 'device_code') await save()
      // Whom the last policy refuses has the factor all the same
      const isShowing = judged.kind === 'signed_in' || (judged.kind === 'refused' && isNewFactor)
      if (isShowing && next.recoveryCodes && input.kind !== 'codes_saved') {
        if (isNewFactor) await save()
        return { kind: 'recovery_codes', codes: next.recoveryCodes }
      }
      // A page that is only looked at leaves no trace
      const isNews = input.kind !== 'none' || judged.kind === 'signed_in' || begun === undefined
      if (isNews) await attempts.settle(change, attempt, facts, decided)
      if (judged.kind === 'refused') return { ...judged, device: deviceViewOf(facts, decided) }
      if (judged.kind === 'signed_in') {
        const signed = { user, state: next, facts, policies: decided, language, signedIn: judged }
        const place = { ...signIn, interaction }
        const deviceCookie = await finish.commit(change, place, caller, signed)
        return { kind: 'signed_in', deviceCookie }
      }
      if (isNews) await save()
      const step = stepOf(judged)
      if (step === undefined) return undefined
      const isMistyped = input.kind === 'device_code' && next.failures > current.failures
      const problem = input.kind === 'none' ? undefined : problemOf(judged, proof, isMistyped)
      const asked = { step, state: next, user, factors: facts.factors, problem }
      return { kind: 'step', ...asked, device: deviceViewOf(facts, decided) }

      /** What the proof adds, unless a second click finds that the first has added it. */
      async function shown(held: AttemptState) {
        const owner = { tenantId, userId }
        const own = await factors.kindsOf(owner, queries) // another tab may have enrolled one
        const current = await withTyped(change, goingOn(held, input))
        const shown = await withDevice(known, current, queries)
        const isMissing = input.kind === 'device' && input.value === 'none'
        const device = { ...shown.device, ...(isMissing && { isMissing }) }
        const facts: OwnFacts = { ...shown, device, factors: own, proof: current.proof ?? 'none' }
        const unchanged = { next: current, facts, isNewFactor: false }
        const now = judge(await attempts.withFailures(queries, attempt, facts), decided)
        if (proof === undefined || stepOf(now) !== proof.step) return unchanged
        if (proof.kind === 'wrong' || !(await proof.take(change))) return failed(current, facts)
        const next: AttemptState = { ...current, proof: proof.kind }
        const kinds: FactorKind[] = [...facts.factors, proof.kind]
        if (proof.step === 'second_factor')
          return { next, facts: { ...facts, proof: proof.kind }, isNewFactor: false }
        const recoveryCodes = await factors.renewRecoveryCodes(change, owner)
        if (proof.kind !== 'recovery') await noteFactor(change, proof.kind)
        return {
          next: { ...next, recoveryCodes },
          facts: { ...facts, factors: kinds, proof: proof.kind },
          isNewFactor: true,
        }
      }
    })
    const outcome = await unlessTooOften(changed, () =>
      attempts.refuseTooMany(attempt, proven, decided),
    )
    accountMail.deliver()
    if (begun === undefined && isKept(outcome)) cookies.give(ctx, signIn.uid, secret)
    if (outcome?.kind !== 'signed_in' || decided.session.concurrent_max === null) return outcome
    return { ...outcome, replaced: await ownSid(ctx, userId) }

    /** The machine whose code was typed; a code that nobody has shown counts as a wrong one. */
    async function withTyped(change: TenantChange, held: AttemptState): Promise<AttemptState> {
      if (input.kind !== 'device_code' || !decided.device.typed_code) return held
      if (!isProofDemanded(userId, decided)) return held
      const deviceId = await deviceTypedCodes.take(change, tenantId, input.value)
      if (deviceId === undefined) return { ...held, failures: held.failures + 1 }
      const actor = { name: userId, requestId: requestIdOf(ctx) }
      const content = { user_id: userId, device_id: deviceId, address: caller.ip }
      await change.audit(actor, { action: 'device.proof.typed_code', tenantId, content })
      return withShownDevice(world, change, { tenantId, deviceId }, held, actor)
    }

    /** A session that is asked for more has given its password already. */
    async function stateOfSession(): Promise<AttemptState | undefined> {
      const { accountId, loginTs } = session
      if (!isOnlyStepUp(signIn) || signIn.isFinished || isExhausted(signIn.interaction))
        return undefined
      if (accountId === undefined || loginTs === undefined) return undefined
      if (accountId !== signIn.interaction.session?.accountId) return undefined
      const begun = beginState(accountId, clock.nowMs(), secret.hash)
      const proof = provenBy(session)
      const { provenAt, upstream } = session.authorizations?.[realm.clientId] ?? {}
      const times = { sessionTs: loginTs, ...(provenAt && { sessionProvenAt: provenAt }) }
      const from = upstream && { sessionUpstream: upstream }
      const isByMail = session.amr?.includes('email') === true
      const shown = { ...(proof && { proof }), ...(isByMail && { byMail: {} }) }
      return { ...begun, ...times, ...from, ...shown }
    }

    async function isAlive({ userId }: AttemptState): Promise<boolean> {
      return session.accountId === userId && !(await isSessionOver(ctx, world, realm, session))
    }

    /** What the person chooses is noted with it: they know it, and every session from before ends. */
    async function choose(plain: string, { userId, passwordHash }: User) {
      const actor = { name: 'realm', requestId: requestIdOf(ctx) }
      const alongside = async (change: TenantChange, before: User) => {
        const { queries, nowMs } = change
        const record = await records.signInIn(queries, signIn.uid)
        if (record === undefined) throw new Overtaken()
        const { payload } = record
        const current = stateOf(payload, signIn.browserHash, nowMs)
        const isSame = current?.userId === userId && before.passwordHash === passwordHash
        if (!isSame || !(await usableUser(queries, tenantId, current, sid))) throw new Overtaken()
        const passwordAt = (Math.floor(nowMs / SECOND_MS) + 1) * SECOND_MS // the revocation's
        const {
          sessionTs: _replaced,
          sessionProvenAt: _old,
          sessionUpstream: _by,
          byMail: _before,
          ...rest
        } = current
        const next = { ...rest, passwordAt, chosenHash: chosenHashOf(signIn.uid, plain) }
        await records.saveSignIn(queries, signIn.uid, withState(payload, next))
        await accountMail.tellPasswordChanged(change, before, language)
      }
      try {
        const problem = await asKnown(() =>
          users.choosePassword(tenantId, userId, plain, actor, { alongside }),
        )
        accountMail.deliver()
        return problem
      } catch (error) {
        if (error instanceof Overtaken) return 'overtaken'
        if (isUnavailable(error)) return 'busy'
        throw error
      }
    }

    /** This click, or an earlier one at the same page, has set the password that it brings. */
    async function goOnWithChosen(): Promise<Outcome | undefined> {
      if (input.kind !== 'new_password') return undefined
      const record = await records.signIn(signIn.uid)
      const state = record && stateOf(record.payload, signIn.browserHash, clock.nowMs())
      if (record === undefined || state?.chosenHash !== chosenHashOf(signIn.uid, input.value))
        return undefined
      const { payload: interaction, isFinished } = record
      return goOn(ctx, { ...signIn, interaction, isFinished }, { kind: 'none' })
    }
  }

  function chosenHashOf(uid: string, plain: string): string {
    return vault.hash(`realm.chosen/${tenantId}/${uid}/${plain}`)
  }
}

/** The second factor that a session was opened with is not asked for again with its device. */
function provenBy({ acr, amr = [] }: Pick<Session, 'acr' | 'amr'>): FactorKind | undefined {
  if (acr !== ACR_SECOND_FACTOR) return undefined
  return amr.includes('hwk') ? 'passkey' : 'totp'
}

/** Having read what is wrong with the machine: whether that is enough is for the policy to say. */
function goingOn(current: AttemptState, input: Input): AttemptState {
  const isWarned = input.kind === 'device' && input.value === 'go_on'
  return isWarned ? { ...current, isDeviceWarned: true } : current
}

/** Somebody else has changed the account while the person was choosing. */
class Overtaken extends Error {}

/** What the record of the sign-in holds by now. */
function isKept(outcome: Outcome | undefined): boolean {
  return ['signed_in', 'step', 'recovery_codes'].includes(outcome?.kind ?? '')
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

function problemOf(
  state: SignInState & { kind: 'asking' },
  proof: Proof | undefined,
  isMistyped: boolean,
) {
  if (isMistyped && state.step === 'device') return 'code_wrong'
  const isWrong = proof !== undefined && proof.step === state.step
  return isWrong ? 'code_wrong' : state.reason
}
