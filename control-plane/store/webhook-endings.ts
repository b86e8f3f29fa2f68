import { LIMITS } from '../../shared/limits.ts'
import { writeEndings } from './queries/webhook-endings.ts'
import type { Store } from './store.ts'

/**
 * What waited for webhooks of this tenant and is over is written down, a few in a change. It is over
 * whatever becomes of this: the jobs go on with it.
 */
export async function followEndings(store: Pick<Store, 'change'>, tenantId: string): Promise<void> {
  try {
    for (let turn = 0; turn < LIMITS.webhookEndingsWaitedForMax; turn++)
      if (!(await store.change(({ queries, nowMs }) => writeEndings(queries, nowMs, tenantId))))
        return
  } catch {
    // a store that is busy, or closed
  }
}
