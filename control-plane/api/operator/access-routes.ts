/** Who may open which paths: groups, their members, and the rules. */
import * as v from 'valibot'
import { AccessRulesSchema, type AccessRules } from '../../../shared/fleet/access-rules.ts'
import type { Groups } from '../../tenants/groups.ts'
import type { TenantAccessRules } from '../../tenants/access-rules.ts'
import { GroupAnswer, MemberAnswer, NewGroupBody } from '../../requests/access-fields.ts'
import { described } from '../../requests/described.ts'
import { viewOf } from '../../requests/field-names.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { Enforced } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers, WAITS, type EnforcedAnswersWorld } from './enforced-answers.ts'

interface AccessEndpointsWorld extends EnforcedAnswersWorld {
  readonly groups: Groups
  readonly accessRules: TenantAccessRules
}

const operator = endpointsOf('access', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const RULES = `${TENANT}/access-rules` as const
const GROUPS = `${TENANT}/groups` as const
const MEMBER = `${GROUPS}/{group}/members/{user_id}` as const

const EXAMPLE = {
  networks: { office: ['192.0.2.0/24'] },
  rules: [
    {
      path: '/admin',
      allow: [{ network: 'office', strength: 'mfa', max_age: 900 }],
    },
    { path: '/admin/help', widen: true, allow: [{ signed_in: true }] },
  ],
} satisfies AccessRules

const RulesAnswer = v.strictObject({
  ...AccessRulesSchema.entries,
  enforced: described(Enforced, 'Which gateways go by them.'),
})
const MembershipAnswer = v.strictObject({
  group: v.string(),
  user_id: v.string(),
  enforced: Enforced,
})

const ofGroup = viewOf(GroupAnswer)
const ofMember = viewOf(MemberAnswer)

export function accessEndpoints(world: AccessEndpointsWorld): readonly Endpoint[] {
  const { groups, accessRules } = world
  const enforcement = enforcedAnswers(world)
  const member = (group: string, userId: string) => ({ group, user_id: userId })
  return [
    operator.get(RULES, {
      summary: 'Shows who may open which paths; without rules, whoever is signed in.',
      answers: { 200: json(AccessRulesSchema, 'All rules.') },
      handle: async (c, { path }) => c.json(await accessRules.of(path.tenant_id)),
    }),
    operator.put(RULES, {
      summary: 'Sets all access rules of a tenant.',
      description:
        'A path with rules is closed but for those whom an allow clause names; all conditions of a clause ' +
        'must hold, and one clause is enough. Denies win and hold for every path below. The longest path ' +
        `decides, and opens more than the paths above it only with widen. A clause with service is for that machine, any other for people. ${WAITS}`,
      body: AccessRulesSchema,
      example: EXAMPLE,
      answers: { 200: json(RulesAnswer, 'The rules in force.') },
      handle: async (c, { path: { tenant_id: tenantId }, body }) => {
        const rules = await accessRules.put(tenantId, body, c.var.actor)
        return c.json({ ...rules, enforced: await enforcement.change(tenantId) })
      },
    }),
    operator.get(GROUPS, {
      summary: 'Lists the groups.',
      answers: { 200: json(pageOf(GroupAnswer), 'Every group, by name.') },
      handle: async (c, { path }) => {
        const items = (await groups.list(path.tenant_id)).map(ofGroup)
        return c.json({ items, next: null })
      },
    }),
    operator.post(GROUPS, {
      summary: 'Creates a group.',
      body: NewGroupBody,
      example: { name: 'finance', description: 'Books and invoices' },
      answers: { 201: json(GroupAnswer, 'The group, without members.') },
      refusals: ['group_taken', 'groups_full'],
      handle: async (c, { path, body }) => {
        const { name, description } = body
        const given = description === undefined ? { name } : { name, description }
        return c.json(ofGroup(await groups.create(path.tenant_id, given, c.var.actor)), 201)
      },
    }),
    operator.delete(`${GROUPS}/{group}`, {
      summary: 'Deletes a group that no rule uses.',
      answers: { 204: nothing('The group is deleted.') },
      refusals: ['group_not_found', 'group_used'],
      handle: async (c, { path }) => {
        await groups.remove(path.tenant_id, path.group, c.var.actor)
        return c.body(null, 204)
      },
    }),
    operator.get(`${GROUPS}/{group}/members`, {
      summary: 'Lists the members of a group, and where each membership comes from.',
      query: PAGE_QUERY,
      answers: { 200: json(pageOf(MemberAnswer), 'One page of memberships.') },
      refusals: ['group_not_found'],
      handle: async (c, { path, query }) =>
        c.json(mapPage(await groups.members(path.tenant_id, path.group, query), ofMember)),
    }),
    operator.put(MEMBER, {
      summary: 'Adds a user to a group.',
      description: WAITS,
      answers: { 200: json(MembershipAnswer, 'The user is a member.') },
      refusals: ['group_not_found', 'user_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, group, user_id: userId } }) => {
        const told = await groups.add({ tenantId, group, userId, source: 'local' }, c.var.actor)
        const enforced = await enforcement.view(tenantId, await told.enforced)
        return c.json({ ...member(group, userId), enforced })
      },
    }),
    operator.delete(MEMBER, {
      summary: 'Removes a user from a group; their session goes on, without what the group opened.',
      description: `Takes back what was added here, not what a provider says. ${WAITS}`,
      answers: {
        202: json(MembershipAnswer, 'The user is removed, but a gateway has not confirmed it yet.'),
        204: nothing('The user is removed, at every gateway.'),
      },
      refusals: ['group_not_found', 'user_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, group, user_id: userId } }) => {
        const told = await groups.take({ tenantId, group, userId, source: 'local' }, c.var.actor)
        return enforcement.gone(c, tenantId, await told.enforced, member(group, userId))
      },
    }),
  ]
}
