/** What people are, for access rules that ask. */
import * as v from 'valibot'
import { AttributeAnswer, AttributesBody } from '../../requests/attribute-fields.ts'
import { described } from '../../requests/described.ts'
import { viewOf } from '../../requests/field-names.ts'
import type { PersonAttributes } from '../../tenants/person-attributes.ts'
import { Enforced } from '../answer-fields.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { enforcedAnswers, WAITS, type EnforcedAnswersWorld } from './enforced-answers.ts'

interface AttributeEndpointsWorld extends EnforcedAnswersWorld {
  readonly personAttributes: PersonAttributes
}

const operator = endpointsOf('access', 'operator')
const ATTRIBUTES = '/api/v1/operator/tenants/{tenant_id}/users/{user_id}/attributes'

const ListAnswer = v.strictObject({ attributes: v.array(AttributeAnswer) })
const PutAnswer = v.strictObject({
  ...ListAnswer.entries,
  enforced: described(Enforced, 'Which gateways go by them.'),
})
const ofAttribute = viewOf(AttributeAnswer)

export function attributeEndpoints(world: AttributeEndpointsWorld): readonly Endpoint[] {
  const { personAttributes } = world
  const enforcement = enforcedAnswers(world)
  const list = async (tenantId: string, userId: string) =>
    (await personAttributes.list(tenantId, userId)).map(ofAttribute)
  return [
    operator.get(ATTRIBUTES, {
      summary: 'Lists the attributes of a user, and where each comes from.',
      answers: { 200: json(ListAnswer, 'By name; a value once for each source.') },
      refusals: ['user_not_found'],
      handle: async (c, { path }) =>
        c.json({ attributes: await list(path.tenant_id, path.user_id) }),
    }),
    operator.put(ATTRIBUTES, {
      summary: 'Sets the attributes that administrators give a user.',
      description: `Access rules ask for them with \`attr\`. What a provider says of the user stays; sessions go on, by the new attributes. ${WAITS}`,
      body: AttributesBody,
      example: { attributes: [{ name: 'department', value: 'audit' }] },
      answers: { 200: json(PutAnswer, 'All attributes of the user.') },
      refusals: ['user_not_found'],
      handle: async (c, { path: { tenant_id: tenantId, user_id: userId }, body }) => {
        const whose = { tenantId, userId }
        const told = await personAttributes.put(whose, body.attributes, c.var.actor)
        const enforced = await enforcement.view(tenantId, await told.enforced)
        return c.json({ attributes: await list(tenantId, userId), enforced })
      },
    }),
  ]
}
