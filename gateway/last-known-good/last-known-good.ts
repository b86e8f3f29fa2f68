/**
 * The state of the fleet on this gateway's disk, so that it starts and serves without a control
 * plane. A change writes the files of one tenant:
 *
 *   guard/<tenant_id>                         hosts, protected?, suspended? — written first
 *   tenants/<tenant_id>.current, .previous    two generations of the snapshot
 *   revoked/<tenant_id>.current, .previous    two copies of the same revocations
 *   index/00 to ff                            tenants that are there and were not asked for
 *   position, settings
 *   endings.<number>                          ends of sessions, some in each
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { EnforcementEvent, FleetSettings } from '../../shared/fleet/snapshot.ts'
import type { SyncedRevision } from '../tenants/synced-revision.ts'
import { COPIES, FOLDERS, INDEX, listKept, readKeptState, type Folder } from './kept-state.ts'
import { createKeptEndings } from './kept-endings.ts'
import { GENERATIONS } from './recovery.ts'
import type { RevokedState } from '../../shared/enforcement/revoked-state.ts'
import {
  createDirectorySync,
  createSealedFiles,
  type FileKind,
  type FileName,
} from './sealed-file.ts'
import type { CurrentRecord, GuardRecord, IndexRecord, PositionRecord } from './stored-records.ts'
import { createWriteQueue } from './write-queue.ts'

/** Side by side, they share the costly syncs of their folders. */
const WRITES_AT_ONCE = 16
const RETRY_MS = 5_000
const OF_TENANT = 'tenant:'
const OF_BUCKET = 'bucket:'
/** What is not written by then was not acknowledged, so the next start asks for it. */
const CLOSE_MS_MAX = 1_000

export interface StoredTenant {
  readonly tenantId: string
  readonly synced: SyncedRevision
  readonly hash: string
  readonly version: string
  /** As received. */
  readonly snapshot: unknown
  readonly hostnames: readonly string[]
  readonly isProtected: boolean
  readonly isSuspended: boolean
  /** What a start has to know of it before it is asked for; null: workers are told of it at once. */
  readonly atStart: { readonly bytes: number; readonly sessionSeconds: number } | null
}

interface Pending {
  /** Files that the key before has sealed. */
  renewed?: readonly FileName[]
  /** Its guard does not tell yet. */
  told?: CurrentRecord
  tenant?: StoredTenant | 'removed' | 'unloaded'
  revoked?: RevokedState
}

interface LastKnownGoodOptions {
  readonly directory: string
  readonly fleetKey: string
  /** What it was until this start; null: the same. */
  readonly previousKey?: string | null
  readonly log: Logger
  readonly retryMs?: number
}

export type LastKnownGood = ReturnType<typeof openLastKnownGood>

