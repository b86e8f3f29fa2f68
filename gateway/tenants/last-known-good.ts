/**
 * The state of the fleet on this gateway's disk, so that it starts and serves without a control
 * plane. A change writes the files of one tenant:
 *
 *   guard/<tenant_id>                         hosts, protected?, suspended? — written first
 *   tenants/<tenant_id>.current, .previous    two generations of the snapshot
 *   revoked/<tenant_id>.current, .previous    two copies of the same revocations
 *   position, settings
 */
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { StateDigest } from '../../shared/fleet-digest.ts'
import { TENANT_ID, type FleetSettings } from '../../shared/snapshot.ts'
import type { Rank } from './directory.ts'
import { GENERATIONS, recover, type Recovered } from './recovery.ts'
import type { RevokedState } from './revoked-state.ts'
import { createDirectorySync, createSealedFiles, type FileKind } from './sealed-file.ts'
import {
  readGuard,
  readPosition,
  readRevoked,
  readSettings,
  readTenant,
  type GuardRecord,
  type PositionRecord,
} from './stored-records.ts'
import { createWriteQueue } from './write-queue.ts'

/** Side by side, they share the costly syncs of their folders. */
const WRITES_AT_ONCE = 16
const RETRY_MS = 5_000
/** What is not written by then was not acknowledged, so the next start asks for it. */
const CLOSE_MS_MAX = 1_000
const PROBLEMS_LOGGED_MAX = 100
const FOLDERS = ['guard', 'tenants', 'revoked'] as const
const COPIES = ['current', 'previous'] as const

export interface StoredTenant {
  readonly tenantId: string
  readonly rank: Rank
  readonly hash: string
  /** As received. */
  readonly snapshot: unknown
  readonly hostnames: readonly string[]
  readonly isProtected: boolean
  readonly isSuspended: boolean
}

export interface StoredState {
  /** null: the next hello asks for everything. */
  readonly position: PositionRecord | null
  readonly settings: FleetSettings | null
  readonly tenants: readonly Recovered[]
  readonly sync: number
  /** False on a fresh disk. */
  readonly isConfigured: boolean
  /** Some host of some tenant may be unknown. */
  readonly isDamaged: boolean
}

export interface LastKnownGood {
  load(): StoredState
  /** These settle with true once the disk has it, with false if that failed (and is retried). */
  saveTenant(tenant: StoredTenant): Promise<boolean>
  removeTenant(tenantId: string): Promise<boolean>
  saveRevoked(tenantId: string, revoked: RevokedState): Promise<boolean>
  savePosition(position: PositionRecord): Promise<boolean>
  saveSettings(settings: FleetSettings): Promise<boolean>
  isHealthy(): boolean
  close(): Promise<void>
}

interface Pending {
  tenant?: StoredTenant | 'removed'
  revoked?: RevokedState
}

export interface LastKnownGoodOptions {
  readonly directory: string
  readonly fleetKey: string
  readonly log: Logger
  readonly retryMs?: number
}

