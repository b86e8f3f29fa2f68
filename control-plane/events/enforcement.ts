/**
 * What gateways report of their own accord. A sign-out or a session that its binding has ended at
 * one gateway must be dead at all of them, so those become revocations here.
 */
import type { EnforcementEvent } from '../../shared/snapshot.ts'
import { revokeIn } from '../accounts/revocations.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Change, Store } from '../store/store.ts'

export type Enforcement = ReturnType<typeof createEnforcement>

export function createEnforcement({ store }: { store: Store }) {
  return {
    /** May be given the same batch twice: a session that has ended already stays as it is. */
    async receive(events: readonly EnforcementEvent[]): Promise<void> {
      if (events.length === 0) return
      await store.change(async (change) => {
        const known = new Map<string, boolean>()
        for (const event of events) {
          const { tenant_id: tenantId } = event
          if (!known.has(tenantId))
            known.set(tenantId, (await findTenant(change.queries, tenantId)) !== undefined)
          if (known.get(tenantId) === true) await take(change, event)
        }
      })
    },
  }
}

async function take(change: Change, event: EnforcementEvent): Promise<void> {
  const { tenant_id: tenantId, outcome, sid } = event
  switch (outcome) {
    case 'logout':
      if (sid !== undefined) await revokeIn(change, tenantId, { sid }, 'signed_out', null)
      return
    case 'terminate':
      if (sid !== undefined) await revokeIn(change, tenantId, { sid }, 'terminated', null)
      return change.emit('session.terminated', tenantId, contentOf(event))
    case 'step_up':
      return change.emit('signin.step_up', tenantId, contentOf(event))
    default:
      return // counted by the gateway's own metrics
  }
}

function contentOf(event: EnforcementEvent): Record<string, unknown> {
  const { tenant_id: _tenant, outcome: _outcome, ...content } = event
  return content
}
