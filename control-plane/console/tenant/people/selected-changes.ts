/** What can be done with several users at once: one after the other, each with its own audit entry. */
import type { User } from '../../../accounts/users.ts'
import type { RevocationResult } from '../../../sessions/revocations.ts'
import type { Actor } from '../../../store/store.ts'
import type { ConsoleWorld } from '../../world.ts'

export type ChangeName = keyof typeof CHANGES
interface SelectedChange {
  readonly label: string
  /** «Disable 3 users?» */
  readonly question: (users: string) => string
  readonly effects: readonly string[]
  /** «3 users disabled.» */
  readonly said: (users: string) => string
  /** Whom there is nothing to be done for. */
  readonly isNeedless: (user: User) => boolean
  readonly apply: (
    world: ConsoleWorld,
    user: User,
    actor: Actor,
  ) => Promise<RevocationResult | undefined>
}

export const CHANGES = {
  disable: {
    label: 'Disable',
    question: (users) => `Disable ${users}?`,
    effects: [
      'Their sessions end immediately, on every gateway.',
      "They can't sign in until you enable their accounts again.",
    ],
    said: (users) => `${users} disabled.`,
    isNeedless: ({ isDisabled }) => isDisabled,
    apply: async ({ users }, { tenantId, userId }, actor) =>
      (await users.patch(tenantId, userId, { isDisabled: true }, actor)).ended,
  },
  sign_out: {
    label: 'Sign out everywhere',
    question: (users) => `Sign out ${users} everywhere?`,
    effects: [
      'Their sessions end immediately, on every gateway.',
      'They have to sign in again on their next request.',
    ],
    said: (users) => `${users} signed out.`,
    isNeedless: () => false,
    apply: ({ revocations }, { tenantId, userId }, actor) =>
      revocations.revoke(tenantId, { subject: userId }, actor),
  },
  require_second_factor: {
    label: 'Require second factor',
    question: (users) => `Require a second factor for ${users}?`,
    effects: [
      'Whatever the MFA policy says, they need a second factor from their next sign-in on.',
      'Anyone without one sets it up at that sign-in. Existing sessions continue.',
    ],
    said: (users) => `Second factor required for ${users}.`,
    isNeedless: ({ isFactorRequired }) => isFactorRequired,
    apply: async ({ users }, { tenantId, userId }, actor) =>
      (await users.patch(tenantId, userId, { isFactorRequired: true }, actor)).ended,
  },
} as const satisfies Readonly<Record<string, SelectedChange>>
