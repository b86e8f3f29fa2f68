/** A tenant's users: looked for by the beginning of a name, listed by key, made by invitation. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { NewUserBody } from '../../../requests/people-fields.ts'
import { mailLanguage } from '../../../http/mail-language.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import type { User } from '../../../accounts/users.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { formCard } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { emptyState, pager, table } from '../../blocks/table.ts'
import { badge, moment } from '../../blocks/text.ts'
import { administratorsPath, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, blocksPath, userPath, USERS } from './paths.ts'
import { searched } from '../../filters.ts'

type UsersWorld = Pick<ConsoleWorld, 'users' | 'accountMail'>

/** Whoever is created without a password chooses one by mail. */
const NewPersonBody = v.strictObject({
  email: NewUserBody.entries.email,
  username: v.optional(NewUserBody.entries.username),
  name: NewUserBody.entries.name,
  password: NewUserBody.entries.password,
})

export function usersRoutes({ users, accountMail }: UsersWorld): readonly ConsoleRoute[] {
  return [
    page(
      { path: USERS, role: 'tenant', query: { ...PAGE_QUERY, q: searched } },
      async ({ tenant: { tenantId, name }, viewer, query, address }) => {
        const { limit, cursor, q: text } = query
        const { items, next } =
          text === ''
            ? await users.list(tenantId, { limit, cursor })
            : { items: await users.search(tenantId, text, limit), next: null }
        const path = tenantPath(tenantId, 'users')
        return {
          title: 'Users',
          here: 'users',
          intro: `Everyone who can sign in to ${name}.`,
          buttons: [
            ...(viewer.isOperator
              ? [linkButton(administratorsPath(tenantId), 'Administrators', 'quiet')]
              : []),
            linkButton(blocksPath(tenantId), 'Blocked addresses', 'quiet'),
            linkButton(`${path}/new`, 'New user'),
          ],
          content: html`${searchForm(path, text)}
          ${table({
            caption: 'Users',
            rows: items,
            columns: [
              {
                label: 'Name',
                isName: true,
                cell: (user) => html`<a href="${userPath(tenantId, user.userId)}">${user.name}</a>`,
              },
              { label: 'Username', cell: ({ username }) => username },
              { label: 'Email address', cell: ({ email }) => email },
              { label: 'Account', cell: accountBadge },
              { label: 'Created', cell: ({ createdAt }) => moment(createdAt) },
            ],
            empty: text === '' ? nobodyYet(tenantId) : nobodyFound(path),
          })}
          ${
            text !== '' && items.length === limit
              ? html`<p class="hint">These are the first ${limit}. Type more of the name to find the others.</p>`
              : ''
          }
          ${pager(address, { next, isFirst: cursor === undefined })}
          ${
            viewer.isOperator
              ? ''
              : html`<p class="hint">To give a colleague access to this console, invite them under <a href="${tenantPath(tenantId, 'administrators')}">Administrators</a>.</p>`
          }`,
          calls: [
            {
              method: 'GET',
              path: `${apiOf(tenantId)}/users${text === '' ? '' : `?q=${encodeURIComponent(text)}`}`,
            },
          ],
        }
      },
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

export function accountBadge({ isDisabled, passwordHash, source }: User) {
  if (isDisabled) return badge('Disabled', 'bad')
  if (source === 'directory') return badge('Directory', 'good')
  return passwordHash === '' ? badge('Invited', 'warm') : badge('Active', 'good')
}

function searchForm(path: string, text: string) {
  return html`<form method="get" action="${path}" class="filters" role="search">
    ${textField({ name: 'q', label: 'Username or email address begins with', type: 'search', value: text, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    <div class="submit"><button type="submit" class="button quiet">Search</button></div>
  </form>`
}

const nobodyYet = (tenantId: string) =>
  emptyState(
    'No users yet',
    html`Invite the first one, or connect your own user database:
      <a href="${tenantPath(tenantId, 'directory')}">User directory</a>.`,
    linkButton(`${tenantPath(tenantId, 'users')}/new`, 'Invite a user'),
  )

const nobodyFound = (path: string) =>
  emptyState(
    'No matching users',
    'Search for the beginning of a username or of an email address.',
    linkButton(path, 'Show all', 'quiet'),
  )

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
