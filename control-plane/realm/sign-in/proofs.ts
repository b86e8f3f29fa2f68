/**
 * What a person shows, checked before the change in which it is taken: signatures and seeds are
 * nothing to compute while everybody else waits for the writer.
 */
import type { Claim } from '../../accounts/factors.ts'
import { registeredPasskey, type PasskeySite } from '../../accounts/passkeys.ts'
import { stepOf } from '../../accounts/totp.ts'
import type { User } from '../../accounts/users.ts'
import type { TenantChange } from '../../store/store.ts'
import type { Realm, RealmWorld } from '../world.ts'
import type { AttemptState } from './attempt-state.ts'
import type { LaterStep } from './outcome.ts'

/** What a form carries, or nothing where the page is only looked at. */
export type Input =
  | { readonly kind: 'none' | 'codes_saved' }
  | {
      readonly kind: 'code' | 'passkey' | 'new_password' | 'device' | 'device_code'
      readonly value: string
    }

/** `step` is what it was shown for; where the sign-in stands elsewhere by now, it is not taken. */
export type Proof =
  | { readonly step: LaterStep; readonly kind: 'wrong' }
  | ({ readonly step: LaterStep } & Claim)

interface Shown {
  readonly user: User
  readonly state: AttemptState
}

export function proofs(realm: Realm, world: RealmWorld, site: PasskeySite | undefined) {
  const { tenantId } = realm.tenant
  const { factors, clock } = world

  return async function proofOf(
    step: LaterStep | undefined,
    shown: Shown,
    input: Input,
  ): Promise<Proof | undefined> {
    if (input.kind !== 'code' && input.kind !== 'passkey') return undefined
    if (step !== 'second_factor' && step !== 'enrol') return undefined
    const check = step === 'enrol' ? enrolled : claimed
    const claim = await check(shown, input.kind, input.value)
    return claim === undefined ? { step, kind: 'wrong' } : { step, ...claim }
  }

  async function claimed({ user, state }: Shown, kind: 'code' | 'passkey', value: string) {
    const owner = { tenantId, userId: user.userId }
    if (kind === 'code') return factors.claimOfCode(owner, value, clock.nowMs())
    if (site === undefined) return undefined
    return factors.claimOfPasskey(owner, site, state.challenge, value)
  }

  /** Taking it makes it the person's own. */
  async function enrolled(
    { user, state }: Shown,
    kind: 'code' | 'passkey',
    value: string,
  ): Promise<Claim | undefined> {
    const owner = { tenantId, userId: user.userId }
    if (kind === 'code') {
      const step = stepOf(state.seed, value.replace(/[\s-]/g, ''), clock.nowMs())
      if (step === undefined) return undefined
      const take = (change: TenantChange) => factors.addTotp(change, owner, state.seed, step)
      return { kind: 'totp', take }
    }
    if (site === undefined) return undefined
    const registered = await registeredPasskey(site, state.challenge, value)
    if (registered === undefined) return undefined
    const { passkey, counter } = registered
    const take = (change: TenantChange) => factors.addPasskey(change, owner, passkey, counter)
    return { kind: 'passkey', take }
  }
}
