/**
 * What machines did here, as gateways tell it: who was let in, how often and from where, and who was
 * refused. Refusals are gathered by their reason, so that a flood of them is a few events.
 */
import { SECOND_MS } from '../../../../shared/clock.ts'
import { createMachineUses, USES_TOLD_MS } from '../../../../shared/enforcement/machine-uses.ts'
import type { MachinePass } from '../../../../shared/enforcement/machines.ts'
import { isMachineReason, type RefuseReason } from '../../../../shared/reasons.ts'
import type { EnforcedEvent } from './events.ts'

type Place = Pick<EnforcedEvent, 'ip' | 'app_host'>

const GATHER_MS = 5 * SECOND_MS

export function createMachineReports(tenantId: string, tell: (event: EnforcedEvent) => void) {
  const uses = createMachineUses(({ serviceId: subject, secretId: sid, ip, requests: count }) => {
    const event = { outcome: 'forwarded', reason: 'machine', subject, sid, count } as const
    tell(ip === '' ? event : { ...event, ip })
  })
  const timer = setInterval(uses.flush, USES_TOLD_MS).unref()
  const refused = new Map<RefuseReason, Place & { count: number }>()
  let gathering: NodeJS.Timeout | undefined

  function tellRefused() {
    clearTimeout(gathering)
    gathering = undefined
    for (const [reason, place] of refused) tell({ outcome: 'refused', reason, ...place })
    refused.clear()
  }

  return {
    used: (pass: MachinePass, { ip = '' }: Place, nowSeconds: number) =>
      uses.note(tenantId, pass, ip, nowSeconds),
    /** Of other refusals it says nothing: whoever is not signed in is no news. */
    refused(reason: RefuseReason, place: Place) {
      if (!isMachineReason(reason)) return
      const count = (refused.get(reason)?.count ?? 0) + 1
      refused.set(reason, { ...place, count })
      gathering ??= setTimeout(tellRefused, GATHER_MS).unref()
    },
    close() {
      clearInterval(timer)
      uses.flush()
      tellRefused()
    },
  }
}
