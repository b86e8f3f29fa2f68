/**
 * What to serve of one tenant from whatever its files still say. Pure. The one rule above all:
 * falling back never takes a tenant from protected to pass-through, from suspended to served, or a
 * revoked session or secret of a machine back to life; where that is not sure, its hosts answer 503.
 */
import * as v from 'valibot'
import { issueReason } from '../../shared/fleet/parse.ts'
import {
  mergeRevoked,
  TenantSnapshotSchema,
  type Revoked,
  type TenantSnapshot,
} from '../../shared/fleet/snapshot.ts'
import { isNewer, type SyncedRevision } from '../tenants/synced-revision.ts'
import type { CurrentRecord, GuardRecord, RecordRead, TenantRecord } from './stored-records.ts'

/** The newest first. `next` is complete but was not renamed yet when the process died. */
export const GENERATIONS = ['current', 'next', 'previous'] as const
export type Generation = (typeof GENERATIONS)[number]

interface TenantFiles {
  readonly tenantId: string
  readonly guard: RecordRead<GuardRecord>
  readonly generations: Readonly<Record<Generation, RecordRead<TenantRecord>>>
  /** Two copies of the same state, not two generations. */
  readonly revoked: readonly RecordRead<Revoked>[]
}

interface RecoveredTenant {
  readonly synced: SyncedRevision
  /** '' when it is not what the control plane sent, so that it does not count as the same. */
  readonly hash: string
  readonly version: string
  readonly snapshot: TenantSnapshot
}

interface UnreadTenant {
  readonly synced: SyncedRevision
  readonly hostnames: readonly string[]
  readonly current: CurrentRecord
}

export interface Recovered {
  readonly tenantId: string
  readonly tenant: RecoveredTenant | null
  /** As its guard tells of it: read when somebody asks for it. */
  readonly unread: UnreadTenant | null
  /** Hosts that are known to be this tenant's, while nothing of it can be served. */
  readonly reserved: {
    readonly hostnames: readonly string[]
    readonly synced: SyncedRevision
  } | null
  /** Not even all of its hosts are known. */
  readonly isLost: boolean
  readonly revoked: Revoked | null
  readonly isRevokedLost: boolean
  /** Nothing is missing or changed: the kept position is true for this tenant. */
  readonly isExact: boolean
  readonly guard: GuardRecord | null
  readonly problems: readonly string[]
}

interface Readable extends RecoveredTenant {
  readonly generation: Generation
}

export function recover(files: TenantFiles): Recovered {
  const problems: string[] = []
  const guard = readOf('guard', files.guard, problems)
  const revocations = recoverRevoked(files.revoked, guard, problems)
  const newest = newestReadable(files, problems)
  const served =
    newest === undefined ? nothingReadable(files, guard) : serve(newest, guard, problems)
  return { tenantId: files.tenantId, unread: null, guard, problems, ...revocations, ...served }
}

/** Its current generation is on the disk whole, as far as anybody knows. */
export function recoverUnread(
  tenantId: string,
  guard: GuardRecord & { readonly current: CurrentRecord },
  revoked: readonly RecordRead<Revoked>[],
): Recovered {
  const problems: string[] = []
  const { sync, revision, hostnames, current } = guard
  const unread = { synced: { sync, revision }, hostnames, current }
  const revocations = recoverRevoked(revoked, guard, problems)
  const served = { tenant: null, unread, reserved: null, isLost: false, isExact: true }
  return { tenantId, guard, problems, ...revocations, ...served }
}

type Outcome = Pick<Recovered, 'tenant' | 'reserved' | 'isLost' | 'isExact'>

function nothingReadable({ generations, guard: file }: TenantFiles, guard: GuardRecord | null) {
  if (guard !== null) return reserve(guard.hostnames, guard, false)
  const isTraceless =
    file.kind === 'missing' && GENERATIONS.every((name) => generations[name].kind === 'missing')
  return { tenant: null, reserved: null, isLost: !isTraceless, isExact: isTraceless }
}

