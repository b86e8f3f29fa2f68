/** The enforcement feed: what an instance of an application in sdk mode asks for, and is told. */
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { isKnownTo } from '../../shared/fleet/features.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import type { Instances } from './instances.ts'
import { isNoneMatch, type Poll } from './poll-headers.ts'
import type { FeedStates } from './states.ts'

interface PollAnswer {
  readonly etag: string
  /** undefined: the instance has it already. */
  readonly body: string | undefined
}

export function createFeed(world: {
  readonly states: FeedStates
  readonly instances: Instances
  readonly clock: Clock
}) {
  const { states, instances, clock } = world
  /** Of their own, so that many instances never make us forget who has asked for something else. */
  const rates = createRateLimits(clock, LIMITS.feedInstancesMax)

  return {
    /** One instance that asks in a loop holds up neither the others of its tenant nor the rest. */
    admit({ tenantId }: Tenant, instance: string): void {
      rates.take('instance', `${tenantId} ${instance}`, LIMITS.rateFeedInstance)
      rates.take('tenant', tenantId, LIMITS.rateFeedTenant)
    },

    async poll(
      { tenantId }: Tenant,
      poll: Poll,
      ifNoneMatch: string | undefined,
    ): Promise<PollAnswer> {
      const state = await states.current(tenantId)
      if (state === undefined) throw new Refusal('tenant_not_found')
      requireFeed(state.tenant)
      const told = isKnownTo(poll.features, state.needs) ? state : state.closed()
      instances.polled(tenantId, poll, told.hash)
      const seconds = instances.pollSeconds(tenantId)
      const etag = told.etag(seconds)
      return { etag, body: isNoneMatch(ifNoneMatch, etag) ? undefined : told.body(seconds) }
    },
  }
}

/** In the other modes the edge enforces, and a draft has neither key nor sign-in yet. */
export function requireFeed({ mode, status }: Pick<Tenant, 'mode' | 'status'>): void {
  if (mode !== 'sdk') throw new Refusal('mode_not_sdk')
  if (status === 'draft') throw new Refusal('tenant_draft')
}
