/** At which gateways a tenant's connectors are, told to all gateways so that each can reach them. */
import * as v from 'valibot'
import { LIMITS } from '../limits.ts'

const id = v.pipe(v.string(), v.minLength(1), v.maxLength(100))

/** A tenant, and the gateways; none of them: its connectors are nowhere. */
const HoldersSchema = v.tuple([id, v.pipe(v.array(id), v.maxLength(LIMITS.holdersNamedMax))])
export type Holders = readonly [string, readonly string[]]

/**
 * `is_first`: all of them follow, so that what was said before counts no longer. It may come from a
 * control plane that has just begun and has not heard all gateways.
 */
export const HoldersMessageSchema = v.object({
  type: v.literal('holders'),
  is_first: v.boolean(),
  tenants: v.pipe(v.array(HoldersSchema), v.maxLength(LIMITS.holdersTenantsSentMax)),
})
export type HoldersMessage = v.InferOutput<typeof HoldersMessageSchema>
