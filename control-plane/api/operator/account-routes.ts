/** A tenant's users, their sessions, and ending those. */
import * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { SessionTarget } from '../../sessions/revocations.ts'
import type { AliveFilter } from '../../sessions/sessions.ts'
import type { UserPatch } from '../../accounts/users.ts'
import { mailLanguage } from '../../http/mail-language.ts'
import {
  InvitationAnswer,
  PatchedUserAnswer,
  RemovedUserAnswer,
  RevocationAnswer,
  Session,
  User,
} from '../answer-fields.ts'
import { endpointsOf, json, nothing, type Endpoint } from '../endpoint.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { enforcedAnswers } from './enforced-answers.ts'
import { NothingBody } from '../../requests/fields.ts'
import { NewUserBody, RevocationBody, UserPatchBody } from '../../requests/people-fields.ts'
import { sessionView, userView } from './views.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('people', 'operator')
const TENANT = '/api/v1/operator/tenants/{tenant_id}'
const USERS = `${TENANT}/users` as const
const USER = `${USERS}/{user_id}` as const

const SEARCH_WISH = `1 to ${LIMITS.usernameCharactersMax} characters`
const searched = v.pipe(
  v.string(SEARCH_WISH),
  v.minLength(1, SEARCH_WISH),
  v.maxLength(LIMITS.usernameCharactersMax, SEARCH_WISH),
)
const beginning = v.optional(
  v.pipe(searched, v.description('Any part of the name, username, email address or ID.')),
)
const SESSION_FILTER = {
  state: v.optional(v.picklist(['all', 'active'], 'one of all, active'), 'all'),
  user_id: v.optional(v.pipe(searched, v.description('Active sessions of this person.'))),
  ip: v.optional(v.pipe(searched, v.description('Active sessions from this address.'))),
}

