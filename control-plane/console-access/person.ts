/** One person of the console: all that there is to know of them, and what an operator does for them. */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { revokeIn, type RevocationResult } from '../sessions/revocations.ts'
import type { User } from '../accounts/users.ts'
import { rolesOf } from '../store/queries/console.ts'
import { ticketsOf } from '../store/queries/tickets.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Actor } from '../store/store.ts'
import type { ConsoleInvitations } from './invitations.ts'
import type { ConsoleAccessWorld } from './world.ts'

export type ConsolePersons = ReturnType<typeof createConsolePersons>
export type ConsolePersonView = Awaited<ReturnType<ConsolePersons['view']>>

export function createConsolePersons(
  world: ConsoleAccessWorld,
  invitations: Pick<ConsoleInvitations, 'listTo'>,
) {
  const { store, users, sessions, factors, attempts, policies, accountMail } = world
  const get = (userId: string) => users.get(CONSOLE_REALM, userId)

  return {
    get,

    async view(userId: string) {
      const user = await get(userId)
      const limit = LIMITS.pageItemsDefault
      return {
        user,
        roles: await rolesOf(store.read, userId),
        lockedUntilMs: await attempts.pauseOf(user, await policies.of(CONSOLE_REALM)),
        lastSignIn: await attempts.lastSignInOf(CONSOLE_REALM, userId),
        sessions: await sessions.listAliveOf(CONSOLE_REALM, userId),
        factors: await factors.list(user),
        attempts: await attempts.newestOf(CONSOLE_REALM, userId),
        /** To choose a first password, the newest first. */
        links: await ticketsOf(store.read, CONSOLE_REALM, userId, 'invite', limit),
        /** From tenants, not accepted yet. */
        invitations: await invitations.listTo(user),
        audit: await world.auditTrail.ofPerson(userId),
      }
    },

    /** Here and in the realm; signing in again works. */
    async signOut(userId: string, actor: Actor): Promise<RevocationResult> {
      await get(userId)
      return world.revocations.revoke(CONSOLE_REALM, { subject: userId }, actor)
    },

    /**
     * For somebody who has lost them, or had them stolen: so nobody stays signed in by them. Their
     * own nobody resets here, but where the account asks for one of them first.
     */
    async resetFactors(userId: string, actor: Actor, byUserId?: string): Promise<void> {
      if (userId === byUserId) throw new Refusal('own_account')
      const user = await get(userId)
      await store.change(async (change) => {
        await factors.reset(change, user, actor)
        await revokeIn(change, CONSOLE_REALM, { subject: userId }, 'factors_reset')
        await accountMail.tellFactorsChanged(change, user, 'all_removed', '')
      })
      accountMail.deliver()
    },

    async unlock(userId: string, actor: Actor): Promise<void> {
      await users.unlock(CONSOLE_REALM, userId, actor)
    },

    /** Only while they have never chosen a password: later it would be a way round it. */
    async resendInvitation(userId: string, actor: Actor, language: string): Promise<User> {
      const user = await get(userId)
      if (user.passwordHash !== '') throw new Refusal('invitation_accepted')
      await accountMail.invite(CONSOLE_REALM, userId, actor, language)
      return user
    },
  }
}
