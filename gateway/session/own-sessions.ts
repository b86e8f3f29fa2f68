/**
 * A person's sessions and devices, as the realm knows them: asked for only where a person wants to
 * see or end them, never on the way of a request to the application. What takes too long, is too
 * much or comes too often is answered as not to be had.
 */
import * as v from 'valibot'
import { readBounded } from '../../shared/bounded-text.ts'
import type { SteadyClock } from '../../shared/clock.ts'
import { DEVICE_PLATFORMS } from '../../shared/device/facts.ts'
import { DEVICE_STATES } from '../../shared/device/messages.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits } from '../../shared/rate-limits.ts'
import type { CompiledTenant } from '../tenants/compiled.ts'
import { reasonOf } from '../../shared/sign-in/service-request.ts'
import type { RealmClient } from './realm-client.ts'

const Text = v.pipe(v.string(), v.maxLength(LIMITS.userAgentTextMax))
const Time = v.pipe(v.string(), v.isoTimestamp())

const Listed = v.object({
  sessions: v.array(
    v.object({
      sid: Text,
      current: v.boolean(),
      browser: Text,
      ip: Text,
      started_at: Time,
      last_seen_at: Time,
    }),
  ),
  devices: v.array(
    v.object({
      device_id: Text,
      browser: Text,
      ip: Text,
      first_seen_at: Time,
      last_seen_at: Time,
    }),
  ),
  /** With our agent. A control plane that is older says nothing of them. */
  machines: v.optional(
    v.array(
      v.object({
        device_id: Text,
        hostname: Text,
        platform: v.fallback(v.picklist(DEVICE_PLATFORMS), 'linux'),
        state: v.fallback(v.picklist(DEVICE_STATES), 'pending'),
        last_seen_at: Time,
        facts: v.array(
          v.object({
            fact: Text,
            value: v.union([v.boolean(), v.literal('unknown')]),
            reason: Text,
          }),
        ),
      }),
    ),
    [],
  ),
})
export type Listed = v.InferOutput<typeof Listed>

/** A session, a browser that is known, or a machine with our agent. */
export type Ending =
  | { readonly sid: string }
  | { readonly device: string }
  | { readonly machine: string }
type OwnAnswer =
  | { readonly kind: 'listed'; readonly listed: Listed }
  | { readonly kind: 'not_found' | 'unavailable' }

/** Whose: the token speaks for the person, its `sid` is what the rate is held to. */
interface Holder {
  readonly token: string
  readonly claims: { readonly sid: string }
}

interface OwnSessionsWorld {
  readonly realm: Pick<RealmClient, 'request'>
  readonly clock: SteadyClock
  readonly log: { warn(fields: object, text: string): void }
}

const UNAVAILABLE: OwnAnswer = { kind: 'unavailable' }

export type OwnSessions = ReturnType<typeof createOwnSessions>

export function createOwnSessions({ realm, clock, log }: OwnSessionsWorld) {
  const rates = createRateLimits(clock)
  let asking = 0

  async function ask(
    { tenantId, client }: CompiledTenant,
    { token, claims }: Holder,
    more: Record<string, string>,
  ): Promise<OwnAnswer> {
    const key = `${tenantId} ${claims.sid}`
    if (rates.waitSeconds('own', key, LIMITS.rateOwnSessions) !== undefined) return UNAVAILABLE
    if (asking >= LIMITS.ownSessionsAsksMax) return UNAVAILABLE
    asking++
    try {
      const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
      const answer = await realm.request(`${client.issuer}/own-sessions`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${credentials}`,
          'content-type': 'application/x-www-form-urlencoded',
          accept: 'application/json',
        },
        body: new URLSearchParams({ session_token: token, ...more }).toString(),
        signal: AbortSignal.timeout(LIMITS.ownSessionsMsMax),
      })
      const text = await readBounded(answer, LIMITS.ownSessionsBytesMax)
      if (answer.statusCode === 404 && isNotOwn(text)) return { kind: 'not_found' }
      if (answer.statusCode !== 200) throw new Error(`the realm answered ${answer.statusCode}`)
      return { kind: 'listed', listed: v.parse(Listed, JSON.parse(text)) }
    } catch (error) {
      log.warn({ reason: reasonOf(error), tenant_id: tenantId }, 'own sessions not to be had')
      return UNAVAILABLE
    } finally {
      asking--
    }
  }

  return {
    list: (tenant: CompiledTenant, holder: Holder) => ask(tenant, holder, {}),
    end: (tenant: CompiledTenant, holder: Holder, ending: Ending) =>
      ask(tenant, holder, asForm(ending)),
  }
}

function asForm(ending: Ending): Record<string, string> {
  if ('sid' in ending) return { end_sid: ending.sid }
  return 'device' in ending ? { end_device: ending.device } : { end_machine: ending.machine }
}

/** A control plane that does not know this address says 404 as well, for another reason. */
function isNotOwn(text: string): boolean {
  return text.includes('"session_or_device_not_found"')
}
