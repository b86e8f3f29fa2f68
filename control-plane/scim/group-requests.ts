/** What can be asked of /Groups. */
import { LIMITS } from '../../shared/limits.ts'
import { fold } from '../accounts/login-keys.ts'
import type { GroupTerm, ScimGroupRow } from '../store/queries/scim.ts'
import type { Asked } from './asked.ts'
import type { Term } from './attribute-paths.ts'
import type { ScimGroups } from './groups.ts'
import { pageAsked, shapeAsked, termsAsked } from './lists.ts'
import { readOperations } from './patch-operations.ts'
import { groupResource, isWanted, listOf, shaped, type Resource } from './resources.ts'
import { ScimError } from './scim-error.ts'

export function groupRequests({ scimGroups }: { readonly scimGroups: ScimGroups }) {
  async function one(asked: Asked, group: ScimGroupRow): Promise<Resource> {
    const shape = shapeAsked(asked)
    const members = isWanted(shape, 'members') ? await scimGroups.membersOf(group) : undefined
    return shaped(groupResource(group, members, asked.base), shape)
  }

  return {
    /** A page has as many groups as its members leave room for, and one at least. */
    async list(asked: Asked) {
      const { startIndex, ...place } = pageAsked(asked)
      const terms = termsAsked(asked).map(termOf)
      const { total, found } = await scimGroups.list(asked.token.tenantId, terms, place)
      const resources: Resource[] = []
      let members = 0
      for (const group of found) {
        if (members > LIMITS.scimMembersListedMax) break
        const resource = await one(asked, group)
        members += (resource['members'] as readonly unknown[] | undefined)?.length ?? 0
        resources.push(resource)
      }
      return { status: 200, body: listOf(resources, total, startIndex) }
    },
    async create(asked: Asked) {
      const { token, actor } = asked
      const made = await scimGroups.create(token.tenantId, await asked.body(), actor)
      const location = `${asked.base}/Groups/${made.group.groupId}`
      const body = await one(asked, made.group)
      return { status: 201, body, location, ignored: made.ignored }
    },
    async get(asked: Asked, id: string) {
      const group = await scimGroups.get(asked.token.tenantId, id)
      return { status: 200, body: await one(asked, group) }
    },
    async replace(asked: Asked, id: string) {
      const { token, actor } = asked
      const resource = await asked.body()
      const { group, ignored } = await scimGroups.replace(token.tenantId, id, resource, actor)
      return { status: 200, body: await one(asked, group), ignored }
    },
    /** Without the group: it may have ten thousand members, and one came. */
    async patch(asked: Asked, id: string) {
      const { token, actor } = asked
      const operations = readOperations(await asked.body())
      const { ignored } = await scimGroups.patch(token.tenantId, id, operations, actor)
      return { status: 204, ignored }
    },
    async remove(asked: Asked, id: string) {
      await scimGroups.remove(asked.token.tenantId, id, asked.actor)
      return { status: 204 }
    },
  }
}

function termOf({ path: { name, sub, where }, value }: Term): GroupTerm {
  const whole = sub === undefined ? name : `${name}.${sub}`
  if (typeof value === 'string' && where.length === 0)
    switch (whole) {
      case 'id':
        return { of: 'id', value }
      case 'externalid':
        return { of: 'externalId', value }
      case 'displayname':
        return { of: 'displayKey', value: fold(value) }
      case 'members':
      case 'members.value':
        return { of: 'member', value }
    }
  throw new ScimError(
    400,
    'Filter groups by displayName, externalId, id or members.value.',
    'invalidFilter',
  )
}
