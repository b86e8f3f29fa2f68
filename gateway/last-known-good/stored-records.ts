/** What the files of the last known good state hold, once they are decrypted. */
import * as v from 'valibot'
import {
  EnforcementEventSchema,
  FleetSettingsSchema,
  RevokedSchema,
  TENANT_ID,
  whole,
  type Revoked,
} from '../../shared/fleet/snapshot.ts'
import { HOSTNAME } from '../../shared/hosts.ts'
import type { SealedRead } from './sealed-file.ts'

/** One generation of a tenant. The snapshot as it came, so that a newer version can read more. */
const TenantRecordSchema = v.object({
  sync: whole,
  revision: whole,
  hash: v.string(),
  /** Left out by versions that compared hashes. */
  version: v.optional(v.string()),
  snapshot: v.unknown(),
})
export type TenantRecord = v.InferOutput<typeof TenantRecordSchema>

/** Kept apart from the generations: what must not be undone by falling back to an older one. */
const GuardRecordSchema = v.object({
  sync: whole,
  revision: whole,
  hostnames: v.array(v.pipe(v.string(), v.regex(HOSTNAME))),
  is_protected: v.boolean(),
  is_suspended: v.boolean(),
  has_revoked: v.boolean(),
  /**
   * What a start has to know of the current generation, which is then read when somebody asks for it.
   * Left out where workers are told of it at once, and by versions that read all of them.
   */
  current: v.optional(
    v.object({ hash: v.string(), version: v.string(), session_seconds: whole, bytes: whole }),
  ),
})
export type CurrentRecord = NonNullable<v.InferOutput<typeof GuardRecordSchema>['current']>
export type GuardRecord = v.InferOutput<typeof GuardRecordSchema>

/** Tenants that are there and were not asked for: id, sync, revision, version, hosts. */
export type IndexRecord = [
  tenantId: string,
  sync: number,
  revision: number,
  version: string,
  hostnames: string[],
][]

/** By hand: a hundred thousand of them are checked in a tenth of the time, and none is copied. */
const IndexRecordSchema = v.custom<IndexRecord>(
  (content) => Array.isArray(content) && content.every(isIndexEntry),
)

function isIndexEntry(entry: unknown): boolean {
  if (!Array.isArray(entry) || entry.length !== 5) return false
  const [tenantId, sync, revision, version, hostnames] = entry as unknown[]
  return (
    isTextOf(TENANT_ID, tenantId) &&
    isWhole(sync) &&
    isWhole(revision) &&
    typeof version === 'string' &&
    Array.isArray(hostnames) &&
    hostnames.every((host) => isTextOf(HOSTNAME, host))
  )
}

function isTextOf(grammar: RegExp, text: unknown): boolean {
  return typeof text === 'string' && grammar.test(text)
}

function isWhole(number: unknown): boolean {
  return Number.isSafeInteger(number) && (number as number) >= 0
}

const PositionRecordSchema = v.object({
  epoch: v.string(),
  revision: whole,
  sync: whole,
  /** A digest of who is served, so that a tenant whose files are all gone is missed. */
  roster: v.string(),
  /** A sum of the same that is sooner made; left out by versions before it. */
  roster_quick: v.optional(v.string()),
  /** Whose database has all that is revoked here; left out by versions that took it for `epoch`. */
  handed_epoch: v.optional(v.string()),
})
export type PositionRecord = v.InferOutput<typeof PositionRecordSchema>

/** Ends of sessions that the control plane has not been told of. */
const EndingsRecordSchema = v.array(EnforcementEventSchema)

export type RecordRead<T> =
  | { readonly kind: 'read'; readonly record: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'damaged'; readonly reason: string }

export const readTenant = reader(TenantRecordSchema)
export const readGuard = reader(GuardRecordSchema)
export const readIndex = reader(IndexRecordSchema)
export const readPosition = reader(PositionRecordSchema)
export const readSettings = reader(FleetSettingsSchema)
export const readEndings = reader(EndingsRecordSchema)
export const readRevoked: (file: SealedRead) => RecordRead<Revoked> = reader(RevokedSchema)

function reader<T>(schema: v.GenericSchema<unknown, T>) {
  return (file: SealedRead): RecordRead<T> => {
    if (file.kind !== 'read') return file
    const result = v.safeParse(schema, file.content)
    if (result.success) return { kind: 'read', record: result.output }
    return { kind: 'damaged', reason: 'the content has another shape' }
  }
}
