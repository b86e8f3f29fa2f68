/**
 * One sign-in against a tenant's database. The look-up waits in the tenant's own pool, and only
 * its hash takes one of the turns that all tenants share.
 */
import type { FairSemaphore } from '../concurrency/fair-semaphore.ts'
import type { Decoys } from './decoys.ts'
import { isRightPassword } from './hashes/hash-check.ts'
import type { BcryptThreads } from './hashes/bcrypt-threads.ts'
import { isProblem, readRow, type Found, type Person } from './person.ts'
import type { Pool } from './pool.ts'
import type { DirectorySettings } from './settings.ts'

/** Why nobody was let in: for the log and the event, never for the person who tried. */
type DirectoryRefusal =
  | 'unknown_user'
  | 'wrong_password'
  | 'disabled'
  | 'ambiguous'
  | 'hash_unusable'
  | 'row_unusable'

export type DirectoryAnswer =
  | { readonly kind: 'ok'; readonly person: Person }
  /** `rowId`: whose row was found, by whatever name. */
  | { readonly kind: 'refused'; readonly reason: DirectoryRefusal; readonly rowId?: string }

export interface OpenDirectory {
  readonly settings: DirectorySettings
  readonly pool: Pool
  readonly decoys: Decoys
}

export async function lookUp(
  { settings, pool, decoys }: OpenDirectory,
  { semaphore, threads }: { readonly semaphore: FairSemaphore; readonly threads: BcryptThreads },
  tenantId: string,
  login: string,
  password: string,
): Promise<DirectoryAnswer> {
  const rows = isAskable(login) ? await pool.use((connection) => connection.find(login)) : []
  const [first] = rows
  const found =
    rows.length === 1 && first !== undefined ? readRow(first, settings.columns) : undefined
  const { hash } = found ?? {}
  if (hash !== undefined) decoys.learn(hash.shape)
  const tried = hash ?? decoys.for(login)
  const isEqual = await semaphore.take(() => isRightPassword(password, tried, threads), tenantId)
  const isRight = isEqual && hash !== undefined
  if (found === undefined) {
    const reason = rows.length > 1 ? 'ambiguous' : 'unknown_user'
    return { kind: 'refused', reason }
  }
  return judge(found, isRight)
}

function judge({ person, hash, rowId }: Found, isRight: boolean): DirectoryAnswer {
  if (hash === undefined) return { kind: 'refused', reason: 'hash_unusable', rowId }
  if (isProblem(person))
    return { kind: 'refused', reason: isRight ? 'row_unusable' : 'wrong_password', rowId }
  if (!isRight) return { kind: 'refused', reason: 'wrong_password', rowId }
  if (person.isDisabled) return { kind: 'refused', reason: 'disabled', rowId }
  return { kind: 'ok', person }
}

/** What no database can hold as text is nobody's login, and need not be asked. */
const isAskable = (login: string) => login.isWellFormed() && !/\p{Cc}/u.test(login)
