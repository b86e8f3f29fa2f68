/** What a provider says of a group: its name, its own id of it, and who is in it. Pure. */
import { LIMITS } from '../../shared/limits.ts'
import { pathText, readPath, type AttributePath } from './attribute-paths.ts'
import type { Operation } from './patch-operations.ts'
import { textOf } from './person-attributes.ts'
import { invalid, ScimError } from './scim-error.ts'

export interface GroupDraft {
  displayName: string
  externalId: string | null
  /** All who are in it, where that was said; else who comes and who goes. */
  isWhole: boolean
  readonly add: Set<string>
  readonly take: Set<string>
  readonly ignored: Set<string>
}

type Op = Operation['op']

export function groupDraft({
  displayName,
  externalId,
}: Pick<GroupDraft, 'displayName' | 'externalId'>): GroupDraft {
  const sets = { add: new Set<string>(), take: new Set<string>(), ignored: new Set<string>() }
  return { displayName, externalId, isWhole: false, ...sets }
}

export function writeGroup(draft: GroupDraft, resource: object, op: Op): void {
  for (const [key, value] of Object.entries(resource)) {
    const path = readKey(key)
    if (path === undefined) ignore(draft, key)
    else writeGroupPath(draft, path, value, op)
  }
}

export function writeGroupPath(draft: GroupDraft, path: AttributePath, value: unknown, op: Op) {
  const given = op === 'remove' && path.name !== 'members' ? null : value
  const isPlain = path.sub === undefined && path.where.length === 0
  switch (isPlain || path.name === 'members' ? path.name : '') {
    case 'schemas':
    case 'id':
    case 'meta':
      return
    case 'displayname': {
      const text = textOf('displayName', given, LIMITS.scimGroupNameCharactersMax)
      if (text === null) throw new ScimError(400, 'A group needs a displayName.', 'mutability')
      draft.displayName = text
      return
    }
    case 'externalid':
      draft.externalId = textOf('externalId', given, LIMITS.scimExternalIdCharactersMax)
      return
    case 'members':
      return writeMembers(draft, path, given, op)
    default:
      return ignore(draft, pathText(path))
  }
}

/** `members` with a list, or `members[value eq "…"]`, which tells one. */
function writeMembers(draft: GroupDraft, { where }: AttributePath, value: unknown, op: Op) {
  const told = where.flatMap((term) =>
    term.path.name === 'value' && typeof term.value === 'string' ? [term.value] : [],
  )
  if (where.length > 0 && (told.length !== 1 || where.length !== 1))
    throw new ScimError(400, 'Name a member as members[value eq "ID"].', 'invalidPath')
  const ids = told.length > 0 ? told : idsOf(value)
  const isAll = ids === undefined || (op === 'replace' && told.length === 0)
  if (isAll) {
    if (ids === undefined && op !== 'remove') throw invalid('members', 'a list of members')
    draft.isWhole = true
    draft.add.clear()
    draft.take.clear()
  }
  const [into, from] = op === 'remove' ? [draft.take, draft.add] : [draft.add, draft.take]
  for (const id of ids ?? []) {
    from.delete(id)
    into.add(id)
  }
  if (draft.add.size + draft.take.size > LIMITS.scimMembersPerGroupMax) throw tooManyMembers()
}

export const tooManyMembers = () =>
  new ScimError(
    400,
    `A group can have at most ${LIMITS.scimMembersPerGroupMax} members. Split it at your provider.`,
    'tooMany',
  )

/** undefined: no list at all, as with a `remove` of everybody. */
function idsOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  return [value].flat().map((item) => {
    const id: unknown =
      typeof item === 'object' && item !== null
        ? Object.entries(item).find(([key]) => key.toLowerCase() === 'value')?.[1]
        : item
    if (typeof id !== 'string') throw invalid('members', 'a list of objects with a value')
    return id
  })
}

function readKey(key: string): AttributePath | undefined {
  try {
    return readPath(key)
  } catch {
    return undefined
  }
}

function ignore(draft: GroupDraft, name: string) {
  if (draft.ignored.size < LIMITS.scimNamedMax)
    draft.ignored.add(name.slice(0, LIMITS.scimAttributeCharactersMax))
}
