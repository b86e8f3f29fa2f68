/** A database that is of an earlier time, before anybody is served from it. */
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { raiseListNumber } from '../connectors/gateway-doors.ts'
import { revokeEverybody, voidOlder, type Voided } from '../store/queries/void-older.ts'
import type { Store } from '../store/store.ts'

const ACTOR = { name: 'restore', requestId: '' }

/** All of it or nothing; once more does the same again. */
export async function makeSafe(store: Store, clock: Clock): Promise<Voided> {
  const nowMs = clock.nowMs()
  return store.change(async (change) => {
    const { queries } = change
    await change.beginEpoch()
    const voided = await voidOlder(queries, nowMs)
    const notBefore = Math.floor(nowMs / SECOND_MS) + 1
    await revokeEverybody(queries, { notBefore, nowMs })
    await raiseListNumber(queries) // connectors follow none that is older than theirs
    await change.audit(ACTOR, { action: 'database.restored', content: { ...voided } })
    return voided
  })
}
