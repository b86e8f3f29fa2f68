/**
 * Which session has asked for a link, and whether it was taken away since: a thief who was signed out
 * must not come back by what they have left behind.
 */
import { SECOND_MS } from '../../../shared/clock.ts'
import { ENDED_WELL } from '../../sessions/revocations.ts'
import { isSidRevoked, notBeforeOf } from '../../store/queries/revocations.ts'
import { findSession } from '../../store/queries/sessions.ts'
import type { Queries } from '../../store/engine.ts'

interface Asked {
  readonly userId: string
  readonly content: string
  readonly askedAtMs: number
}

export function askedIn({ content }: Pick<Asked, 'content'>) {
  const [email = '', sid] = content.split('\n')
  return { email, sid }
}

export async function wasTakenAway(
  queries: Queries,
  tenantId: string,
  { userId, askedAtMs }: Pick<Asked, 'userId' | 'askedAtMs'>,
  sid: string | undefined,
): Promise<boolean> {
  // all of the person's, or of the tenant's, and this one among them
  if (askedAtMs < (await notBeforeOf(queries, tenantId, userId)) * SECOND_MS) return true
  if (sid === undefined) return false
  const known = await findSession(queries, tenantId, sid)
  if (known === undefined) return isSidRevoked(queries, tenantId, sid)
  return known.endReason !== null && !ENDED_WELL.includes(known.endReason)
}
