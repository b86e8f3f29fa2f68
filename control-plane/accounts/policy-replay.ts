/** Asks what a proposed policy would have decided about the sign-ins of the last days. */
import { setImmediate as breathe } from 'node:timers/promises'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { LOCKOUT_MEMORY_SECONDS } from '../policy/lockout.ts'
import type { Policies, PolicyName } from '../policy/policies.ts'
import { createReplay, type PastSignIn, type Replay } from '../policy/replay.ts'
import { signInsSince, type SignInRow } from '../store/queries/sign-ins.ts'
import type { Store } from '../store/store.ts'
import { createReplayTurns } from '../tenants/replay-turns.ts'
import { putTogether, type PolicyInput, type TenantPolicies } from '../tenants/policies.ts'

const DAY_MS = 86_400 * SECOND_MS
const ROWS_AT_ONCE = 500
/** Others have their turn so often. */
const BREATHE_MS = 10

export interface ReplayResult extends Replay {
  /** Not all sign-ins of these days were looked at, but the oldest: there are many, or it took long. */
  readonly isCut: boolean
}

export function createPolicyReplay({
  store,
  policies,
  clock,
}: {
  readonly store: Store
  readonly policies: Pick<TenantPolicies, 'of'>
  readonly clock: Clock
}) {
  const inTurn = createReplayTurns()

  return <Name extends PolicyName>(
    ...asked: [tenantId: string, name: Name, input: PolicyInput<Name>, days: number]
  ): Promise<ReplayResult> => inTurn(asked[0], () => replayed(...asked))

  async function replayed<Name extends PolicyName>(
    tenantId: string,
    name: Name,
    input: PolicyInput<Name>,
    days: number,
  ): Promise<ReplayResult> {
    const endMs = clock.steadyMs() + LIMITS.replayMsMax
    const current = await policies.of(tenantId)
    const proposed: Policies = { ...current, [name]: putTogether(name, current, input) }
    const one = createReplay(current, proposed)
    const sinceMs = clock.nowMs() - days * DAY_MS
    const rows = pastSignIns(store, tenantId, sinceMs - LOCKOUT_MEMORY_SECONDS * SECOND_MS)
    let seen = 0
    let breathedMs = performance.now()
    for await (const row of rows) {
      if (performance.now() - breathedMs > BREATHE_MS) {
        await breathe()
        breathedMs = performance.now()
      }
      const isOver = clock.steadyMs() > endMs
      if (++seen > LIMITS.replaySignInsMax || isOver) return { ...one.result(), isCut: true }
      one.add(toPast(row), row.at >= sinceMs)
    }
    return { ...one.result(), isCut: false }
  }
}

async function* pastSignIns(store: Store, tenantId: string, sinceMs: number) {
  let behind: SignInRow | undefined
  for (;;) {
    const rows = await signInsSince(store.read, tenantId, sinceMs, behind, ROWS_AT_ONCE)
    yield* rows
    behind = rows.at(-1)
    if (rows.length < ROWS_AT_ONCE) return
  }
}

function toPast(row: SignInRow): PastSignIn {
  const { signInId: id, userId, loginHash, ip, countedAs, site, isFailure, isKnownDevice } = row
  const at = Math.floor(row.at / SECOND_MS)
  const facts = row.facts as unknown as PastSignIn['facts']
  return { id, at, userId, loginHash, ip, countedAs, site, isFailure, isKnownDevice, facts }
}
