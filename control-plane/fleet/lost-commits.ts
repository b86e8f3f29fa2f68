/**
 * A gateway that is ahead of the database has seen commits which the database has lost: a replica
 * took over too early, or somebody put an older copy back. What comes next would be given revisions
 * that others have seen for something else, so a new epoch begins.
 */
import type { Logger } from 'pino'
import type { Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { FleetPosition, FleetSource } from './source.ts'

interface LostCommitsOptions {
  readonly source: Pick<FleetSource, 'position' | 'beginEpoch'>
  readonly log: Logger
  readonly clock: Clock
}

interface Seen extends FleetPosition {
  /** Of the gateway. */
  readonly id: string
}

export function watchForLostCommits({ source, log, clock }: LostCommitsOptions) {
  let begunMs = -Infinity
  let beginning: Promise<boolean> | null = null

  async function begin({ id, revision }: Seen, ours: FleetPosition): Promise<boolean> {
    const ahead = revision - ours.revision
    const told = { gateway_id: id, revision: ours.revision, ahead }
    const isTooSoon = clock.steadyMs() - begunMs < LIMITS.fleetEpochMsMin
    if (isTooSoon || ahead > LIMITS.fleetAheadRevisionsMax) {
      log.error(told, 'a gateway says that it is ahead of the database; it gets everything again')
      return false
    }
    begunMs = clock.steadyMs()
    await source.beginEpoch()
    log.error(
      told,
      'the database has lost commits that a gateway has seen, so a new epoch begins: every gateway gets everything again, and hands up what it knows to be revoked',
    )
    return true
  }

  return {
    /** True: a new epoch has begun, and the gateway has to connect again. */
    async foundBy(seen: Seen): Promise<boolean> {
      // read anew: another control plane may be further than what this one has followed
      const ours = await source.position()
      if (seen.epoch !== ours.epoch || seen.revision <= ours.revision) return false
      beginning ??= begin(seen, ours).finally(() => {
        beginning = null
      })
      return beginning
    },
  }
}
