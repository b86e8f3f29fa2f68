/** One user: seen, changed, mailed a link, unlocked, let in again. What takes away asks first. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { Refusal } from '../../../../shared/errors.ts'
import { mailLanguage } from '../../../http/mail-language.ts'
import { NothingBody } from '../../../requests/fields.ts'
import { UserPatchBody } from '../../../requests/people-fields.ts'
import type { User } from '../../../accounts/users.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { formCard } from '../../blocks/form.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, USER, userPath } from './paths.ts'
import { userPage } from './user-page.ts'

export type UserVisit = TenantVisit & { readonly path: { readonly user_id: string } }

const { name, username, email } = v.required(UserPatchBody).entries
const EditBody = v.strictObject({ name, username, email })

/** Who exists for one check of the sign-in is nobody. */
export async function userOf({ users }: ConsoleWorld, visit: UserVisit): Promise<User> {
  const user = await users.get(visit.tenant.tenantId, visit.path.user_id)
  if (user.source === 'trial') throw new Refusal('user_not_found')
  return user
}

export function userRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const {
    users,
    sessions,
    factors,
    personIdentities,
    personAttributes,
    devices,
    enrolledDevices,
    attempts,
    policies,
  } = world
  const { accountMail, scimPeople, scimTokens } = world

  async function editView(visit: UserVisit, attempt?: Attempt): Promise<View> {
    const user = await userOf(world, visit)
    if (user.source === 'directory') throw new Refusal('user_elsewhere')
    const { tenantId } = visit.tenant
    const path = userPath(tenantId, user.userId)
    return {
      title: `Edit ${user.name}`,
      here: 'users',
      content: formCard(visit, {
        action: `${path}/edit`,
        submit: 'Save',
        cancel: path,
        attempt,
        content: html`
            ${textField({ name: 'name', label: 'Name', value: user.name, attempt })}
            ${textField({ name: 'username', label: 'Username', value: user.username, attempt })}
            ${textField({ name: 'email', label: 'Email address', type: 'email', value: user.email, hint: 'Password reset links go to this address. Links sent to the old address stop working.', attempt })}
          `,
      }),
      calls: [
        {
          method: 'PATCH',
          path: `${apiOf(tenantId)}/users/${user.userId}`,
          body: { name: user.name, username: user.username, email: user.email },
        },
      ],
    }
  }

  return [
    page({ path: USER, role: 'tenant' }, async (visit) => {
      const user = await userOf(world, visit)
      const { tenantId, userId } = user
      const decided = await policies.of(tenantId)
      return userPage(visit, {
        user,
        pausedUntilMs: await attempts.pauseOf(user, decided),
        sessions: await sessions.listAliveOf(tenantId, userId),
        session: decided.session,
        factors: await factors.list(user),
        identities: await personIdentities.list(tenantId, userId),
        attributes: await personAttributes.list(tenantId, userId),
        devices: await devices.list(tenantId, userId),
        enrolled: await enrolledDevices.ofPerson(tenantId, userId),
        attempts: await attempts.newestOf(tenantId, userId),
        pushedAs: (await scimPeople.find(tenantId, userId))?.userName,
        hasProvider: (await scimTokens.list(tenantId)).length > 0,
      })
    }),
    // who holds the address holds the account: mail to it chooses the password
    page({ path: `${USER}/edit`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      editView(visit),
    ),
    action(
      {
        path: `${USER}/edit`,
        role: 'tenant',
        form: { name: 'text', username: 'text', email: 'text' },
        body: EditBody,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenantId, userId } = await userOf(world, visit)
        const { user } = await users.patch(
          tenantId,
          userId,
          body,
          visit.actor,
          (change, before, after) =>
            accountMail.tellChangedByOther(change, before, after, mailLanguage(visit.request)),
        )
        accountMail.deliver()
        return done(userPath(tenantId, userId), `Changes to ${user.name} saved.`)
      },
      editView,
    ),
    action(
      { path: `${USER}/invite`, role: 'tenant', body: NothingBody, isOnce: true },
      async (visit) => {
        const { tenantId, userId, email } = await userOf(world, visit)
        await accountMail.invite(tenantId, userId, visit.actor, mailLanguage(visit.request))
        return done(userPath(tenantId, userId), `Link sent to ${email}.`)
      },
    ),
    action({ path: `${USER}/unlock`, role: 'tenant' }, async (visit) => {
      const { tenantId, userId, name } = await userOf(world, visit)
      await users.unlock(tenantId, userId, visit.actor)
      return done(userPath(tenantId, userId), `${name} is unlocked and can sign in again.`)
    }),
    action({ path: `${USER}/enable`, role: 'tenant' }, async (visit) => {
      const { tenantId, userId, name } = await userOf(world, visit)
      await users.patch(tenantId, userId, { isDisabled: false }, visit.actor)
      return done(userPath(tenantId, userId), `${name} can sign in again.`)
    }),
  ]
}