export function accountEndpoints(world: ApiWorld): readonly Endpoint[] {
  const { tenants, users, sessions, revocations, accountMail, clock } = world
  const enforcement = enforcedAnswers(world)

  return [
    operator.post(USERS, {
      summary: 'Creates a user, with a password or with an invitation to choose one.',
      body: NewUserBody,
      example: { username: 'bob', email: 'bob@acme.example', name: 'Bob', invite: true },
      answers: { 201: json(User, 'The user.') },
      refusals: ['username_taken', 'email_taken', 'user_elsewhere', 'unavailable'],
      handle: async (c, { path, body: { invite, password = '', ...same } }) => {
        const tenant = await tenants.get(path.tenant_id)
        if (password === '' && !invite)
          throw new Refusal(
            'field_invalid',
            { field: 'password' },
            'Send a "password", or "invite": true to let the person choose one.',
          )
        const input = { ...same, password, name: same.name ?? same.username }
        const { actor } = c.var
        const language = mailLanguage(c.req.raw)
        const user = await users.create(tenant.tenantId, input, actor, async (change, user) => {
          if (invite) await accountMail.inviteIn(change, user, actor, language)
        })
        accountMail.deliver()
        return c.json(userView(user), 201)
      },
    }),
    operator.get(USERS, {
      summary: 'Lists users.',
      description: 'With `q`, only the first matches, on one page.',
      query: { ...PAGE_QUERY, q: beginning },
      answers: { 200: json(pageOf(User), 'One page of users.') },
      handle: async (c, { path, query }) => {
        const tenant = await tenants.get(path.tenant_id)
        const { q, ...page } = query
        if (q === undefined)
          return c.json(mapPage(await users.list(tenant.tenantId, page), userView))
        const items = await users.search(tenant.tenantId, q, page.limit)
        return c.json({ items: items.map(userView), next: null })
      },
    }),
    operator.patch(USER, {
      summary: 'Changes a user. A new password or disabling the user ends all their sessions.',
      description:
        'A new password or email address is announced by email to the previous address, in the language of Accept-Language.',
      headers: { 'Accept-Language': 'The language of the email.' },
      body: UserPatchBody,
      example: { name: 'Robert' },
      answers: { 200: json(PatchedUserAnswer, 'The updated user.') },
      refusals: ['username_taken', 'email_taken', 'user_elsewhere', 'unavailable'],
      handle: async (c, { path, body }) => {
        const patch = toPatch(body)
        const { user, ended } = await users.patch(
          path.tenant_id,
          path.user_id,
          patch,
          c.var.actor,
          (change, before, after) =>
            accountMail.tellChangedByOther(change, before, after, mailLanguage(c.req.raw)),
        )
        accountMail.deliver()
        if (ended === undefined) return c.json(userView(user))
        const enforced = await enforcement.view(path.tenant_id, await ended.enforced)
        return c.json({ ...userView(user), enforced })
      },
    }),
    operator.delete(USER, {
      summary: 'Deletes a user and ends all their sessions.',
      answers: {
        202: json(
          RemovedUserAnswer,
          'The user is deleted, but a gateway has not confirmed it yet.',
        ),
        204: nothing('The user is deleted, and every gateway refuses their sessions.'),
      },
      handle: async (c, { path: { tenant_id: tenantId, user_id: userId } }) => {
        const ended = await users.remove(tenantId, userId, c.var.actor)
        return enforcement.gone(c, tenantId, await ended.enforced, { user_id: userId })
      },
    }),
    operator.post(`${USER}/unlock`, {
      summary: 'Unlocks a user after too many failed sign-ins.',
      body: NothingBody,
      answers: { 200: json(User, 'The user, who can sign in again now.') },
      handle: async (c, { path: { tenant_id: tenantId, user_id: userId } }) => {
        await users.unlock(tenantId, userId, c.var.actor)
        return c.json(userView(await users.get(tenantId, userId)))
      },
    }),
    /** The link in the mail is for a first password, or for another one that the person chooses. */
    operator.post(`${USER}/invite`, {
      summary: 'Emails a user a link to choose a password, in the language of Accept-Language.',
      headers: { 'Accept-Language': 'The language of the email.' },
      body: NothingBody,
      answers: { 200: json(InvitationAnswer, 'The email is queued.') },
      refusals: ['user_elsewhere'],
      handle: async (c, { path: { tenant_id: tenantId, user_id: userId } }) => {
        await accountMail.invite(tenantId, userId, c.var.actor, mailLanguage(c.req.raw))
        return c.json({ user_id: userId, invited: true })
      },
    }),
    operator.get(`${TENANT}/sessions`, {
      summary: 'Lists sessions, newest first.',
      description:
        'With `state=active`, only active sessions, the last to expire first; add `user_id` or `ip` for those of one person or from one address.',
      query: { ...PAGE_QUERY, ...SESSION_FILTER },
      answers: { 200: json(pageOf(Session), 'One page of sessions.') },
      handle: async (c, { path, query }) => {
        const tenant = await tenants.get(path.tenant_id)
        const { state, user_id: userId, ip, ...wanted } = query
        const page =
          state === 'all' && userId === undefined && ip === undefined
            ? await sessions.list(tenant.tenantId, wanted)
            : await sessions.listAlive(tenant.tenantId, aliveFilter(userId, ip), wanted)
        return c.json(mapPage(page, (session) => sessionView(session, clock.nowMs())))
      },
    }),
    operator.post(`${TENANT}/revocations`, {
      summary: 'Ends sessions everywhere: all of them, those of one user, or one.',
      description: [
        'Send exactly one of `all`, `subject` and `sid`. Signing in again stays possible.',
        'Waits up to a second for every connected gateway to refuse these sessions in all workers and save that to disk; `enforced` counts those that did and names the others.',
        'In `sdk` mode the application instances poll: `enforced.instances` says how soon.',
      ].join(' '),
      body: RevocationBody,
      example: { all: true },
      answers: { 200: json(RevocationAnswer, 'Sessions issued before this are invalid.') },
      refusals: ['user_not_found', 'session_not_found'],
      handle: async (c, { path, body }) => {
        const target = toTarget(body)
        const result = await revocations.revoke(path.tenant_id, target, c.var.actor)
        const enforced = await enforcement.view(path.tenant_id, await result.enforced)
        const { notBefore: not_before, sessions } = result
        return c.json({ ...target, not_before, sessions, enforced })
      },
    }),
  ]
}

function aliveFilter(userId: string | undefined, ip: string | undefined): AliveFilter {
  if (userId !== undefined && ip !== undefined)
    throw new Refusal('query_invalid', { field: 'ip' }, 'Send "user_id" or "ip", not both.')
  if (userId !== undefined) return { kind: 'people', userIds: [userId] }
  return ip === undefined ? { kind: 'all' } : { kind: 'address', ip }
}

function toTarget(body: v.InferOutput<typeof RevocationBody>): SessionTarget {
  const { all, subject, sid } = body
  if (Object.keys(body).length === 1) {
    if (all !== undefined) return { all }
    if (subject !== undefined) return { subject }
    if (sid !== undefined) return { sid }
  }
  throw new Refusal(
    'field_invalid',
    { field: 'body' },
    'Send exactly one of "all", "subject" and "sid".',
  )
}

function toPatch(body: v.InferOutput<typeof UserPatchBody>): UserPatch {
  const { disabled, ...same } = body
  const patch = Object.fromEntries(Object.entries(same)) as UserPatch
  return disabled === undefined ? patch : { ...patch, isDisabled: disabled }
}
