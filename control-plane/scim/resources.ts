/** People and groups as SCIM writes them. Pure. */
import type { ScimGroupRow, ScimPerson } from '../store/queries/scim.ts'

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

export type Resource = Readonly<Record<string, unknown>>

/** What is asked for of each; names in lower case. */
export interface Shape {
  readonly only: ReadonlySet<string> | undefined
  readonly without: ReadonlySet<string>
}

export const isWanted = ({ only, without }: Shape, name: string) =>
  (only === undefined || only.has(name.toLowerCase())) && !without.has(name.toLowerCase())

/** `id` and `schemas` are always told (RFC 7643, section 3.1). */
export function shaped(resource: Resource, shape: Shape): Resource {
  const wanted = Object.entries(resource).filter(
    ([name]) => name === 'id' || name === 'schemas' || isWanted(shape, name),
  )
  return Object.fromEntries(wanted)
}

export function userResource({ person, user }: ScimPerson, base: string): Resource {
  const { userId, externalId, userName, displayName, details } = person
  const { givenName, familyName, formatted, title, userType, manager, ...plain } = details
  const name = given({ givenName, familyName, formatted })
  const ofWork = given({ ...plain, manager: manager && { value: manager } })
  const isOfWork = Object.keys(ofWork).length > 0
  return {
    schemas: [USER_SCHEMA, ...(isOfWork ? [ENTERPRISE_SCHEMA] : [])],
    id: userId,
    ...(externalId !== null && { externalId }),
    userName,
    displayName,
    ...(Object.keys(name).length > 0 && { name }),
    ...given({ title, userType }),
    emails: [{ value: user.email, type: 'work', primary: true }],
    active: !user.isDisabled,
    ...(isOfWork && { [ENTERPRISE_SCHEMA]: ofWork }),
    meta: metaOf('User', `${base}/Users/${userId}`, person),
  }
}

const given = (all: Resource): Resource =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))

export function groupResource(
  group: ScimGroupRow,
  members: readonly string[] | undefined,
  base: string,
): Resource {
  const { groupId, externalId, displayName } = group
  return {
    schemas: [GROUP_SCHEMA],
    id: groupId,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(members !== undefined && { members: members.map((value) => ({ value, type: 'User' })) }),
    meta: metaOf('Group', `${base}/Groups/${groupId}`, group),
  }
}

function metaOf(
  resourceType: string,
  location: string,
  { createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number },
) {
  const [created, lastModified] = [createdAt, updatedAt].map((ms) => new Date(ms).toISOString())
  return { resourceType, created, lastModified, location }
}

/** `startIndex` counts from 1. */
export function listOf(resources: readonly Resource[], total: number, startIndex: number) {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}
