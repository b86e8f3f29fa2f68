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
import type { Rate, RateLimits } from '../../../shared/rate-limits.ts'
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

export function personRate(rateLimits: RateLimits, rate: Rate = LIMITS.rateSignInOfPerson) {
  function take(name: 'password' | 'passwordOfKnown' | 'signIn', tenantId: string, userId: string) {
    const waitSeconds = rateLimits.waitSeconds(name, `${tenantId} ${userId}`, rate)
    if (waitSeconds !== undefined) throw new SignsInTooOften(waitSeconds)
  }

  return {
    takePassword: (tenantId: string, userId: string, isKnownDevice: boolean) =>
      take(isKnownDevice ? 'passwordOfKnown' : 'password', tenantId, userId),
    takeSignIn: (tenantId: string, userId: string) => take('signIn', tenantId, userId),
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
