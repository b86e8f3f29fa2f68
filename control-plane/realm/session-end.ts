import { Refusal } from '../../shared/errors.ts'
import type { RealmWorld } from './world.ts'

export type SessionEndReason =
  | 'signed_out'
  | 'code_reused'
  | 'account_switched'
  | 'binding_terminate'
  | 'surplus'
  | 'ended_by_user'

/**
 * Ends one session everywhere: gateways refuse its token, and nothing of it is left here. A
 * session whose first token was never fetched is known to nobody, and so has nothing to end.
 */
export async function endSession(
  { revocations }: Pick<RealmWorld, 'revocations'>,
  tenantId: string,
  sid: string,
  reason: SessionEndReason,
  requestId: string,
): Promise<void> {
  const actor = { name: 'realm', requestId }
  try {
    await revocations.revoke(tenantId, { sid }, actor, reason)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'session_not_found') return
    throw error
  }
}
