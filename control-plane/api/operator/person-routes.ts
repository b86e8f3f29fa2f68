/** One person of the console: what an operator sees of them, and does for them. */
import * as v from 'valibot'
import type { ConsolePersons, ConsolePersonView } from '../../console-access/person.ts'
import { AuditEntry, Factor, Session } from '../answer-fields.ts'
import { count, described, time } from '../../requests/described.ts'
import { endpointsOf, json, nothing } from '../endpoint.ts'
import { mailLanguage } from '../../http/mail-language.ts'
import { pageOf } from '../../requests/paging.ts'
import { NothingBody } from '../../requests/fields.ts'
import { ColleagueBody } from '../../requests/people-fields.ts'
import { factorView } from './sign-in-routes.ts'
import { viewOf } from '../../requests/field-names.ts'
import { auditView, sessionView } from './views.ts'
import type { ApiWorld } from '../world.ts'

const PERSON = '/api/v1/operator/console/people/{user_id}'
const INVITATIONS = '/api/v1/operator/tenants/{tenant_id}/console-invitations'
const INVITATION = `${INVITATIONS}/{invitation_id}` as const
const operator = endpointsOf('fleet', 'operator')

const InvitationAnswer = v.strictObject({
  invitation_id: v.string(),
  tenant_id: v.string(),
  email: v.string(),
  created_at: time,
  sent_at: time,
  expires_at: time,
})

const SignInAnswer = v.strictObject({ at: time, ip: v.string(), user_agent: v.string() })
const RoleAnswer = v.strictObject({
  role: v.picklist(['operator', 'administrator', 'viewer']),
  tenant_id: described(v.nullable(v.string()), 'null: of all tenants.'),
  since: time,
})
const LinkAnswer = v.strictObject({
  created_at: time,
  expires_at: time,
  used_at: v.nullable(time),
})

const PersonAnswer = v.strictObject({
  user_id: v.string(),
  email: v.string(),
  name: v.string(),
  disabled: v.boolean(),
  accepted: described(v.boolean(), 'Whether they have chosen a password.'),
  locked_until: described(v.nullable(time), 'Until then sign-ins are refused; null: they are not.'),
  created_at: time,
  roles: v.array(RoleAnswer),
  last_sign_in: v.nullable(SignInAnswer),
  sessions: described(v.array(Session), 'Active console sessions.'),
  factors: v.array(Factor),
  links: described(v.array(LinkAnswer), 'Emailed to choose a first password.'),
  invitations: described(v.array(InvitationAnswer), 'Open invitations to tenants.'),
  audit: described(v.array(AuditEntry), 'Changes by this person, and about them; newest first.'),
})

const invitationView = viewOf(InvitationAnswer)

const SignedOutAnswer = v.strictObject({
  user_id: v.string(),
  sessions: described(count, 'How many sessions this ended.'),
})

const Done = v.strictObject({ user_id: v.string() })

