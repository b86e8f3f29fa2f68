/** What the collector has found out, as the listener tells it. It has no rights to look by itself. */
import * as v from 'valibot'
import {
  DEVICE_FACTS,
  PostureSchema,
  type Fact,
  type Posture,
} from '../../../../shared/device/facts.ts'
import { postureHash } from '../../../../shared/device/posture-hash.ts'
import { VERSION } from '../../../../shared/version.ts'

export const CollectedSchema = v.object({
  version: v.literal(1),
  /** The machine's uptime when it was found out: no clock of the day is asked. */
  up_s: v.pipe(v.number(), v.minValue(0)),
  facts: PostureSchema.entries.facts,
  os: PostureSchema.entries.os,
})
export type Collected = v.InferOutput<typeof CollectedSchema>

export interface Told {
  readonly posture: Posture
  readonly hash: string
  readonly ageS: number
}

/** null, and what was collected before the machine last started: nothing is known. */
export function toldOf(collected: Collected | null, upS: number, platform: string): Told {
  const isOfThisStart = collected !== null && collected.up_s <= upS
  const found = isOfThisStart ? collected : nothingKnown(platform)
  const posture = { facts: found.facts, os: found.os, agent: VERSION }
  const ageS = isOfThisStart ? Math.floor(upS - collected.up_s) : 0
  return { posture, hash: postureHash(posture), ageS }
}

function nothingKnown(platform: string): Pick<Posture, 'facts' | 'os'> {
  const unknown: Fact = { value: 'unknown', reason: 'not_reported' }
  const facts = Object.fromEntries(DEVICE_FACTS.map((name) => [name, unknown]))
  const os = { id: platform === 'win32' ? 'windows' : platform, version: '' }
  return { facts: v.parse(PostureSchema.entries.facts, facts), os }
}
