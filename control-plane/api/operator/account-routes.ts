/** A tenant's users, their sessions, and ending those. */
import { Hono, type Context } from 'hono'
import type * as v from 'valibot'
import { Refusal } from '../../../shared/errors.ts'
import type { Clock } from '../../../shared/clock.ts'
import type { AccountMail } from '../../accounts/account-mail.ts'
import type { Revocations, SessionTarget } from '../../accounts/revocations.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import type { UserPatch, Users } from '../../accounts/users.ts'
import { textsFor } from '../../realm/pages/texts/languages.ts'
import type { Tenants } from '../../tenants/tenants.ts'
import type { ApiEnv } from '../api-env.ts'
import { readJson } from '../body.ts'
import { mapPage, pageRequestOf } from '../paging.ts'
import { NewUserBody, NothingBody, RevocationBody, UserPatchBody } from './fields.ts'
import { sessionView, userView } from './views.ts'

export interface AccountRoutesWorld {
  readonly tenants: Pick<Tenants, 'get'>
  readonly users: Users
  readonly sessions: Sessions
  readonly revocations: Revocations
  readonly accountMail: Pick<AccountMail, 'invite'>
  readonly clock: Clock
  /** Settles when the connected gateways enforce it, or after a short while. */
  readonly revocationsSettled: () => Promise<unknown>
}

export function accountRoutes(world: AccountRoutesWorld) {
  const { tenants, users, sessions, revocations, accountMail, clock } = world
  const app = new Hono<ApiEnv>()

  app.post('/:id/users', async (c) => {
    const body = await readJson(c, NewUserBody)
    const tenant = await tenants.get(c.req.param('id'))
    const { invite, password = '', ...same } = body
    if (password === '' && !invite)
      throw new Refusal(
        'field_invalid',
        { field: 'password' },
        'Give a "password", or "invite": true to have the person choose one.',
      )
    const input = { ...same, password, name: body.name ?? body.username }
    const user = await users.create(tenant.tenantId, input, c.var.actor)
    if (invite) await accountMail.invite(tenant.tenantId, user.userId, c.var.actor, language(c))
    return c.json(userView(user), 201)
  })

  /** The link in the mail is for a first password, or for another one that the person chooses. */
  app.post('/:id/users/:user/invite', async (c) => {
    await readJson(c, NothingBody)
    const { id, user } = c.req.param()
    await accountMail.invite(id, user, c.var.actor, language(c))
    return c.json({ user_id: user, invited: true })
  })

  app.get('/:id/users', async (c) => {
    const tenant = await tenants.get(c.req.param('id'))
    return c.json(mapPage(await users.list(tenant.tenantId, pageRequestOf(c)), userView))
  })

  app.patch('/:id/users/:user', async (c) => {
    const patch = toPatch(await readJson(c, UserPatchBody))
    const { id, user } = c.req.param()
    const changed = await users.patch(id, user, patch, c.var.actor)
    await world.revocationsSettled()
    return c.json(userView(changed))
  })

  app.delete('/:id/users/:user', async (c) => {
    const { id, user } = c.req.param()
    await users.remove(id, user, c.var.actor)
    await world.revocationsSettled()
    return c.body(null, 204)
  })

  app.get('/:id/sessions', async (c) => {
    const tenant = await tenants.get(c.req.param('id'))
    const page = await sessions.list(tenant.tenantId, pageRequestOf(c))
    return c.json(mapPage(page, (session) => sessionView(session, clock.nowMs())))
  })

  app.post('/:id/revocations', async (c) => {
    const target = toTarget(await readJson(c, RevocationBody))
    const result = await revocations.revoke(c.req.param('id'), target, c.var.actor)
    await world.revocationsSettled()
    return c.json({ ...target, not_before: result.notBefore, sessions: result.sessions })
  })

  return app
}

/** Of the mail: what the caller would like to read itself is the best guess. */
function language(c: Context): string {
  return textsFor({ acceptLanguage: c.req.header('accept-language') }).language
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
    'Give exactly one of "all", "subject" and "sid".',
  )
}

function toPatch(body: v.InferOutput<typeof UserPatchBody>): UserPatch {
  const { disabled, ...same } = body
  const patch = Object.fromEntries(Object.entries(same)) as UserPatch
  return disabled === undefined ? patch : { ...patch, isDisabled: disabled }
}
