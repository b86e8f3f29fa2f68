/**
 * What an answer says of a change that holds at the gateways: who goes by it, by the time that
 * somebody is told. With names of gateways: for operators, who run them, and for nobody else.
 */
import type { Instances } from '../../feed/instances.ts'
import { isEverywhere, type Enforced } from '../../store/enforced.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import type { ApiContext } from '../../http/context.ts'

export interface EnforcedAnswersWorld {
  readonly tenants: Pick<Tenants, 'find'>
  readonly instances: Pick<Instances, 'pollingOf' | 'pollSeconds'>
  readonly changeEnforced: (tenantId: string) => Promise<Enforced>
}

export const WAITS =
  'Waits up to a second for every connected gateway to apply it; `enforced` counts those that did and names the others.'

/** Of gateways, whoever's change it is. */
export function gatewaysView({ applied, pending, notDurable, unreachable }: Enforced) {
  return {
    gateways: applied.length,
    of: applied.length + pending.length,
    ...(pending.length > 0 && { pending }),
    ...(notDurable.length > 0 && { not_durable: notDurable }),
    ...(unreachable.length > 0 && { unreachable }),
  }
}

export function enforcedAnswers({ tenants, instances, changeEnforced }: EnforcedAnswersWorld) {
  async function view(tenantId: string, enforced: Enforced) {
    const gateways = gatewaysView(enforced)
    if ((await tenants.find(tenantId))?.mode !== 'sdk') return gateways
    const of = instances.pollingOf(tenantId)
    return { ...gateways, instances: { of, within_seconds: instances.pollSeconds(tenantId) } }
  }

  return {
    /** Of ended sessions. */
    view,

    /** Of a change of the tenant that has just been made. */
    change: async (tenantId: string) => view(tenantId, await changeEnforced(tenantId)),

    /** 204 where it holds everywhere; else 202 with who does not go by it yet. */
    async gone(c: ApiContext, tenantId: string, enforced: Enforced, gone: Record<string, string>) {
      if (isEverywhere(enforced)) return c.body(null, 204)
      return c.json({ ...gone, enforced: await view(tenantId, enforced) }, 202)
    },
  }
}
