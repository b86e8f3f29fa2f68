/** Reading what a gateway has kept: every file once, at the start, before anything else runs. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import {
  TENANT_ID,
  type EnforcementEvent,
  type FleetSettings,
} from '../../shared/fleet/snapshot.ts'
import { BUCKET } from './index-buckets.ts'
import { listEndings, readEndingFiles } from './kept-endings.ts'
import { isNewer } from '../tenants/synced-revision.ts'
import { recover, recoverUnread, type Generation, type Recovered } from './recovery.ts'
import { Roster } from './roster.ts'
import type { FileKind, FileName, SealedFiles, SealedRead } from './sealed-file.ts'
import {
  readGuard,
  readIndex,
  readPosition,
  readRevoked,
  readSettings,
  readTenant,
  type CurrentRecord,
  type GuardRecord,
  type IndexRecord,
  type PositionRecord,
  type RecordRead,
} from './stored-records.ts'

export const FOLDERS = ['guard', 'tenants', 'revoked'] as const
export type Folder = (typeof FOLDERS)[number]
/** Of buckets, beside the folders with a file for each tenant. */
export const INDEX = 'index'
/** Of the revocations, both with the same content. */
export const COPIES = ['current', 'previous'] as const
const PROBLEMS_LOGGED_MAX = 100

export interface StoredState {
  /** null: the next hello asks for everything. */
  readonly position: PositionRecord | null
  /** Whose database has all that is revoked here; '' where nothing is. */
  readonly handedEpoch: string
  readonly settings: FleetSettings | null
  /** Of sessions, which the control plane has yet to hear of. */
  readonly endings: readonly EnforcementEvent[]
  readonly tenants: readonly Recovered[]
  /** Those that are only known to be there. One that is among `tenants`, too, is as it is there. */
  readonly index: IndexRecord
  /** Of all of them. */
  readonly roster: Roster
  readonly sync: number
  /** False on a fresh disk. */
  readonly isConfigured: boolean
  /** Some host of some tenant may be unknown. */
  readonly isDamaged: boolean
  /** One of `tenants` that was not read yet. */
  readonly readTenant: (tenantId: string) => Recovered
}

/** What the next write of a tenant has to know of its files. */
interface TenantFilesFound {
  readonly guard: GuardRecord | null
  readonly hasRevoked: boolean
  readonly isCurrentBad: boolean
  readonly isUnread: boolean
  /** What its guard is to tell at the next start, and does not yet. */
  readonly untold: CurrentRecord | null
}

type OpenFile = (folder: Folder, name: string, kind: FileKind, tenantId: string) => SealedRead

export function readKeptState(directory: string, files: SealedFiles, log: Logger) {
  const listing = list(directory, log)
  const isListed = FOLDERS.every((folder) => listing[folder] !== undefined)
  const tenantFiles = new Map<string, TenantFilesFound>()
  const position = readPosition(files.read(join(directory, 'position'), 'position', ''))
  const settings = readSettings(files.read(join(directory, 'settings'), 'settings', ''))
  const endingsFiles = readEndingFiles(directory, files)
  const { index, isIndexWhole } = readIndexFiles(directory, files, log)
  const kept = position.kind === 'read' ? position.record : null
  // up to here all that had come was written; who has all tenants hands all of them to its workers
  const wholeUpTo = index.length > 0 && isIndexWhole && !files.hasOtherKey ? kept : null

  // Most tenants have no second generation or revocations: opening what is not there is dear.
  const openListed: OpenFile = (folder, name, kind, tenantId) =>
    listing[folder]?.has(name) === false
      ? { kind: 'missing' }
      : openIn(directory, files)(folder, name, kind, tenantId)

  function readTenantFiles(tenantId: string): Recovered {
    const guard = readGuard(openListed('guard', tenantId, 'guard', tenantId))
    const isUnread =
      wholeUpTo !== null &&
      guard.kind === 'read' &&
      !isNewer(guard.record, wholeUpTo) &&
      listing.tenants?.has(`${tenantId}.current`) === true &&
      !listing.tenants.has(`${tenantId}.next`)
    if (isUnread && hasCurrent(guard.record)) {
      const recovered = recoverUnread(tenantId, guard.record, revokedFiles(openListed, tenantId))
      tenantFiles.set(tenantId, { ...found(recovered), isCurrentBad: false, isUnread })
      return recovered
    }
    const { recovered, isCurrentBad } = readTenantWhole(openListed, tenantId, guard)
    const untold = isUnread && recovered.isExact ? currentOf(recovered) : null
    tenantFiles.set(tenantId, { ...found(recovered), isCurrentBad, isUnread: false, untold })
    return recovered
  }

  const tenants = tenantIdsOf(listing).map(readTenantFiles)
  const judged = judge(tenants, index, isIndexWhole ? kept : null, kept)
  report(log, tenants)
  if (position.kind === 'damaged')
    log.error({ reason: position.reason }, 'the kept position is damaged, asking for everything')
  for (const { path, damage } of endingsFiles)
    if (damage !== undefined)
      log.error({ path, reason: damage }, 'some kept ends of sessions are damaged, and lost')
  const state: StoredState = {
    ...judged,
    handedEpoch: handedEpochOf(position, tenants.length > 0),
    isConfigured: position.kind !== 'missing' || tenants.length > 0,
    isDamaged: judged.isDamaged || position.kind === 'damaged' || !isListed || !isIndexWhole,
    settings: settings.kind === 'read' ? settings.record : null,
    endings: endingsFiles.flatMap(({ events }) => events),
    readTenant(tenantId) {
      const open = openIn(directory, files)
      const asTold = readCurrent(open, tenantId)
      if (asTold.tenant !== null && asTold.isExact) return asTold
      const { recovered } = readTenantWhole(open, tenantId)
      report(log, [recovered])
      return recovered
    },
  }
  return { state, tenantFiles, endingsFiles }
}

