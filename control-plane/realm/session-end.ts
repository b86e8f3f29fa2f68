import type { RealmWorld } from './world.ts'

type SessionEndReason =
  | 'signed_out'
  | 'code_reused'
  | 'account_switched'
  | 'binding_terminate'
  | 'surplus'
  | 'ended_by_user'

/** Ends one session everywhere, once: gateways refuse its token, and nothing of it is left here. */
export async function endSession(
  { revocations }: Pick<RealmWorld, 'revocations'>,
  tenantId: string,
  sid: string,
  reason: SessionEndReason,
  requestId: string,
): Promise<void> {
  await revocations.end(tenantId, sid, { name: 'realm', requestId }, reason)
}

/** The same for many, a few at a time. */
export async function endSessions(
  { revocations }: Pick<RealmWorld, 'revocations'>,
  tenantId: string,
  sids: readonly string[],
  reason: SessionEndReason,
  requestId: string,
): Promise<void> {
  await revocations.endEach(tenantId, sids, { name: 'realm', requestId }, reason)
}
