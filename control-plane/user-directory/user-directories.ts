/**
 * A tenant's own database as the source of its users. Every sign-in reads the settings, so that
 * what one control plane has changed is true in all; the connections are kept between sign-ins.
 */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { FairSemaphore } from '../concurrency/fair-semaphore.ts'
import { AccountUnusable, type Authentication, type UserSource } from '../accounts/users.ts'
import type { Vault } from '../keys/vault.ts'
import { deleteSignUpsOf } from '../store/queries/sign-ups.ts'
import { findTenant, numberOf } from '../store/queries/tenants.ts'
import {
  deleteUserDirectory,
  findUserDirectory,
  upsertUserDirectory,
  type UserDirectoryRow,
} from '../store/queries/user-directories.ts'
import { findUser } from '../store/queries/users.ts'
import type { Actor, Store } from '../store/store.ts'
import type { Addresses } from './addresses.ts'
import { openConnection } from './connection.ts'
import { createDecoys } from './decoys.ts'
import { dryRun, type DryRun } from './dry-run.ts'
import { DirectoryFault } from './faults.ts'
import { createBcryptThreads } from './hashes/bcrypt-threads.ts'
import type { HashShape } from './hashes/hash-shapes.ts'
import { lookUp, type DirectoryAnswer, type OpenDirectory } from './lookup.ts'
import { createPool } from './pool.ts'
import {
  isSameLogin,
  reservedChange,
  type DirectorySettings,
  type DirectoryTarget,
} from './settings.ts'
import { keepShadow, shadowIdOf } from './shadow-users.ts'

interface UserDirectoriesWorld {
  readonly store: Store
  readonly vault: Vault
  readonly log: Logger
  /** Shared with all other passwords. */
  readonly semaphore: FairSemaphore
  readonly addresses: Addresses
}

export interface StoredDirectory {
  readonly settings: DirectorySettings
  readonly updatedAtMs: number
}

export interface NewDirectory extends DirectorySettings {
  /** May be left out where the same login stays. */
  readonly password: string | undefined
}

/** Whose wish it is: a tenant's own administrators change nothing that an operator has set. */
type WishedBy = 'operator' | 'administrator'

/** What the column of settings holds. */
interface Kept extends DirectorySettings {
  readonly shapes: readonly HashShape[]
}

interface Open extends OpenDirectory {
  readonly version: string
}

/** When somebody may try again whose directory did not answer. */
const RETRY_SECONDS = 30

