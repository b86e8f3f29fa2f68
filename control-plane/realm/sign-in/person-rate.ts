/**
 * How often one person comes in, from wherever. It is counted once the password was right, so that
 * who only knows a name uses nothing up of it; and once more with each sign-in that ends well, since
 * one that has shown its password can be ended many times over. Without it one account could begin
 * and end sessions until all that is kept of them is too much for its tenant.
 *
 * Browsers that the person has used count apart, as they do for lockout: who has only the password,
 * and not the second factor, keeps nobody out of them.
 */
import { LIMITS } from '../../../shared/limits.ts'
import type { Rate } from '../../../shared/rate-limits.ts'
import { takeRate } from '../../store/queries/rates.ts'
import type { TenantChange } from '../../store/store.ts'
import type { Outcome } from './outcome.ts'

export type PersonRate = ReturnType<typeof personRate>

/** In a change, which then leaves nothing behind. */
export class SignsInTooOften extends Error {
  readonly waitSeconds: number

  constructor(waitSeconds: number) {
    super(`the person signs in too often, and may again in ${waitSeconds} s`)
    this.name = 'SignsInTooOften'
    this.waitSeconds = waitSeconds
  }
}

export function personRate(rate: Rate = LIMITS.rateSignInOfPerson) {
  async function take(change: TenantChange, kind: string, tenantId: string, userId: string) {
    const waitSeconds = await takeRate(change, { kind, key: `${tenantId} ${userId}`, rate })
    if (waitSeconds !== undefined) throw new SignsInTooOften(waitSeconds)
  }

  return {
    takePassword: (change: TenantChange, tenantId: string, userId: string, isKnown: boolean) =>
      take(change, isKnown ? 'password of known' : 'password', tenantId, userId),
    takeSignIn: (change: TenantChange, tenantId: string, userId: string) =>
      take(change, 'sign-in', tenantId, userId),
  }
}

/** Whoever comes in too often is told so, and it is noted: the change that found it left nothing. */
export async function unlessTooOften<Found>(
  found: Promise<Found>,
  note: () => Promise<void>,
): Promise<Found | Outcome> {
  try {
    return await found
  } catch (error) {
    if (!(error instanceof SignsInTooOften)) throw error
    await note()
    return { kind: 'too_often', waitSeconds: error.waitSeconds }
  }
}