function serve(newest: Readable, guard: GuardRecord | null, problems: string[]): Outcome {
  const { snapshot, synced, hash, version } = newest
  if (guard === null) {
    // Whether it was suspended since, nobody can say any more.
    if (newest.generation !== 'current')
      return reserve(Object.keys(snapshot.edge_urls), synced, true)
    problems.push('protection is on, as the guard is not there to say otherwise')
    return serveAs({ ...snapshot, protection: 'on' }, synced)
  }
  const isForced = guard.is_protected && snapshot.protection !== 'on'
  const isSuspended = guard.is_suspended && snapshot.status !== 'suspended'
  if (isForced) problems.push('protection stays on, the readable generation says pass-through')
  if (isSuspended)
    problems.push('the tenant stays suspended, the readable generation says otherwise')
  const isOld = isNewer(guard, synced)
  if (isOld) problems.push(`revision ${synced.revision} is served, ${guard.revision} is lost`)
  if (!isForced && !isSuspended && !isOld && newest.generation === 'current')
    return {
      tenant: { synced, hash, version, snapshot },
      reserved: null,
      isLost: false,
      isExact: true,
    }

  const edgeUrls = Object.entries(snapshot.edge_urls)
  return serveAs(
    {
      ...snapshot,
      protection: isForced ? 'on' : snapshot.protection,
      status: isSuspended ? 'suspended' : snapshot.status,
      // Which of its secrets have been revoked since nobody can say: none is good until somebody does.
      services: isOld ? undefined : snapshot.services,
      // A host that it has given up may be another tenant's by now.
      edge_urls: Object.fromEntries(edgeUrls.filter(([host]) => guard.hostnames.includes(host))),
    },
    synced,
  )
}

function serveAs(snapshot: TenantSnapshot, synced: SyncedRevision): Outcome {
  const tenant = { synced, hash: '', version: '', snapshot }
  return { tenant, reserved: null, isLost: false, isExact: false }
}

function reserve(hostnames: readonly string[], synced: SyncedRevision, isLost: boolean): Outcome {
  const { sync, revision } = synced
  const reserved = { hostnames, synced: { sync, revision } }
  return { tenant: null, reserved, isLost, isExact: false }
}

function newestReadable(files: TenantFiles, problems: string[]): Readable | undefined {
  let newest: Readable | undefined
  for (const generation of GENERATIONS) {
    const file = files.generations[generation]
    const record = readOf(generation, file, problems)
    if (record === null) continue
    const parsed = v.safeParse(TenantSnapshotSchema, record.snapshot, { abortEarly: true })
    if (!parsed.success) {
      problems.push(`${generation}: ${issueReason(parsed.issues[0])}`)
      continue
    }
    const { sync, revision, hash, version = hash } = record
    const synced = { sync, revision }
    const readable = { generation, synced, hash, version, snapshot: parsed.output }
    if (newest === undefined || isNewer(readable.synced, newest.synced)) newest = readable
  }
  return newest
}

function recoverRevoked(
  copies: readonly RecordRead<Revoked>[],
  guard: GuardRecord | null,
  problems: string[],
): Pick<Recovered, 'revoked' | 'isRevokedLost'> {
  let revoked: Revoked | null = null
  let isDamaged = false
  for (const copy of copies) {
    if (copy.kind === 'damaged') isDamaged = true
    const record = readOf('revoked', copy, problems)
    if (record !== null) revoked = revoked === null ? record : mergeRevoked(revoked, record)
  }
  const isMissing = revoked === null && guard?.has_revoked === true
  if (isMissing && !isDamaged) problems.push('revoked: the file is missing')
  return { revoked, isRevokedLost: revoked === null && (isDamaged || isMissing) }
}

function readOf<T>(name: string, file: RecordRead<T>, problems: string[]): T | null {
  if (file.kind === 'read') return file.record
  if (file.kind === 'damaged') problems.push(`${name}: ${file.reason}`)
  return null
}