const openIn =
  (directory: string, files: SealedFiles): OpenFile =>
  (folder, name, kind, tenantId) =>
    files.read(join(directory, folder, name), kind, tenantId)

/** What a request waits for: of seven files, the two that matter where nothing is wrong. */
function readCurrent(open: OpenFile, tenantId: string): Recovered {
  const missing = { kind: 'missing' } as const
  const current = readTenant(open('tenants', `${tenantId}.current`, 'tenant', tenantId))
  return recover({
    tenantId,
    guard: readGuard(open('guard', tenantId, 'guard', tenantId)),
    generations: { current, next: missing, previous: missing },
    revoked: [],
  })
}

function readTenantWhole(
  open: OpenFile,
  tenantId: string,
  guard = readGuard(open('guard', tenantId, 'guard', tenantId)),
) {
  const generation = (name: Generation) =>
    readTenant(open('tenants', `${tenantId}.${name}`, 'tenant', tenantId))
  const current = generation('current')
  const recovered = recover({
    tenantId,
    guard,
    generations: { current, next: generation('next'), previous: generation('previous') },
    revoked: revokedFiles(open, tenantId),
  })
  return { recovered, isCurrentBad: current.kind === 'damaged' }
}

function revokedFiles(open: OpenFile, tenantId: string) {
  return COPIES.map((copy) =>
    readRevoked(open('revoked', `${tenantId}.${copy}`, 'revoked', tenantId)),
  )
}

function found({ guard, revoked, isRevokedLost }: Recovered) {
  return { guard, hasRevoked: revoked !== null || isRevokedLost, untold: null }
}

function hasCurrent(guard: GuardRecord): guard is GuardRecord & { current: CurrentRecord } {
  return guard.current !== undefined
}

/** Null where workers are told of it at once. */
function currentOf({ tenant }: Recovered): CurrentRecord | null {
  if (tenant === null || tenant.snapshot.mode === 'connector') return null
  const { hash, version, snapshot } = tenant
  const bytes = JSON.stringify(snapshot).length
  return { hash, version, session_seconds: snapshot.max_session_seconds, bytes }
}

/** Of one that was begun and not finished it is not known any more: then all of it is handed up. */
function handedEpochOf(position: RecordRead<PositionRecord>, isAny: boolean): string {
  if (position.kind !== 'read') return isAny ? 'unknown' : ''
  return position.record.handed_epoch ?? position.record.epoch
}

