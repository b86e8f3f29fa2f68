/** Whether somebody may have a password: finds out what the policy wants to know, and asks it. */
import { LIMITS } from '../../../shared/limits.ts'
import { newPassword, type PasswordProblem } from '../../policy/new-password.ts'
import type { PasswordPolicy } from '../../policy/policies.ts'
import { passwordsBefore } from '../../store/queries/password-history.ts'
import type { Store } from '../../store/store.ts'
import type { BreachList } from './breach-list.ts'
import { normalized, type PasswordHasher } from './hasher.ts'
import type { Strength } from './strength.ts'

export interface WhosePassword {
  readonly tenantId: string
  readonly username: string
  readonly email: string
  readonly name: string
  /** Of somebody who has an account already. */
  readonly userId?: string
  readonly passwordHash?: string
}

export type PasswordRules = ReturnType<typeof createPasswordRules>

export function createPasswordRules(world: {
  readonly store: Store
  readonly passwords: PasswordHasher
  readonly strength: Pick<Strength, 'of'>
  readonly breaches: Pick<BreachList, 'has'>
}) {
  const { store, passwords, strength, breaches } = world

  return {
    /** Why not, or nothing. The cheap questions come first. */
    async check(
      plain: string,
      whose: WhosePassword,
      policy: PasswordPolicy,
    ): Promise<PasswordProblem | undefined> {
      if (Buffer.byteLength(plain) > LIMITS.passwordBytesMax) return 'password_too_long'
      const message = normalized(plain)
      if (message === undefined) return 'password_too_long'
      // One character may be eighteen of what is hashed, and the other way round
      const characters = Math.min([...plain].length, [...message].length)
      const nothingFound = { characters, strength: 4, isBreached: false, isUsedBefore: false }
      const first = newPassword(nothingFound, policy)
      if (first !== undefined) return first
      const findings = {
        characters,
        isBreached: policy.refuse_breached && (await breaches.has(message)),
        strength:
          policy.min_strength === 0
            ? 4
            : await strength.of(message, wordsOf(whose), askedFor(whose)),
        isUsedBefore: false,
      }
      const second = newPassword(findings, policy)
      if (second !== undefined || policy.history === 0) return second
      return newPassword({ ...findings, isUsedBefore: await isUsed(plain, whose, policy) }, policy)
    },
  }

  async function isUsed(plain: string, whose: WhosePassword, policy: PasswordPolicy) {
    const { tenantId, userId, passwordHash } = whose
    if (userId === undefined) return false
    const earlier = await passwordsBefore(store.read, tenantId, userId, policy.history - 1)
    const all = passwordHash ? [passwordHash, ...earlier] : earlier
    for (const encoded of all) if (await passwords.verify(plain, encoded, tenantId)) return true
    return false
  }
}

const askedFor = ({ tenantId, userId, username }: WhosePassword) => {
  return { tenantId, person: userId ?? username }
}

/** A name, an address and the parts of them are the first that anybody tries. */
function wordsOf({ username, email, name }: WhosePassword): string[] {
  const words = [username, email, name].flatMap((text) => [text, ...text.split(/[\s@._+-]+/)])
  return words.filter((word) => word.length > 2)
}
