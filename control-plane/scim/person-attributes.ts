/**
 * What a provider says of a person, by a fixed table of attributes: what is not in it is passed over
 * and named in the log. Pure. A draft is what was there with what was sent on top.
 */
import { LIMITS } from '../../shared/limits.ts'
import { hasUnseen } from '../../shared/unseen.ts'
import type { Said } from '../tenants/person-attributes.ts'
import type { SCIM_DETAILS } from '../store/scim-tables.ts'
import { ENTERPRISE, pathText, readPath, type AttributePath } from './attribute-paths.ts'
import { invalid, ScimError } from './scim-error.ts'

export interface PersonDraft {
  userName: string
  externalId: string | null
  isActive: boolean
  displayName: string | null
  /** The one that mail goes to: the primary one, else that of work. */
  email: string | null
  details: Partial<Record<Detail, string>>
  /** Of what was sent, what is not kept. */
  readonly ignored: Set<string>
}

type Detail = (typeof SCIM_DETAILS)[number]
/** A removal is what is set to nothing. */
type PersonOp = 'add' | 'replace' | 'remove'
type Write = (draft: PersonDraft, value: unknown, path: AttributePath, op: PersonOp) => void

const detail =
  (name: Detail): Write =>
  (draft, value) => {
    const text = textOf(name, value)
    const { [name]: _before, ...others } = draft.details
    draft.details = text === null ? others : { ...others, [name]: text }
  }

const manager = detail('manager')

const ATTRIBUTES: ReadonlyMap<string, Write> = new Map<string, Write>([
  [
    'username',
    (draft, value) => {
      const text = textOf('userName', value, LIMITS.scimUserNameCharactersMax)
      if (text === null) throw new ScimError(400, 'A user needs a userName.', 'mutability')
      draft.userName = text
    },
  ],
  [
    'externalid',
    (draft, value) =>
      void (draft.externalId = textOf('externalId', value, LIMITS.scimExternalIdCharactersMax)),
  ],
  ['displayname', (draft, value) => void (draft.displayName = textOf('displayName', value))],
  [
    'active',
    (draft, value, _path, op) => {
      if (op === 'remove') throw new ScimError(400, 'Send active as true or false.', 'mutability')
      draft.isActive = flagOf('active', value)
    },
  ],
  ['name', (draft, value, _path, op) => writeEach(draft, 'name', NAMES, value, op)],
  ['name.givenname', detail('givenName')],
  ['name.familyname', detail('familyName')],
  ['name.formatted', detail('formatted')],
  ['title', detail('title')],
  ['usertype', detail('userType')],
  [ENTERPRISE, (draft, value, _path, op) => writeEach(draft, ENTERPRISE, OF_WORK, value, op)],
  [`${ENTERPRISE}.department`, detail('department')],
  [`${ENTERPRISE}.employeenumber`, detail('employeeNumber')],
  [`${ENTERPRISE}.costcenter`, detail('costCenter')],
  [`${ENTERPRISE}.organization`, detail('organization')],
  [`${ENTERPRISE}.division`, detail('division')],
  [
    `${ENTERPRISE}.manager`,
    (draft, value, path, op) => {
      const id = idOf(value)
      if (id === undefined) ignore(draft, pathText(path))
      else manager(draft, id, path, op)
    },
  ],
  [`${ENTERPRISE}.manager.value`, manager],
  ['emails', writeEmails],
  ['emails.value', writeEmail],
])

const NAMES = ['givenName', 'familyName', 'formatted']
const OF_WORK = [
  'department',
  'employeeNumber',
  'costCenter',
  'organization',
  'division',
  'manager',
]
/** What rules can ask for, by the name that they call it. */
const RULED: readonly (readonly [string, Detail])[] = [
  ['title', 'title'],
  ['user_type', 'userType'],
  ['department', 'department'],
  ['employee_number', 'employeeNumber'],
  ['cost_center', 'costCenter'],
  ['organization', 'organization'],
  ['division', 'division'],
  ['manager', 'manager'],
]
const RULED_NAMES: ReadonlySet<string> = new Set(RULED.map(([name]) => name))

/** All that a provider says of somebody, for rules: what it no longer says is gone. */
export const ruledOf = ({ details }: Pick<PersonDraft, 'details'>): Said => ({
  attributes: RULED.flatMap(([name, detail]) => {
    const value = details[detail]
    return value === undefined ? [] : { name, value: value.trim() }
  }),
  names: RULED_NAMES,
})

/** Known, and none of the provider's business: ours, or what nobody may set. */
const PASSED_OVER: ReadonlySet<string> = new Set(['schemas', 'id', 'meta', 'groups', 'password'])

export function emptyDraft(): PersonDraft {
  return {
    userName: '',
    externalId: null,
    isActive: true,
    displayName: null,
    email: null,
    details: {},
    ignored: new Set(),
  }
}

/** A resource, or the value of an operation without a path: its keys are paths. */
export function writeResource(draft: PersonDraft, resource: object, op: PersonOp): void {
  for (const [key, value] of Object.entries(resource)) writePath(draft, readKey(key), value, op)
}

export function writePath(
  draft: PersonDraft,
  path: AttributePath,
  value: unknown,
  op: PersonOp,
): void {
  if (PASSED_OVER.has(path.name)) return
  const known =
    path.where.length > 0 && path.name !== 'emails' ? undefined : ATTRIBUTES.get(wholeOf(path))
  if (known === undefined) return ignore(draft, pathText(path))
  known(draft, op === 'remove' ? null : value, path, op)
}