export function createUserDirectories(world: UserDirectoriesWorld) {
  const { store, vault, log, semaphore, addresses } = world
  const threads = createBcryptThreads()
  const opened = new LRUCache<string, Open>({
    max: LIMITS.directoriesOpenMax,
    dispose: ({ pool }) => pool.close(),
  })

  function openOf(row: UserDirectoryRow): Open {
    const { tenantId, passwordSealed } = row
    const known = opened.get(tenantId)
    if (known?.version === passwordSealed) return known // sealed anew with every change
    const { shapes, ...settings } = keptIn(row)
    const pool = createPool(() =>
      openConnection({ ...settings, password: passwordOf(row) }, addresses),
    )
    const decoys = createDecoys(vault.deriveKey(`directory decoys:${tenantId}`), shapes)
    const open = { version: passwordSealed, settings, pool, decoys }
    opened.set(tenantId, open)
    return open
  }

  const passwordOf = ({ tenantId, passwordSealed }: UserDirectoryRow) =>
    vault.open(passwordSealed, PURPOSES.userDirectory({ tenantId }))

  const source: UserSource = {
    async authenticate(tenantId, login, password) {
      const row = await findUserDirectory(store.read, tenantId)
      if (row === undefined) return undefined
      const number = await numberOf(store.read, tenantId)
      try {
        const answer = await lookUp(openOf(row), { semaphore, threads }, tenantId, login, password)
        return await toAuthentication(tenantId, number, answer)
      } catch (error) {
        if (!(error instanceof DirectoryFault)) throw error
        log.warn({ tenant_id: tenantId, fault: error.kind }, 'user directory does not answer')
        throw new Refusal('directory_unavailable', { retry_after: RETRY_SECONDS })
      }
    },
  }

  async function toAuthentication(
    tenantId: string,
    number: number | undefined,
    answer: DirectoryAnswer,
  ): Promise<Authentication> {
    if (answer.kind === 'ok') {
      const user = await keepShadow(store, tenantId, answer.person, number, (conflict, userId) =>
        log.warn(
          { tenant_id: tenantId, conflict, user_id: userId },
          'a person of the user directory is in the way',
        ),
      )
      // an operator has disabled the account here, whatever the directory says
      return user.isDisabled ? { kind: 'refused', reason: 'disabled', user } : { kind: 'ok', user }
    }
    const { reason, rowId } = answer
    const subject = rowId === undefined ? undefined : shadowIdOf(tenantId, rowId)
    if (reason !== 'unknown_user' && reason !== 'wrong_password')
      log.info(
        { tenant_id: tenantId, reason, user_id: subject },
        'user directory refuses a sign-in',
      )
    if (reason === 'row_unusable') throw new AccountUnusable(subject ?? '')
    if (subject === undefined) return { kind: 'refused', reason }
    const user = await findUser(store.read, tenantId, subject)
    return { kind: 'refused', reason, subject, ...(user && { user }) }
  }

  async function requireRow(tenantId: string): Promise<UserDirectoryRow> {
    const row = await findUserDirectory(store.read, tenantId)
    if (row === undefined) throw new Refusal('directory_not_found')
    return row
  }

  return {
    ...source,

    async get(tenantId: string): Promise<StoredDirectory> {
      const row = await requireRow(tenantId)
      return { settings: keptIn(row), updatedAtMs: row.updatedAt }
    },

    /** What `put` would come to; changes nothing. */
    async tryOut(
      tenantId: string,
      given: NewDirectory,
      login: string | undefined,
      by: WishedBy,
    ): Promise<DryRun> {
      const before = await findUserDirectory(store.read, tenantId)
      return dryRun(targetOf(given, before, by), addresses, login)
    },

    /** Nothing is kept that would not let people in; `login` is somebody to try it with. */
    async put(
      tenantId: string,
      given: NewDirectory,
      login: string | undefined,
      by: WishedBy,
      actor: Actor,
    ): Promise<{ readonly stored: StoredDirectory; readonly tried: DryRun }> {
      const before = await findUserDirectory(store.read, tenantId)
      const target = targetOf(given, before, by)
      const tried = await dryRun(target, addresses, login)
      if (tried.refusal !== undefined) {
        const { field, detail } = tried.refusal
        throw new Refusal('directory_refused', { field, steps: tried.steps }, detail)
      }
      const { password, ...settings } = target
      const shapes = tried.shape === undefined ? [] : [tried.shape]
      const updatedAtMs = await store.change(async (change) => {
        const { queries, nowMs } = change
        if ((await findTenant(queries, tenantId)) === undefined)
          throw new Refusal('tenant_not_found') // it may have gone while we tried
        const now = await findUserDirectory(queries, tenantId)
        if (now?.passwordSealed !== before?.passwordSealed) throw new Refusal('changed_meanwhile')
        await upsertUserDirectory(queries, {
          tenantId,
          settings: { ...settings, shapes },
          passwordSealed: vault.seal(password, PURPOSES.userDirectory({ tenantId })),
          updatedAt: nowMs,
        })
        await deleteSignUpsOf(queries, tenantId) // it alone says who its people are
        const content = contentOf(settings)
        await change.emit('credentials.updated', tenantId, { change: 'set', ...content })
        await change.audit(actor, { action: 'user_directory.set', tenantId, content })
        return nowMs
      })
      return { stored: { settings, updatedAtMs }, tried }
    },

    async dryRun(tenantId: string, login: string | undefined): Promise<DryRun> {
      const row = await requireRow(tenantId)
      const { shapes: _, ...settings } = keptIn(row)
      return dryRun({ ...settings, password: passwordOf(row) }, addresses, login)
    },

    /** Its users stay, with their sessions; nobody can sign in as one of them any more. */
    async remove(tenantId: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const row = await findUserDirectory(change.queries, tenantId)
        if (row === undefined) throw new Refusal('directory_not_found')
        await deleteUserDirectory(change.queries, tenantId)
        const content = contentOf(keptIn(row))
        await change.emit('credentials.updated', tenantId, { change: 'removed', ...content })
        await change.audit(actor, { action: 'user_directory.removed', tenantId, content })
      })
      opened.delete(tenantId)
    },

    async close(): Promise<void> {
      opened.clear()
      await threads.close()
    },
  }

  /** What is asked for, with its password; refused where it is not for this person to say. */
  function targetOf(
    given: NewDirectory,
    before: UserDirectoryRow | undefined,
    by: WishedBy,
  ): DirectoryTarget {
    const { password, ...settings } = given
    const reserved = reservedChange(before && keptIn(before), settings)
    if (by === 'administrator' && reserved !== undefined)
      throw new Refusal('field_invalid', {}, reservedDetail(reserved))
    if (password !== undefined) return { ...settings, password }
    if (before === undefined || !isSameLogin(settings, keptIn(before)))
      throw new Refusal(
        'field_invalid',
        { field: 'password' },
        'Give "password": it is only kept while kind, host, port, database, username and TLS stay the same.',
      )
    return { ...settings, password: passwordOf(before) }
  }
}

const keptIn = ({ settings }: UserDirectoryRow) => settings as unknown as Kept

/** For events and the audit trail: where to, and never with what. */
function contentOf({ kind, host, port, database, username }: DirectorySettings) {
  return { kind, host, port, database, username }
}

const reservedDetail = (field: string) =>
  `Only an operator of the service can change "${field}": the connection, its login and the query are theirs. Ask one to change it; columns and password are yours to change.`
