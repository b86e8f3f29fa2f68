/** Who may open which paths: groups, their members, and the rules. */
import * as v from 'valibot'
import { pathOf } from '../../../shared/enforcement/path.ts'
import {
  AccessRuleSchema,
  AccessRulesSchema,
  type AccessRules,
} from '../../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { CHANGES } from '../../tenants/access-replay.ts'
import type { AccessReview } from '../../tenants/access-review.ts'
import type { Groups } from '../../tenants/groups.ts'
import type { TenantAccessRules } from '../../tenants/access-rules.ts'
import {
  AccessQuestionBody,
  GroupAnswer,
  MemberAnswer,
  NewGroupBody,
} from '../../requests/access-fields.ts'
import { count, described, time } from '../../requests/described.ts'
import { viewOf } from '../../requests/field-names.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { Enforced } from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers, WAITS, type EnforcedAnswersWorld } from './enforced-answers.ts'

interface AccessEndpointsWorld extends EnforcedAnswersWorld {
  readonly groups: Groups
  readonly accessRules: TenantAccessRules
  readonly accessReview: AccessReview
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

const ReplayAnswer = v.strictObject({
  days: count,
  people: described(count, 'Who was signed in during these days.'),
  machines: described(count, 'Which machines were used.'),
  changes: v.array(
    v.strictObject({
      host: described(v.nullable(v.string()), 'null: every hostname that no rule names.'),
      path: v.string(),
      methods: v.array(v.string()),
      change: described(
        v.picklist(CHANGES),
        '`refused`: could open it and no longer could. `asked`: only after a second factor or a new sign-in. `opened`: could not, and could.',
      ),
      count: described(count, 'How many people and machines.'),
      ids: described(v.array(v.string()), `The first ${LIMITS.replayedPeopleListedMax} of them.`),
    }),
  ),
  refused: described(
    v.array(v.strictObject({ path: v.nullable(v.string()), count, addresses: count, at: time })),
    'Requests that the rules in force have refused, as gateways reported them.',
  ),
  truncated: described(v.boolean(), 'Not everybody, or not every method, was looked at.'),
})
const ofRefused = viewOf(
  v.strictObject({ path: v.nullable(v.string()), count, addresses: count, at: time }),
)
const DecisionAnswer = v.strictObject({
  known: described(v.boolean(), 'false: which rules were in force then is not known.'),
  decision: v.nullable(v.picklist(['forward', 'sign_in', 'refuse', 'service'])),
  reason: v.nullable(v.string()),
  by: described(
    v.nullable(v.picklist(['unruled', 'unreadable', 'opened', 'denied', 'closed'])),
    'What the rules said; null: it did not come to them.',
  ),
  rules: v.array(
    v.strictObject({
      number: described(count, 'Its place in the list, from 0.'),
      rule: AccessRuleSchema,
    }),
  ),
  groups: described(v.array(v.string()), 'Groups the person was in.'),
  attributes: described(
    v.array(v.strictObject({ name: v.string(), value: v.string() })),
    'Attributes the person had.',
  ),
})

const ofGroup = viewOf(GroupAnswer)
const ofMember = viewOf(MemberAnswer)

export function accessEndpoints(world: AccessEndpointsWorld): readonly Endpoint[] {
  const { groups, accessRules, accessReview } = world
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
        `decides, and opens more than the paths above it only with widen. A clause with attr is for people with these attributes, one with service for that machine, any other for people. ${WAITS}`,
      body: AccessRulesSchema,
      example: EXAMPLE,
      answers: { 200: json(RulesAnswer, 'The rules in force.') },
      refusals: ['tenant_too_large'],
      handle: async (c, { path: { tenant_id: tenantId }, body }) => {
        const rules = await accessRules.put(tenantId, body, c.var.actor)
        return c.json({ ...rules, enforced: await enforcement.change(tenantId) })
      },
    }),
    operator.post(`${RULES}/replay`, {
      summary: 'Previews what other rules would change for whoever was here; changes nothing.',
      description:
        `Holds everyone who was signed in during the last ${LIMITS.accessReplayDays} days, from the addresses they signed in from and with the groups and attributes they have now, ` +
        'against each path that the rules name. Which paths people opened is not recorded.',
      body: AccessRulesSchema,
      example: EXAMPLE,
      answers: { 200: json(ReplayAnswer, 'Who could open less, and who more.') },
      handle: async (c, { path, body }) => {
        const { changes, refused, isCut, ...counts } = await accessReview.replay(
          path.tenant_id,
          body,
        )
        return c.json({
          days: LIMITS.accessReplayDays,
          ...counts,
          changes: changes.map(({ host = null, methods, ids, ...one }) => {
            return { ...one, host, methods: [...methods], ids: [...ids] }
          }),
          refused: refused.map((one) => ofRefused(one)),
          truncated: isCut,
        })
      },
    }),
    operator.post(`${RULES}/decision`, {
      summary: 'Shows who can open a path, now or at an earlier time, and which rules decide.',
      description:
        'The decision is made by the code that gateways run. Sealed and excluded paths count as they are now; rules, groups and attributes as they were at that time.',
      body: AccessQuestionBody,
      example: { path: '/admin', user_id: 'usr_example', second_factor: true },
      answers: { 200: json(DecisionAnswer, 'The decision.') },
      refusals: ['user_not_found', 'service_not_found'],
      handle: async (c, { path, body }) => {
        const reviewed = await accessReview.ask(path.tenant_id, {
          host: body.host,
          path: pathOf(body.path),
          method: body.method,
          userId: body.user_id,
          serviceId: body.service_id,
          address: body.ip ?? '',
          isStrong: body.second_factor,
          signedInSecondsAgo: body.signed_in_seconds_ago,
          ...(body.at != null && { atMs: Date.parse(body.at) }),
        })
        const { outcome, explanation, rules, groups, attributes } = reviewed
        const isKnown = rules !== undefined
        return c.json({
          known: isKnown,
          decision: isKnown ? outcome.kind : null,
          reason: isKnown && outcome.kind !== 'service' ? outcome.reason : null,
          by: isKnown ? (explanation?.kind ?? null) : null,
          rules: (explanation?.rules ?? []).flatMap((number) => {
            const rule = rules?.rules[number]
            return rule === undefined ? [] : [{ number, rule }]
          }),
          groups: [...groups],
          attributes: attributes.map(({ name, value }) => ({ name, value })),
        })
      },
    }),
    operator.get(GROUPS, {
      summary: 'Lists the groups.',
      answers: { 200: json(pageOf(GroupAnswer), 'Every group, by name.') },
      handle: async (c, { path }) => {
        const all = await groups.list(path.tenant_id)
        const items = (await groups.counted(path.tenant_id, all)).map(ofGroup)
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