export function openLastKnownGood(options: LastKnownGoodOptions): LastKnownGood {
  const { directory, log } = options
  const files = createSealedFiles(options.fleetKey)
  const at = (folder: (typeof FOLDERS)[number], name: string) => join(directory, folder, name)
  const syncGuards = createDirectorySync(join(directory, 'guard'))
  const syncTenants = createDirectorySync(join(directory, 'tenants'))
  const syncRevoked = createDirectorySync(join(directory, 'revoked'))
  const syncRoot = createDirectorySync(directory)

  const pending = new Map<string, Pending>()
  const guards = new Map<string, GuardRecord>()
  const withRevoked = new Set<string>()
  /** A good previous generation is not to be replaced by a damaged current one. */
  const badCurrent = new Set<string>()
  let position: PositionRecord | null = null
  let settings: FleetSettings | null = null

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
    if (owner === 'position') return replaceRoot('position', position)
    if (owner === 'settings') return replaceRoot('settings', settings)
    const tenantId = owner.slice('tenant:'.length)
    const change = pending.get(tenantId)
    if (change === undefined) return
    pending.delete(tenantId)
    try {
      if (change.tenant === 'removed') await removeFiles(tenantId)
      if (change.revoked !== undefined) await writeRevoked(tenantId, change.revoked)
      if (typeof change.tenant === 'object') await writeTenant(change.tenant)
    } catch (error) {
      pending.set(tenantId, { ...change, ...pending.get(tenantId) })
      makeFolders() // somebody may have removed them; the next try finds out
      throw error
    }
  }

  async function replaceRoot(kind: FileKind, content: unknown) {
    makeFolders()
    await files.replace(join(directory, kind), kind, '', content)
    await syncRoot()
  }

  /** The guard goes first: a change that is half written is then already in force. */
  async function writeTenant({ tenantId, rank, hash, snapshot, ...tenant }: StoredTenant) {
    await writeGuard(tenantId, {
      ...rank,
      hostnames: [...tenant.hostnames],
      is_protected: tenant.isProtected,
      is_suspended: tenant.isSuspended,
      has_revoked: withRevoked.has(tenantId),
    })
    const path = at('tenants', tenantId)
    await files.write(`${path}.next`, 'tenant', tenantId, { ...rank, hash, snapshot })
    if (!badCurrent.has(tenantId)) await renameIfThere(`${path}.current`, `${path}.previous`)
    await rename(`${path}.next`, `${path}.current`)
    badCurrent.delete(tenantId)
    await Promise.all([syncGuards(), syncTenants()])
  }

  async function writeGuard(tenantId: string, guard: GuardRecord) {
    await files.replace(at('guard', tenantId), 'guard', tenantId, guard)
    guards.set(tenantId, guard)
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
  async function removeFiles(tenantId: string) {
    for (const generation of GENERATIONS)
      await rm(at('tenants', `${tenantId}.${generation}`), { force: true })
    for (const copy of COPIES) await rm(at('revoked', `${tenantId}.${copy}`), { force: true })
    await Promise.all([syncTenants(), syncRevoked()])
    await rm(at('guard', tenantId), { force: true })
    await syncGuards()
    guards.delete(tenantId)
    withRevoked.delete(tenantId)
    badCurrent.delete(tenantId)
  }

  function makeFolders() {
    for (const folder of FOLDERS)
      mkdirSync(join(directory, folder), { recursive: true, mode: 0o700 })
  }

  function ask(tenantId: string, change: Pending, isUrgent: boolean): Promise<boolean> {
    pending.set(tenantId, { ...pending.get(tenantId), ...change })
    return queue.push(`tenant:${tenantId}`, isUrgent)
  }

  function readTenantFiles(tenantId: string): Recovered {
    const tenants = (name: string) =>
      readTenant(files.read(at('tenants', `${tenantId}.${name}`), 'tenant', tenantId))
    const current = tenants('current')
    const guard = readGuard(files.read(at('guard', tenantId), 'guard', tenantId))
    const recovered = recover({
      tenantId,
      guard,
      generations: { current, next: tenants('next'), previous: tenants('previous') },
      revoked: COPIES.map((copy) =>
        readRevoked(files.read(at('revoked', `${tenantId}.${copy}`), 'revoked', tenantId)),
      ),
    })
    if (current.kind === 'damaged') badCurrent.add(tenantId)
    if (recovered.guard !== null) guards.set(tenantId, recovered.guard)
    if (recovered.revoked !== null || recovered.isRevokedLost) withRevoked.add(tenantId)
    return recovered
  }

  return {
    load() {
      try {
        makeFolders()
        for (const path of ['', ...FOLDERS]) chmodSync(join(directory, path), 0o700)
      } catch (error) {
        log.error({ error }, 'cannot prepare the folder of the last known good state')
      }
      const tenantIds = listTenantIds(directory, log)
      const tenants = tenantIds.map(readTenantFiles)
      const kept = readPosition(files.read(join(directory, 'position'), 'position', ''))
      const storedSettings = readSettings(files.read(join(directory, 'settings'), 'settings', ''))
      const state = judge(tenants, kept.kind === 'read' ? kept.record : null)
      report(log, tenants)
      if (kept.kind === 'damaged')
        log.error({ reason: kept.reason }, 'the kept position is damaged, asking for everything')
      return {
        ...state,
        isConfigured: kept.kind !== 'missing' || tenants.length > 0,
        isDamaged: state.isDamaged || kept.kind === 'damaged',
        settings: storedSettings.kind === 'read' ? storedSettings.record : null,
      }
    },
    saveTenant: (tenant) => ask(tenant.tenantId, { tenant }, false),
    removeTenant: (tenantId) => {
      pending.delete(tenantId)
      return ask(tenantId, { tenant: 'removed' }, false)
    },
    saveRevoked: (tenantId, revoked) => ask(tenantId, { revoked }, true),
    savePosition(next) {
      position = next
      return queue.push('position', false)
    },
    saveSettings(next) {
      settings = next
      return queue.push('settings', false)
    },
    isHealthy: () => queue.isHealthy(),
    close: () => queue.close(),
  }
}

function judge(tenants: readonly Recovered[], kept: PositionRecord | null) {
  const roster = new StateDigest()
  let sync = kept?.sync ?? 0
  for (const { tenantId, tenant, reserved } of tenants) {
    sync = Math.max(sync, tenant?.rank.sync ?? 0, reserved?.rank.sync ?? 0)
    if (tenant !== null || reserved !== null) addToRoster(roster, tenantId)
  }
  const isWhole = kept === null ? tenants.length === 0 : kept.roster === roster.hex()
  return {
    tenants,
    sync,
    position: tenants.every((tenant) => tenant.isExact) ? kept : null,
    isDamaged: !isWhole || tenants.some((tenant) => tenant.isLost),
  }
}

export function addToRoster(roster: StateDigest, tenantId: string): void {
  roster.set(tenantId, 'kept')
}

function listTenantIds(directory: string, log: Logger): string[] {
  const tenantIds = new Set<string>()
  for (const folder of FOLDERS)
    try {
      for (const name of readdirSync(join(directory, folder))) {
        const tenantId = name.replace(/\.(?:current|next|previous)$/, '')
        if (TENANT_ID.test(tenantId)) tenantIds.add(tenantId)
      }
    } catch (error) {
      log.error({ error, folder }, 'cannot list the last known good state')
    }
  return [...tenantIds].sort()
}

function report(log: Logger, tenants: readonly Recovered[]): void {
  const damaged = tenants.filter((tenant) => tenant.problems.length > 0)
  for (const { tenantId, tenant, problems } of damaged.slice(0, PROBLEMS_LOGGED_MAX)) {
    const revision = tenant?.rank.revision
    if (tenant === null) log.error({ tenantId, problems }, 'a kept tenant cannot be served')
    else log.warn({ tenantId, revision, problems }, 'a kept tenant is served from what is left')
  }
  if (damaged.length > 0 && damaged.length === tenants.length)
    log.error(
      { tenants: tenants.length },
      'no kept tenant is whole: was SERVICE_FLEET_KEY changed?',
    )
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