export function openLastKnownGood(options: LastKnownGoodOptions) {
  const { directory, log } = options
  const files = createSealedFiles(options.fleetKey, options.previousKey ?? null)
  const at = (folder: Folder, name: string) => join(directory, folder, name)
  const syncGuards = createDirectorySync(join(directory, 'guard'))
  const syncTenants = createDirectorySync(join(directory, 'tenants'))
  const syncRevoked = createDirectorySync(join(directory, 'revoked'))
  const syncIndex = createDirectorySync(join(directory, INDEX))
  const syncRoot = createDirectorySync(directory)

  const pending = new Map<string, Pending>()
  const guards = new Map<string, GuardRecord>()
  const withRevoked = new Set<string>()
  /** A good previous generation is not to be replaced by a damaged current one. */
  const badCurrent = new Set<string>()
  /** Whether it is damaged nobody knows yet. */
  const unread = new Set<string>()
  /** Beside the tenants' folders; none yet of what has not changed since the start. */
  const ofAll = new Map<string, unknown>()
  const buckets = new Map<string, () => IndexRecord>()
  const endings = createKeptEndings(directory, files)

  const queue = createWriteQueue({
    write,
    onFailure(owner, error) {
      const { code, message } = error as NodeJS.ErrnoException
      log.error({ owner, code, reason: message }, 'cannot write the last known good state')
    },
    onRecovery: () => log.info('the last known good state can be written again'),
    concurrencyMax: WRITES_AT_ONCE,
    retryMs: options.retryMs ?? RETRY_MS,
    closeMsMax: CLOSE_MS_MAX,
  })

  async function write(owner: string) {
    if (owner.startsWith(OF_BUCKET)) return writeBucket(owner.slice(OF_BUCKET.length))
    if (!owner.startsWith(OF_TENANT)) return replaceRoot(owner as FileKind)
    const tenantId = owner.slice(OF_TENANT.length)
    const change = pending.get(tenantId)
    if (change === undefined) return
    pending.delete(tenantId)
    try {
      if (change.renewed !== undefined) await renew(change.renewed)
      if (change.told !== undefined) await tellGuard(tenantId, change.told)
      if (change.tenant === 'removed') await removeFiles(tenantId, true)
      if (change.tenant === 'unloaded') await removeFiles(tenantId, false)
      if (change.revoked !== undefined) await writeRevoked(tenantId, change.revoked)
      if (typeof change.tenant === 'object') await writeTenant(change.tenant)
    } catch (error) {
      pending.set(tenantId, { ...change, ...pending.get(tenantId) })
      makeFolders() // somebody may have removed them; the next try finds out
      throw error
    }
  }

  function keep(kind: FileKind, content: unknown, isUrgent: boolean) {
    ofAll.set(kind, content)
    return queue.push(kind, isUrgent)
  }

  async function replaceRoot(kind: FileKind) {
    makeFolders()
    const path = join(directory, kind)
    const content = ofAll.get(kind)
    if (kind === 'endings') await endings.write()
    else if (content === undefined) await files.renew({ path, kind, owner: '' })
    else await files.replace(path, kind, '', content)
    await syncRoot()
  }

  async function writeBucket(bucket: string) {
    makeFolders()
    const path = join(directory, INDEX, bucket)
    const record = buckets.get(bucket)
    if (record === undefined) await files.renew({ path, kind: 'index', owner: bucket })
    else await files.replace(path, 'index', bucket, record())
    await syncIndex()
  }

  /** The guard goes first: a change that is half written is then already in force. */
  async function writeTenant({ tenantId, synced, snapshot, ...tenant }: StoredTenant) {
    const { hash, version, atStart } = tenant
    const path = at('tenants', tenantId)
    if (
      unread.delete(tenantId) &&
      files.read(`${path}.current`, 'tenant', tenantId).kind !== 'read'
    )
      badCurrent.add(tenantId)
    await writeGuard(tenantId, {
      ...synced,
      hostnames: [...tenant.hostnames],
      is_protected: tenant.isProtected,
      is_suspended: tenant.isSuspended,
      has_revoked: withRevoked.has(tenantId),
      ...(atStart && {
        current: { hash, version, session_seconds: atStart.sessionSeconds, bytes: atStart.bytes },
      }),
    })
    const record = { ...synced, hash, version, snapshot }
    await files.write(`${path}.next`, 'tenant', tenantId, record)
    if (!badCurrent.has(tenantId)) await renameIfThere(`${path}.current`, `${path}.previous`)
    await rename(`${path}.next`, `${path}.current`)
    badCurrent.delete(tenantId)
    await Promise.all([syncGuards(), syncTenants()])
  }

  async function writeGuard(tenantId: string, guard: GuardRecord) {
    await files.replace(at('guard', tenantId), 'guard', tenantId, guard)
    guards.set(tenantId, guard)
  }

  async function tellGuard(tenantId: string, current: CurrentRecord) {
    const guard = guards.get(tenantId)
    if (guard === undefined) return
    await writeGuard(tenantId, { ...guard, current })
    await syncGuards()
  }

  async function writeRevoked(tenantId: string, revoked: RevokedState) {
    withRevoked.add(tenantId)
    const guard = guards.get(tenantId)
    if (guard !== undefined && !guard.has_revoked)
      await writeGuard(tenantId, { ...guard, has_revoked: true })
    const whole = revoked.whole()
    for (const copy of COPIES)
      await files.replace(at('revoked', `${tenantId}.${copy}`), 'revoked', tenantId, whole)
    await Promise.all([syncGuards(), syncRevoked()])
  }

  /** The guard goes last: a removal that is half done leaves hosts at 503, not unknown. */
  async function removeFiles(tenantId: string, isGone: boolean) {
    for (const generation of GENERATIONS)
      await rm(at('tenants', `${tenantId}.${generation}`), { force: true })
    for (const copy of isGone ? COPIES : [])
      await rm(at('revoked', `${tenantId}.${copy}`), { force: true })
    await Promise.all([syncTenants(), syncRevoked()])
    await rm(at('guard', tenantId), { force: true })
    await syncGuards()
    guards.delete(tenantId)
    if (isGone) withRevoked.delete(tenantId)
    badCurrent.delete(tenantId)
    unread.delete(tenantId)
  }

  async function renew(names: readonly FileName[]) {
    for (const name of names) await files.renew(name)
    await Promise.all([syncGuards(), syncTenants(), syncRevoked()])
  }

  /** Beside everything else: whoever starts with a new key serves at once. */
  async function renewAll(names: readonly FileName[]): Promise<boolean> {
    const old = Map.groupBy(names, ({ kind, owner }) =>
      kind === 'index' ? OF_BUCKET + owner : kind === 'endings' ? '' : owner,
    )
    if (old.size === 0) return true
    endings.renew()
    const asked = [...old].map(([owner, names]) => {
      if (owner === '') return Promise.all(names.map(({ kind }) => queue.push(kind, false)))
      if (owner.startsWith(OF_BUCKET)) return queue.push(owner, false)
      return ask(owner, { renewed: names }, false)
    })
    const isDone = (await Promise.all(asked)).flat().every((isWritten) => isWritten)
    if (isDone)
      log.info('what is kept is sealed under the new key: SERVICE_FLEET_KEY_PREVIOUS can go')
    return isDone
  }

  function makeFolders() {
    for (const folder of [...FOLDERS, INDEX])
      mkdirSync(join(directory, folder), { recursive: true, mode: 0o700 })
  }

  function ask(tenantId: string, change: Pending, isUrgent: boolean): Promise<boolean> {
    pending.set(tenantId, { ...pending.get(tenantId), ...change })
    return queue.push(OF_TENANT + tenantId, isUrgent)
  }

  return {
    load() {
      try {
        makeFolders()
        for (const path of ['', ...FOLDERS, INDEX]) chmodSync(join(directory, path), 0o700)
      } catch (error) {
        log.error({ error }, 'cannot prepare the folder of the last known good state')
      }
      const { state, tenantFiles, endingsFiles } = readKeptState(directory, files, log)
      endings.begin(endingsFiles)
      for (const [tenantId, found] of tenantFiles) {
        if (found.guard !== null) guards.set(tenantId, found.guard)
        if (found.hasRevoked) withRevoked.add(tenantId)
        if (found.isCurrentBad) badCurrent.add(tenantId)
        if (found.isUnread) unread.add(tenantId)
        if (found.untold !== null) void ask(tenantId, { told: found.untold }, false)
      }
      void renewAll(files.old())
      return state
    },
    /** Another key, from now on: what is there is sealed anew beside everything else. */
    async turnTo(fleetKey: string): Promise<void> {
      const key = files.turnTo(fleetKey)
      if (await renewAll(listKept(directory))) files.forgetOthers(key)
    },
    /** These settle with true once the disk has it, with false if that failed (and is retried). */
    saveTenant: (tenant: StoredTenant) => ask(tenant.tenantId, { tenant }, false),
    removeTenant: (tenantId: string) => {
      pending.delete(tenantId)
      return ask(tenantId, { tenant: 'removed' }, false)
    },
    /** What is revoked of it stays: sessions of it live on elsewhere. */
    unloadTenant: (tenantId: string) => ask(tenantId, { tenant: 'unloaded' }, false),
    saveIndex(bucket: string, record: () => IndexRecord) {
      buckets.set(bucket, record)
      return queue.push(OF_BUCKET + bucket, false)
    },
    saveRevoked: (tenantId: string, revoked: RevokedState) => ask(tenantId, { revoked }, true),
    savePosition: (position: PositionRecord) => keep('position', position, false),
    saveSettings: (settings: FleetSettings) => keep('settings', settings, true),
    /** Of sessions, all that the control plane has yet to hear of. */
    saveEndings(all: readonly EnforcementEvent[]) {
      endings.set(all)
      return queue.push('endings', true)
    },
    isHealthy: () => queue.isHealthy(),
    close: () => queue.close(),
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