/** What cannot be read of it is asked for again. */
function readIndexFiles(directory: string, files: SealedFiles, log: Logger) {
  const index: IndexRecord = []
  let isIndexWhole = true
  let names: string[] = []
  try {
    names = readdirSync(join(directory, INDEX)).filter((name) => BUCKET.test(name))
  } catch (error) {
    // whoever has never been told of tenants by name has none
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') isIndexWhole = false
  }
  for (const name of names) {
    const read = readIndex(files.read(join(directory, INDEX, name), 'index', name))
    if (read.kind === 'read') for (const entry of read.record) index.push(entry)
    else isIndexWhole = false
  }
  if (!isIndexWhole) log.error('the kept index of tenants is damaged, asking for everything')
  return { index, isIndexWhole }
}

function judge(
  tenants: readonly Recovered[],
  index: IndexRecord,
  position: PositionRecord | null,
  kept: PositionRecord | null,
) {
  const roster = new Roster()
  let sync = kept?.sync ?? 0
  for (const [tenantId, own] of index) {
    sync = Math.max(sync, own)
    roster.fill(tenantId)
  }
  for (const { tenantId, tenant, unread, reserved } of tenants) {
    const known = tenant ?? unread ?? reserved
    if (known === null) continue
    sync = Math.max(sync, known.synced.sync)
    roster.fill(tenantId)
  }
  const isWhole = kept === null ? tenants.length === 0 : roster.is(kept)
  return {
    tenants,
    index,
    roster,
    sync,
    position: tenants.every((tenant) => tenant.isExact) ? position : null,
    isDamaged: !isWhole || tenants.some((tenant) => tenant.isLost),
  }
}

/** undefined for a folder that cannot be listed. */
type Listing = Record<Folder, ReadonlySet<string> | undefined>

function list(directory: string, log: Logger): Listing {
  const namesIn = (folder: Folder) => {
    try {
      return new Set(readdirSync(join(directory, folder)))
    } catch (error) {
      log.error({ error, folder }, 'cannot list the last known good state')
      return undefined
    }
  }
  return { guard: namesIn('guard'), tenants: namesIn('tenants'), revoked: namesIn('revoked') }
}

const KIND_IN = { guard: 'guard', tenants: 'tenant', revoked: 'revoked' } as const
const OF_ALL = ['position', 'settings'] as const

/** All files that are there; what cannot be listed cannot be sealed anew either, and is left out. */
export function listKept(directory: string): FileName[] {
  const namesIn = (folder: string) => {
    try {
      return readdirSync(join(directory, folder))
    } catch {
      return []
    }
  }
  const ofTenants = FOLDERS.flatMap((folder) =>
    namesIn(folder).map((name) => ({
      path: join(directory, folder, name),
      kind: KIND_IN[folder],
      owner: ownerOf(name),
    })),
  ).filter(({ owner }) => TENANT_ID.test(owner))
  const ofIndex = namesIn(INDEX)
    .filter((name) => BUCKET.test(name))
    .map((name) => ({ path: join(directory, INDEX, name), kind: 'index' as const, owner: name }))
  const ofAll = OF_ALL.map((kind) => ({ path: join(directory, kind), kind, owner: '' }))
  return [...ofTenants, ...ofIndex, ...ofAll, ...listEndings(directory)]
}

const ownerOf = (name: string) => name.replace(/\.(?:current|next|previous)$/, '')

function tenantIdsOf(listing: Listing): string[] {
  const tenantIds = new Set<string>()
  for (const folder of FOLDERS)
    for (const name of listing[folder] ?? []) {
      const tenantId = ownerOf(name)
      if (TENANT_ID.test(tenantId)) tenantIds.add(tenantId)
    }
  return [...tenantIds].sort()
}

function report(log: Logger, tenants: readonly Recovered[]): void {
  const damaged = tenants.filter((tenant) => tenant.problems.length > 0)
  for (const { tenantId, tenant, unread, problems } of damaged.slice(0, PROBLEMS_LOGGED_MAX)) {
    const revision = (tenant ?? unread)?.synced.revision
    if (revision === undefined)
      log.error({ tenant_id: tenantId, problems }, 'a kept tenant cannot be served')
    else
      log.warn(
        { tenant_id: tenantId, revision, problems },
        'a kept tenant is served from what is left',
      )
  }
  if (damaged.length > 0 && damaged.length === tenants.length)
    log.error(
      { tenants: tenants.length },
      'no kept tenant is whole: was SERVICE_FLEET_KEY changed? SERVICE_FLEET_KEY_PREVIOUS opens what is there',
    )
}
