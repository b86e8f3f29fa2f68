/**
 * What a machine says of itself. Each fact is true, false or unknown, with the reason as a code that
 * is put into words where it is shown. All of it is reported by the machine: whoever is root there can forge it.
 */
import * as v from 'valibot'
import { LIMITS } from '../limits.ts'

export const DEVICE_FACTS = [
  'disk_encrypted',
  'up_to_date',
  'firewall',
  'screen_lock',
  'secure_boot',
  'tpm',
] as const
export type DeviceFact = (typeof DEVICE_FACTS)[number]

export const DEVICE_PLATFORMS = ['linux', 'windows'] as const
export type DevicePlatform = (typeof DEVICE_PLATFORMS)[number]

/** Where the key of an enrolment lies. */
export const KEY_STORAGES = ['tpm', 'file'] as const
export type KeyStorage = (typeof KEY_STORAGES)[number]

const reason = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,59}$/))
/** For people, beside the reason: a mount, a package, a version. Never trusted, always escaped. */
const detail = v.pipe(v.string(), v.maxLength(LIMITS.deviceDetailCharactersMax))

const FactSchema = v.strictObject({
  value: v.union([v.boolean(), v.literal('unknown')]),
  reason,
  detail: v.optional(detail),
})
export type Fact = v.InferOutput<typeof FactSchema>

const version = v.pipe(v.string(), v.regex(/^[0-9A-Za-z][0-9A-Za-z.+~_-]{0,63}$/))

export const PostureSchema = v.strictObject({
  facts: v.strictObject({
    disk_encrypted: FactSchema,
    up_to_date: FactSchema,
    firewall: FactSchema,
    screen_lock: FactSchema,
    secure_boot: FactSchema,
    tpm: FactSchema,
  }),
  os: v.strictObject({
    /** `ID` of os-release, or `windows`. */
    id: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,39}$/)),
    /** `VERSION_ID`, or 10.0.<build>.<revision>; empty where there is none. */
    version: v.union([v.literal(''), version]),
  }),
  /** The program's own version. */
  agent: version,
})
export type Posture = v.InferOutput<typeof PostureSchema>