export function personEndpoints({ consoleAccess, tenants, clock }: ApiWorld) {
  const { people, persons, invitations } = consoleAccess
  return [
    operator.get(PERSON, {
      summary: 'Shows one person of the console.',
      description: 'Their roles, sessions, second factors, invitations and recent activity.',
      answers: { 200: json(PersonAnswer, 'The person.') },
      handle: async (c, { path }) =>
        c.json(personView(await persons.view(path.user_id), clock.nowMs())),
    }),
    operator.post(`${PERSON}/sign-out`, {
      summary: 'Ends every session of one person of the console.',
      body: NothingBody,
      answers: { 200: json(SignedOutAnswer, 'They can sign in again.') },
      handle: async (c, { path: { user_id: userId } }) => {
        const { sessions } = await persons.signOut(userId, c.var.actor)
        return c.json({ user_id: userId, sessions })
      },
    }),
    operator.post(`${PERSON}/unlock`, {
      summary: 'Unlocks an account of the console after too many failed sign-ins.',
      body: NothingBody,
      answers: { 200: json(Done, 'They can sign in again now.') },
      handle: async (c, { path: { user_id: userId } }) => {
        await persons.unlock(userId, c.var.actor)
        return c.json({ user_id: userId })
      },
    }),
    operator.post(`${PERSON}/reset-factors`, {
      summary: 'Removes all second factors of a person of the console, and ends their sessions.',
      description: 'They are notified by email and set up a new one at the next sign-in.',
      body: NothingBody,
      answers: { 200: json(Done, 'The second factors are removed.') },
      refusals: ['factor_not_found'],
      handle: async (c, { path: { user_id: userId } }) => {
        await persons.resetFactors(userId, c.var.actor)
        return c.json({ user_id: userId })
      },
    }),
    operator.post(`${PERSON}/resend-invitation`, {
      summary: 'Emails a new link to a person of the console who has not accepted yet.',
      headers: { 'Accept-Language': 'The language of the email.' },
      body: NothingBody,
      answers: { 200: json(Done, 'The email is queued.') },
      refusals: ['invitation_accepted'],
      handle: async (c, { path: { user_id: userId } }) => {
        await persons.resendInvitation(userId, c.var.actor, mailLanguage(c.req.raw))
        return c.json({ user_id: userId })
      },
    }),
    operator.post(`${PERSON}/revoke-access`, {
      summary: 'Removes every role of a person of the console, and the account.',
      body: NothingBody,
      answers: { 200: json(Done, 'They have no access from their next request on.') },
      refusals: ['last_operator'],
      handle: async (c, { path: { user_id: userId } }) => {
        await people.revokeAccess(userId, c.var.actor)
        return c.json({ user_id: userId })
      },
    }),
    operator.get(INVITATIONS, {
      summary: 'Lists the open invitations to administer a tenant.',
      answers: { 200: json(pageOf(InvitationAnswer), 'Every open invitation.') },
      handle: async (c, { path }) => {
        const { tenantId } = await tenants.get(path.tenant_id)
        const items = await invitations.list(tenantId)
        return c.json({ items: items.map(invitationView), next: null })
      },
    }),
    operator.post(INVITATIONS, {
      summary:
        'Invites a person as administrator or viewer of a tenant; the role starts when they accept.',
      description:
        'By email, in the language of Accept-Language. Inviting the same address again sends a new link.',
      headers: { 'Accept-Language': 'The language of the email.' },
      body: ColleagueBody,
      example: { email: 'bob@acme.example' },
      answers: { 201: json(v.strictObject({ invitation_id: v.string() }), 'The invitation.') },
      refusals: ['invitations_full'],
      handle: async (c, { path, body }) => {
        const inviter = inviterOf(c.var.actor, c.req.raw)
        const { invitationId } = await invitations.invite(
          path.tenant_id,
          body.email,
          inviter,
          body.read_only,
        )
        return c.json({ invitation_id: invitationId }, 201)
      },
    }),
    operator.post(`${INVITATION}/resend`, {
      summary: 'Emails a new link for an invitation; the previous one stops working.',
      headers: { 'Accept-Language': 'The language of the email.' },
      body: NothingBody,
      answers: { 200: json(v.strictObject({ invitation_id: v.string() }), 'The email is queued.') },
      refusals: ['invitation_not_found'],
      handle: async (c, { path }) => {
        const inviter = inviterOf(c.var.actor, c.req.raw)
        await invitations.resend(path.tenant_id, path.invitation_id, inviter)
        return c.json({ invitation_id: path.invitation_id })
      },
    }),
    operator.delete(INVITATION, {
      summary: 'Withdraws an invitation to administer a tenant.',
      answers: { 204: nothing('Its link opens nothing any more.') },
      refusals: ['invitation_not_found'],
      handle: async (c, { path }) => {
        await invitations.withdraw(path.tenant_id, path.invitation_id, c.var.actor)
        return c.body(null, 204)
      },
    }),
  ]
}

const inviterOf = (actor: Parameters<ConsolePersons['unlock']>[1], request: Request) => ({
  userId: undefined,
  actor,
  language: mailLanguage(request),
})

const ofRole = viewOf(RoleAnswer)
const ofPerson = viewOf(PersonAnswer)

function personView(view: ConsolePersonView, nowMs: number) {
  const { user, roles, lastSignIn, lockedUntilMs } = view
  return ofPerson({
    ...user,
    disabled: user.isDisabled,
    accepted: user.passwordHash !== '',
    lockedUntil: lockedUntilMs ?? null,
    roles: roles.map(({ role, tenantId, createdAt }) =>
      ofRole({ role, tenantId: tenantId === '' ? null : tenantId, since: createdAt }),
    ),
    lastSignIn: lastSignIn ? viewOf(SignInAnswer)(lastSignIn) : null,
    sessions: view.sessions.map((session) => sessionView(session, nowMs)),
    factors: view.factors.map(factorView),
    links: view.links.map(viewOf(LinkAnswer)),
    invitations: view.invitations.map(invitationView),
    audit: view.audit.map(auditView),
  })
}
