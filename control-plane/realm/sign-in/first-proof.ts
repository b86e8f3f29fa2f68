/**
 * Somebody has shown who they are by something other than a password. What is asked for behind it is
 * for the policies, as behind a password.
 */
import type { AdapterPayload } from 'oidc-provider'
import type { Attempt, OwnFacts } from '../../accounts/attempts.ts'
import type { User } from '../../accounts/users.ts'
import type { Policies } from '../../policy/policies.ts'
import type { TenantChange } from '../../store/store.ts'
import type { Realm, RealmWorld } from '../world.ts'
import { withState, type AttemptState } from './attempt-state.ts'
import type { BrowserSignIn, Caller } from './browser-sign-in.ts'
import { deviceViewOf, factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { LATER_STEPS, type Outcome } from './outcome.ts'

interface Shown {
  readonly signIn: BrowserSignIn
  /** The record of the sign-in, as it is in this change. */
  readonly interaction: AdapterPayload
  readonly user: User
  readonly state: AttemptState
  readonly attempt: Attempt
  readonly own: OwnFacts
  readonly caller: Caller
  readonly decided: Policies
  readonly language: string
}

export function firstProofs(realm: Realm, world: RealmWorld) {
  const { attempts } = world
  const { withDevice } = factsAbout(realm, world)
  const finish = finishing(realm, world)

  return async function settleFirst(change: TenantChange, shown: Shown): Promise<Outcome> {
    const { signIn, interaction, user, state, attempt, own, caller, decided, language } = shown
    const facts = await withDevice(own, state, change.queries)
    const settled = await attempts.settle(change, attempt, facts, decided)
    const device = deviceViewOf(facts, decided)
    if (settled.kind === 'refused') return { ...settled, device }
    if (settled.kind === 'signed_in') {
      const finished = { user, state, facts, policies: decided, language, signedIn: settled }
      const place = { ...signIn, interaction }
      const deviceCookie = await finish.commit(change, place, caller, finished)
      return { kind: 'signed_in', deviceCookie }
    }
    const step = LATER_STEPS.find((one) => one === settled.step)
    if (step === undefined) return { kind: 'account_unusable' }
    await realm.records.saveSignIn(change.queries, signIn.uid, withState(interaction, state))
    return { kind: 'step', step, state, user, factors: facts.factors, device }
  }
}
