/** A file of new users, line by line: what is wrong in which, and who can be brought in. */
import * as v from 'valibot'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { readCsv, withoutGuard, type CsvLine } from './csv.ts'
import { NewUserBody } from './people-fields.ts'
import type { Queries } from '../store/engine.ts'
import { takenKeys } from '../store/queries/user-lists.ts'
import { fold } from '../accounts/login-keys.ts'
import { checkUsername } from '../accounts/user-changes.ts'

const COLUMNS = ['email', 'name', 'username'] as const
type ColumnName = (typeof COLUMNS)[number]

interface ImportedUser {
  readonly line: number
  readonly email: string
  readonly name: string
  readonly username: string
}

interface ImportProblem {
  readonly line: number
  /** What stands there, as far as it tells whom it is about. */
  readonly about: string
  readonly problem: string
}

export interface ImportPlan {
  readonly users: readonly ImportedUser[]
  readonly problems: readonly ImportProblem[]
}

const MOST = LIMITS.usersImportedAtOnceMax

/** Nothing is written; what others do meanwhile is refused by the index when it is. */
export async function planImport(
  queries: Queries,
  tenantId: string,
  text: string,
): Promise<ImportPlan> {
  const result = readCsv(text)
  if (result.kind === 'wrong') return refused(result.line, result.problem)
  const [head, ...lines] = result.lines
  if (head === undefined) return refused(1, 'The file is empty.')
  const columns = columnsIn(head)
  if (typeof columns === 'string') return refused(head.line, columns)
  if (lines.length === 0) return refused(head.line, 'There are no users below the header line.')
  if (lines.length > MOST)
    return refused(
      lines[MOST]?.line ?? 1,
      `At most ${MOST.toLocaleString('en')} users at a time: split the file.`,
    )
  const problems: ImportProblem[] = []
  const users: ImportedUser[] = []
  const seen = new Map<string, number>()
  for (const line of lines) {
    const read = readLine(line, columns)
    if ('problem' in read) problems.push(read)
    else {
      const keys = [fold(read.email), fold(read.username)]
      const before = keys.map((key) => seen.get(key)).find((known) => known !== undefined)
      if (before !== undefined)
        problems.push(problemOf(read, `Same email address or username as line ${before}.`))
      else {
        for (const key of keys) seen.set(key, read.line)
        users.push(read)
      }
    }
  }
  const taken = await takenKeys(queries, tenantId, [...seen.keys()])
  const isTaken = ({ email, username }: ImportedUser) =>
    taken.emails.has(fold(email)) || taken.usernames.has(fold(username))
  for (const user of users.filter(isTaken))
    problems.push(
      problemOf(
        user,
        taken.emails.has(fold(user.email))
          ? 'A user with this email address already exists.'
          : 'A user with this username already exists.',
      ),
    )
  problems.sort((a, b) => a.line - b.line)
  return { users: users.filter((user) => !isTaken(user)), problems }
}

const refused = (line: number, problem: string): ImportPlan => ({
  users: [],
  problems: [{ line, about: '', problem }],
})

const problemOf = ({ line, email }: ImportedUser, problem: string): ImportProblem => ({
  line,
  about: email,
  problem,
})

/** Which column is where; or what is wrong with the first line. */
function columnsIn({ cells }: CsvLine): readonly ColumnName[] | string {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const unknown = names.find((name) => !COLUMNS.includes(name as ColumnName))
  if (unknown === 'password')
    return 'Passwords are not imported: remove this column. Everyone gets an invitation to choose one.'
  if (unknown !== undefined)
    return `Unknown column "${unknown.slice(0, 40)}". Use: ${COLUMNS.join(', ')}.`
  if (new Set(names).size < names.length) return 'A column appears twice.'
  return names.includes('email') ? (names as ColumnName[]) : 'The column "email" is missing.'
}

function readLine(
  { line, cells }: CsvLine,
  columns: readonly ColumnName[],
): ImportedUser | ImportProblem {
  const given = Object.fromEntries(
    columns.map((column, at) => [column, withoutGuard(cells[at] ?? '').trim()]),
  ) as Partial<Record<ColumnName, string>>
  const email = given.email ?? ''
  const about = email.slice(0, LIMITS.emailCharactersMax)
  if (cells.length !== columns.length)
    return { line, about, problem: `${cells.length} values instead of ${columns.length}.` }
  const username = given.username || email
  const user = { email, username, name: given.name || username }
  const checked = v.safeParse(v.pick(NewUserBody, ['email', 'username', 'name']), user)
  if (!checked.success) {
    const [issue] = checked.issues
    const key = (issue.path?.[0] as { key?: unknown } | undefined)?.key
    const field = typeof key === 'string' ? key : 'value'
    return { line, about, problem: `${field}: must be ${issue.message}.` }
  }
  try {
    checkUsername(username, email)
  } catch (error) {
    if (error instanceof Refusal) return { line, about, problem: error.detail }
    throw error
  }
  return { line, ...user }
}
