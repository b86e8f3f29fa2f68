/**
 * People who exist for one check of a tenant's sign-in: with a password that nobody reads, for half a
 * minute. They are in no list, get no mail and cause no event. A crash leaves one behind, which
 * nobody can sign in as; the next round of the jobs takes it away.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { AttemptReason } from '../policy/verdict.ts'
import { deleteKnownDevicesOf } from '../store/queries/devices.ts'
import { deleteFactors } from '../store/queries/factors.ts'
import { forgetPasswords } from '../store/queries/password-history.ts'
import { deleteInteractionsOf, deleteRealmRecords } from '../store/queries/revocations.ts'
import { aliveSids, deleteSessionsOf } from '../store/queries/sessions.ts'
import { deleteSignInsOf, newestSignInOf } from '../store/queries/sign-ins.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import { deleteTicketsOf } from '../store/queries/tickets.ts'
import { deleteUser, insertUser, trialUsersBefore, TRIAL_PREFIX } from '../store/queries/users.ts'
import type { Change, Store } from '../store/store.ts'
import type { PasswordHasher } from './passwords/hasher.ts'
import { revokeIn } from '../sessions/revocations.ts'

export interface TrialPerson {
  readonly tenantId: string
  readonly userId: string
  readonly username: string
  readonly password: string
}

export type TrialPeople = ReturnType<typeof createTrialPeople>

export function createTrialPeople({
  store,
  passwords,
  clock,
}: {
  readonly store: Store
  readonly passwords: Pick<PasswordHasher, 'hash'>
  readonly clock: Clock
}) {
  return {
    async create(tenantId: string): Promise<TrialPerson> {
      const id = randomBytes(16).toString('hex')
      const userId = `${TRIAL_PREFIX}${id}`
      const username = `sign-in-check-${id}`
      const email = `${username}@check.invalid` // RFC 2606: no mail can ever be sent there
      const password = randomBytes(32).toString('base64url')
      const passwordHash = await passwords.hash(password, tenantId)
      const nowMs = clock.nowMs()
      await store.change(async ({ queries }) => {
        await requireTenant(queries, tenantId)
        await insertUser(queries, {
          userId,
          tenantId,
          username,
          usernameKey: username,
          email,
          emailKey: email,
          name: 'Sign-in check',
          passwordHash,
          isDisabled: false,
          createdAt: nowMs,
          updatedAt: nowMs,
          source: 'trial',
          passwordChangedAt: nowMs,
          emailProvenAt: null,
          unlockedAt: null,
          lastSignInAt: 0,
          isFactorRequired: false,
        })
      })
      return { tenantId, userId, username, password }
    },

    /** Why the newest attempt was not let in, or that it was; undefined where there was none. */
    async outcomeOf({
      tenantId,
      userId,
    }: TrialPerson): Promise<AttemptReason | 'signed_in' | undefined> {
      const row = await newestSignInOf(store.read, tenantId, userId)
      return row?.reason as AttemptReason | 'signed_in' | undefined
    },

    /** Whether a session of theirs can still be used; false where the platform knows none. */
    async isSignedIn({ tenantId, userId }: TrialPerson): Promise<boolean> {
      return (await aliveSids(store.read, tenantId, userId, clock.nowMs())).length > 0
    },

    /** With everything that the sign-in has left behind; what is still open ends everywhere. */
    async remove(person: Pick<TrialPerson, 'tenantId' | 'userId'>): Promise<void> {
      await store.change((change) => removeTrace(change, person))
    },

    async prune(limit: number): Promise<number> {
      return store.change(async (change) => {
        const beforeMs = change.nowMs - 2 * LIMITS.signInTrialMsMax
        const left = await trialUsersBefore(change.queries, beforeMs, limit)
        for (const person of left) await removeTrace(change, person)
        return left.length
      })
    },
  }
}

async function removeTrace(
  change: Change,
  { tenantId, userId }: Pick<TrialPerson, 'tenantId' | 'userId'>,
) {
  const { queries, nowMs } = change
  const target = { subject: userId }
  const isSignedIn = (await aliveSids(queries, tenantId, userId, nowMs)).length > 0
  if (isSignedIn) await revokeIn(change, tenantId, target, 'user_removed', null)
  else await deleteRealmRecords(queries, tenantId, target)
  await deleteInteractionsOf(queries, tenantId, userId)
  await deleteUser(queries, tenantId, userId)
  await forgetPasswords(queries, tenantId, userId)
  await deleteTicketsOf(queries, tenantId, userId)
  await deleteFactors(queries, tenantId, userId, ['totp', 'passkey', 'recovery'])
  await deleteKnownDevicesOf(queries, tenantId, userId)
  await deleteSignInsOf(queries, tenantId, userId)
  await deleteSessionsOf(queries, tenantId, userId)
}
