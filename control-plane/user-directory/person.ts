/** One row of a tenant's database, read as a person. Pure. */
import { LIMITS } from '../../shared/limits.ts'
import { isEmailAddress } from '../accounts/email-address.ts'
import { fold } from '../accounts/login-keys.ts'
import { hasUnseen, withoutUnseen } from '../../shared/unseen.ts'
import type { Row } from './driver.ts'
import { parseHash } from './hashes/hash-formats.ts'
import { describeShape, type KnownHash } from './hashes/hash-shapes.ts'
import { chosenColumns, type Columns, type Role } from './settings.ts'

export interface Person {
  readonly externalId: string
  readonly username: string
  readonly email: string
  readonly name: string
  readonly isDisabled: boolean
}

export interface Found {
  /** Undefined where it is missing, or of a kind that we cannot check. */
  readonly hash: KnownHash | undefined
  readonly hasHash: boolean
  readonly person: Person | RowProblem
  /** Whose row it is, also where it cannot be used: the id, or else what is in no other row. */
  readonly rowId: string
}

/** The first thing that is wrong with a row, as a sentence. */
interface RowProblem {
  readonly role: Role
  readonly wish: string
}

export const isProblem = (person: Person | RowProblem): person is RowProblem => 'wish' in person

/** Whatever says no, in the spellings of both databases. Everything else means disabled. */
const NO = new Set(['', '0', 'f', 'false', 'n', 'no', 'off'])

export function readRow(row: Row, columns: Columns): Found {
  const cells = new Map(chosenColumns(columns).map(({ role }, at) => [role, row[at] ?? null]))
  const text = (role: Role) => cells.get(role) ?? ''
  const encoded = text('password_hash').trim()
  return {
    hash: parseHash(fromHexBytes(encoded)),
    hasHash: encoded !== '',
    person: toPerson(text),
    rowId: text('id') || encoded,
  }
}

/**
 * Who somebody is stays as the database has it, to the byte: it tells `root` from `root` with a
 * space behind it, and people may choose such names. What would have to be trimmed is refused.
 */
function toPerson(text: (role: Role) => string): Person | RowProblem {
  const email = text('email')
  const username = text('username').trim() === '' ? email : text('username')
  const person = {
    externalId: text('id'),
    username,
    email,
    // shown and no more: who has a mark of direction in theirs may come in all the same
    name: withoutUnseen(text('name')).trim() || username,
    isDisabled: !NO.has(text('disabled').trim().toLowerCase()),
  }
  if (!isExact(person.externalId, LIMITS.directoryIdCharactersMax))
    return {
      role: 'id',
      wish: 'must be an ID that never changes: printable text, without leading or trailing spaces',
    }
  if (!isEmailAddress(email)) return { role: 'email', wish: 'must be an email address' }
  if (!isExact(person.username, LIMITS.usernameCharactersMax))
    return {
      role: 'username',
      wish: `must be text of 1 to ${LIMITS.usernameCharactersMax} characters without spaces at its ends`,
    }
  if (!isFit(person.name, LIMITS.nameCharactersMax))
    return { role: 'name', wish: `must be text of 1 to ${LIMITS.nameCharactersMax} characters` }
  // the rule of our own users: nobody may take another one's address as a name
  if (fold(username).includes('@') && fold(username) !== fold(email))
    return { role: 'username', wish: 'must be the email address if it contains an @' }
  return person
}

const isFit = (value: string, max: number) =>
  value !== '' && value.length <= max && !hasUnseen(value) && value.isWellFormed()

/** A replacement character stands for bytes that were no text: two names may have become one. */
const isExact = (value: string, max: number) =>
  isFit(value, max) && value === value.trim() && !value.includes('\ufffd')

/** How Postgres writes `bytea`. */
function fromHexBytes(text: string): string {
  return /^\\x(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text.slice(2), 'hex').toString() : text
}

/** So much that somebody who knows the person recognises them, and nobody else does. */
export function maskedSample({ person, hash }: Found) {
  if (isProblem(person)) return null
  return {
    id: masked(person.externalId),
    username: masked(person.username),
    email: masked(person.email),
    name: masked(person.name),
    password_hash: hash === undefined ? null : describeShape(hash.shape),
    disabled: person.isDisabled,
  }
}

const masked = (text: string) => `${[...text][0] ?? ''}***`