const wholeOf = ({ name, sub }: AttributePath) => (sub === undefined ? name : `${name}.${sub}`)

/** A key that is no path at all is an attribute that we do not keep. */
function readKey(key: string): AttributePath {
  try {
    return readPath(key)
  } catch {
    return { name: key.slice(0, LIMITS.scimAttributeCharactersMax), sub: undefined, where: [] }
  }
}

function ignore(draft: PersonDraft, name: string) {
  if (draft.ignored.size < LIMITS.scimNamedMax) draft.ignored.add(name)
}

function writeEach(
  draft: PersonDraft,
  name: string,
  subs: readonly string[],
  value: unknown,
  op: PersonOp,
) {
  const given = value === null || value === undefined ? {} : value
  if (typeof given !== 'object' || Array.isArray(given)) throw invalid(name, 'an object')
  // what a replacement leaves out stays (RFC 7644, section 3.5.2.3)
  for (const sub of op === 'remove' ? subs : []) writeSub(draft, name, sub, null, op)
  for (const [sub, inner] of Object.entries(given)) writeSub(draft, name, sub, inner, op)
}

function writeSub(draft: PersonDraft, name: string, sub: string, value: unknown, op: PersonOp) {
  const path = { name, sub: sub.toLowerCase(), where: [] }
  const known = ATTRIBUTES.get(wholeOf(path))
  if (known === undefined) ignore(draft, pathText(path))
  else known(draft, value, path, op)
}

interface Email {
  readonly value: string
  readonly type: string
  readonly isPrimary: boolean
}

/** All of them, or one that its brackets tell: `emails[type eq "work"]`. */
function writeEmails(draft: PersonDraft, value: unknown, path: AttributePath, op: PersonOp) {
  if (!isOurs(draft, path)) return
  if (value === null || value === undefined) return void (draft.email = null)
  const all = [value].flat().flatMap(emailOf)
  const best =
    all.find(({ isPrimary }) => isPrimary) ??
    all.find(({ type }) => type === 'work') ??
    (op === 'add' && draft.email !== null && path.where.length === 0 ? undefined : all[0])
  for (const other of all) if (other !== best) ignore(draft, 'further emails')
  if (best !== undefined) draft.email = best.value
  else if (op === 'replace' && all.length === 0) draft.email = null
}

function writeEmail(draft: PersonDraft, value: unknown, path: AttributePath) {
  if (isOurs(draft, path)) draft.email = textOf('emails', value, LIMITS.emailCharactersMax)
}

/** One address is kept; that of `home` is somebody's own. */
function isOurs(draft: PersonDraft, { where }: AttributePath): boolean {
  const isMeant = where.every(({ path, value }) => {
    if (path.name === 'type') return String(value).toLowerCase() === 'work'
    if (path.name === 'primary') return String(value).toLowerCase() === 'true'
    return path.name === 'value'
  })
  if (!isMeant) ignore(draft, 'further emails')
  return isMeant
}

function emailOf(item: unknown): Email[] {
  if (typeof item === 'string') return [{ value: item, type: '', isPrimary: false }]
  if (typeof item !== 'object' || item === null) throw invalid('emails', 'a list of addresses')
  const given = new Map(Object.entries(item).map(([key, value]) => [key.toLowerCase(), value]))
  const value = textOf('emails', given.get('value') ?? null, LIMITS.emailCharactersMax)
  const type: unknown = given.get('type')
  const isPrimary = String(given.get('primary')).toLowerCase() === 'true'
  if (value === null) return []
  return [{ value, type: typeof type === 'string' ? type.toLowerCase() : '', isPrimary }]
}

/** A manager is told by an id, or as an object that has it. undefined: it says something else of them. */
function idOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const named = Object.entries(given).find(([key]) => key.toLowerCase() === 'value')
  return named?.[1]
}

/** null: there is none. Entra once sent single values as lists of one. */
export function textOf(
  attribute: string,
  given: unknown,
  charactersMax: number = LIMITS.scimAttributeCharactersMax,
): string | null {
  const value = onlyOf(given)
  if (value === null || value === undefined || value === '') return null
  const text = typeof value === 'number' ? String(value) : value
  const wish = `text of 1 to ${charactersMax} characters, without control or invisible characters`
  if (typeof text !== 'string' || text.trim() === '' || text.length > charactersMax)
    throw invalid(attribute, wish)
  if (hasUnseen(text) || !text.isWellFormed()) throw invalid(attribute, wish)
  return text
}

/** Entra writes "True" and "False". */
function flagOf(attribute: string, given: unknown): boolean {
  const value = onlyOf(given)
  const said = typeof value === 'string' ? value.toLowerCase() : value
  if (said === true || said === 'true') return true
  if (said === false || said === 'false') return false
  throw invalid(attribute, 'true or false')
}

function onlyOf(given: unknown): unknown {
  const [only, ...others] = Array.isArray(given) ? (given as unknown[]) : [given]
  if (!Array.isArray(given) || others.length > 0) return given
  return typeof only === 'object' && only !== null && Object.hasOwn(only, 'value')
    ? (only as { value: unknown }).value
    : only
}
