/** A tenant's users: listed, and made by invitation. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { NewUserBody } from '../../../requests/people-fields.ts'
import { mailLanguage } from '../../../http/mail-language.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { formCard } from '../../blocks/form.ts'
import { tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, userPath, USERS } from './paths.ts'
import { USER_LIST_QUERY, userList } from './user-list.ts'

/** Whoever is created without a password chooses one by mail. */
const NewPersonBody = v.strictObject({
  email: NewUserBody.entries.email,
  username: v.optional(NewUserBody.entries.username),
  name: NewUserBody.entries.name,
  password: NewUserBody.entries.password,
})

export function usersRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { users, accountMail } = world
  return [
    page({ path: USERS, role: 'tenant', query: USER_LIST_QUERY }, (visit) =>
      userList(visit, visit.query, world),
    ),
    page({ path: `${USERS}/new`, role: 'tenant', needsFreshSignIn: true }, (visit) =>
      newUserView(visit),
    ),
    action(
      {
        path: `${USERS}/new`,
        role: 'tenant',
        form: {
          email: 'text',
          username: 'optional',
          name: 'optional',
          password: 'optional_secret',
        },
        body: NewPersonBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, { email, username = email, name = username, password = '' }) => {
        const { tenantId } = visit.tenant
        const { actor } = visit
        const input = { username, email, name, password }
        const language = mailLanguage(visit.request)
        const user = await users.create(tenantId, input, actor, async (change, user) => {
          if (password === '') await accountMail.inviteIn(change, user, actor, language)
        })
        accountMail.deliver()
        return done(
          userPath(tenantId, user.userId),
          password === ''
            ? `${name} created. An invitation is on its way to ${email}.`
            : `${name} created, and can sign in with the password you set.`,
        )
      },
      newUserView,
    ),
  ]
}

function newUserView(visit: TenantVisit, attempt?: Attempt): View {
  const { tenantId, name } = visit.tenant
  const path = `${tenantPath(tenantId, 'users')}/new`
  return {
    title: 'New user',
    intro: `A person who can sign in to ${name}.`,
    here: 'users',
    content: formCard(visit, {
      action: path,
      submit: 'Create user',
      cancel: tenantPath(tenantId, 'users'),
      attempt,
      content: html`
          ${textField({ name: 'email', label: 'Email address', type: 'email', attempt })}
          ${textField({ name: 'name', label: 'Name', isOptional: true, attempt })}
          ${textField({ name: 'username', label: 'Username', hint: 'Used to sign in. If empty, the email address is used.', isOptional: true, attempt })}
          ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', hint: 'Leave empty to email an invitation link instead.', isOptional: true, attempt })}
        `,
    }),
    calls: [
      {
        method: 'POST',
        path: `${apiOf(tenantId)}/users`,
        body: { username: 'bob', email: 'bob@acme.example', name: 'Bob', invite: true },
      },
    ],
  }
}
