/** Into the console: for who holds the operator key, and has no account yet, or none any more. */
import * as v from 'valibot'
import type { ConsolePerson } from '../../console-access/people.ts'
import { mailLanguage } from '../../http/mail-language.ts'
import { described, time } from '../../requests/described.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { ConsoleRoleBody, InvitationBody, OF_TENANT } from '../../requests/people-fields.ts'
import { fromOutside, iso, viewOf } from '../../requests/field-names.ts'
import type { ApiWorld } from '../world.ts'

const OperatorLinkBody = v.strictObject({
  force: v.optional(
    described(v.boolean('true or false'), 'Even if an operator already exists.'),
    false,
  ),
})

const Person = v.strictObject({
  user_id: v.string(),
  email: v.string(),
  name: v.string(),
  role: v.picklist(['operator', 'administrator', 'viewer']),
  since: time,
})

const ofPerson = viewOf(Person)
const personView = ({ user, role, since }: ConsolePerson) => ofPerson({ ...user, role, since })

const PEOPLE = '/api/v1/operator/console/people'
const operator = endpointsOf('fleet', 'operator')

const OperatorLink = v.strictObject({
  url: described(v.string(), 'A secret: whoever opens it first becomes an operator.'),
  expires_at: time,
})

export function consoleEndpoints({ consoleAccess }: ApiWorld): readonly Endpoint[] {
  const { people } = consoleAccess
  return [
    operator.post('/api/v1/operator/console/operator-links', {
      summary: 'Creates a link that makes one person an operator of the console.',
      description:
        'Works once, for 15 minutes; the previous link stops working. Refused if an operator ' +
        'already exists, unless forced.',
      body: OperatorLinkBody,
      example: { force: true },
      answers: { 201: json(OperatorLink, 'The link.') },
      refusals: ['operator_exists'],
      handle: async (c, { body }) => {
        const { url, expiresAtMs } = await consoleAccess.links.make(body.force, c.var.actor)
        return c.json({ url, expires_at: iso(expiresAtMs) }, 201)
      },
    }),
    operator.get(PEOPLE, {
      summary: 'Lists the operators, or the administrators of one tenant.',
      query: { ...PAGE_QUERY, tenant_id: OF_TENANT },
      answers: { 200: json(pageOf(Person), 'One page of people.') },
      handle: async (c, { query }) =>
        c.json(mapPage(await people.list(query.tenant_id, query), personView)),
    }),
    operator.post(PEOPLE, {
      summary: 'Invites an operator, or an administrator of one tenant, to the console.',
      description:
        'By email, in the language of Accept-Language. People who already have a console password ' +
        'get the role right away, without an email.',
      body: InvitationBody,
      example: { email: 'bob@acme.example', name: 'Bob', tenant_id: 'acme' },
      answers: { 201: json(v.strictObject({ user_id: v.string() }), 'The person.') },
      refusals: ['tenant_not_found'],
      handle: async (c, { body }) => {
        const { read_only: isReadOnly, ...person } = body
        const wish = { ...fromOutside(person), name: body.name ?? body.email, isReadOnly }
        const language = mailLanguage(c.req.raw)
        const { user } = await people.invite(wish, c.var.actor, language)
        return c.json({ user_id: user.userId }, 201)
      },
    }),
    operator.patch(`${PEOPLE}/{user_id}`, {
      summary: 'Changes a role in the console: to read-only, or back.',
      description:
        'Takes effect with the next request of that person. The last operator stays one; ' +
        'invitations that a viewer has sent stop working.',
      query: { tenant_id: OF_TENANT },
      body: ConsoleRoleBody,
      example: { read_only: true },
      answers: { 200: json(Person, 'The person, with the role from now on.') },
      refusals: ['user_not_found', 'last_operator'],
      handle: async (c, { path, query, body }) => {
        const { read_only: isReadOnly } = body
        const { actor } = c.var
        const person = await people.setRole(path.user_id, query.tenant_id, isReadOnly, actor)
        return c.json(personView(person))
      },
    }),
    operator.delete(`${PEOPLE}/{user_id}`, {
      summary: 'Removes a role in the console; removing the last role deletes the account.',
      query: { tenant_id: OF_TENANT },
      answers: { 204: nothing('Removed: it applies to the next request of that person.') },
      refusals: ['last_operator'],
      handle: async (c, { path, query }) => {
        await people.letGo(path.user_id, query.tenant_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}
