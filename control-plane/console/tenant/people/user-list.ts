/** The list of a tenant's users: what is looked for, in which order, and what may be done with several. */
import { html } from 'hono/html'
import { LIMITS } from '../../../../shared/limits.ts'
import type { UserFilter, UserOrder } from '../../../accounts/user-lists.ts'
import type { User } from '../../../accounts/users.ts'
import type { QueryValues } from '../../../http/query.ts'
import { selectField, textField } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { PAGE_QUERY } from '../../../requests/paging.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, pager, selectAll, table, type Column } from '../../blocks/table.ts'
import { badge, moment } from '../../blocks/text.ts'
import { chosen, searched } from '../../filters.ts'
import { administratorsPath, tenantPath } from '../../navigation.ts'
import type { TenantVisit, View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { apiOf, blocksPath, signUpsPath, userPath } from './paths.ts'
import { accountBadge, lockedBadge, SOURCES } from './user-badges.ts'
import { CHANGES } from './selected-changes.ts'

export const USER_FILTERS = {
  q: searched,
  status: chosen(['active', 'invited', 'disabled']),
  second_factor: chosen(['set_up', 'none', 'required']),
  source: chosen(['own', 'directory']),
  locked: chosen(['yes']),
  sort: chosen(['created', 'last_sign_in', 'inactive']),
} as const

export const USER_LIST_QUERY = { ...PAGE_QUERY, ...USER_FILTERS } as const

type UserFilters = QueryValues<typeof USER_FILTERS>
type Query = QueryValues<typeof USER_LIST_QUERY>

/** Whom the filters mean, and in which order. */
export async function wishOf(
  { attempts, policies }: ConsoleWorld,
  tenantId: string,
  { q: text, status, second_factor: secondFactor, source, locked, sort }: UserFilters,
): Promise<{ filter: UserFilter; order: UserOrder }> {
  const isLocked = locked === 'yes'
  const paused = isLocked
    ? await attempts.pausesOf(tenantId, await policies.of(tenantId))
    : undefined
  const userIds = paused && [...paused.keys()]
  return { filter: { text, status, secondFactor, source, userIds }, order: sort ?? 'username' }
}

export async function userList(
  visit: TenantVisit,
  query: Query,
  world: ConsoleWorld,
): Promise<View> {
  const { tenant, viewer, address } = visit
  const { tenantId, name } = tenant
  const { users, factors, attempts, policies, accountMail, signUps } = world
  const { filter, order } = await wishOf(world, tenantId, query)
  const { items, next } = await users.list(tenantId, query, filter, order)
  const ids = items.map(({ userId }) => userId)
  const withFactor = await factors.amongThem(tenantId, ids)
  const decided = await policies.of(tenantId)
  const { sign_up: signUp } = decided.password
  const waiting = signUp === 'off' ? 0 : await signUps.waiting(tenantId)
  const paused = await attempts.pausesOf(tenantId, decided, ids)
  const ahead = await accountMail.invitationsAhead(tenantId)
  const path = tenantPath(tenantId, 'users')
  const { limit: _limit, cursor, ...filters } = query
  const isFiltered = Object.values(filters).some((value) => value !== undefined && value !== '')
  const search = searchOf(filters)
  return {
    title: 'Users',
    here: 'users',
    intro: `Everyone who can sign in to ${name}.`,
    buttons: [
      ...(viewer.isOperator
        ? [linkButton(administratorsPath(tenantId), 'Administrators', 'quiet')]
        : []),
      ...(signUp !== 'off'
        ? [linkButton(signUpsPath(tenantId), `Account requests (${waiting})`, 'quiet')]
        : []),
      linkButton(blocksPath(tenantId), 'Blocked addresses', 'quiet'),
      linkButton(`${path}/import`, 'Import', 'quiet'),
      linkButton(`${path}/export${search}`, 'Export CSV', 'quiet'),
      linkButton(`${path}/new`, 'New user'),
    ],
    content: html`${ahead === undefined ? '' : invitationsAhead(ahead)} ${filterForm(path, query)}
    ${selectable(
      visit,
      path,
      table({
        caption: 'Users',
        rows: items,
        columns: columnsOf(visit, { withFactor, paused }),
        empty: isFiltered ? nobodyFound(path) : nobodyYet(tenantId),
      }),
      items.length,
    )}
    ${pager(address, { next, isFirst: cursor === undefined })}
    ${
      viewer.isOperator
        ? ''
        : html`<p class="hint">To give a colleague access to this console, invite them under <a href="${tenantPath(tenantId, 'administrators')}">Administrators</a>.</p>`
    }`,
    calls: [
      {
        method: 'GET',
        path: `${apiOf(tenantId)}/users${query.q === '' ? '' : `?q=${encodeURIComponent(query.q)}`}`,
      },
    ],
  }
}

interface Known {
  readonly withFactor: ReadonlySet<string>
  readonly paused: ReadonlyMap<string, number>
}

function columnsOf(
  { tenant: { tenantId }, proofs }: TenantVisit,
  { withFactor, paused }: Known,
): Column<User>[] {
  const select: Column<User> = {
    label: 'Select',
    isUnseen: true,
    cell: ({ userId, name }) =>
      html`<input type="checkbox" name="user_id" value="${userId}" aria-label="Select ${name}" />`,
  }
  return [
    ...(proofs.isReadOnly ? [] : [select]),
    {
      label: 'Name',
      isName: true,
      cell: ({ userId, name, username, email }) =>
        html`<a href="${userPath(tenantId, userId)}">${name}</a>
          <span class="hint">${username === email ? '' : `${username} · `}${email}</span>`,
    },
    { label: 'Status', cell: accountBadge },
    { label: 'Locked', cell: ({ userId }) => lockedBadge(paused.get(userId)) || 'No' },
    {
      label: 'Second factor',
      cell: ({ userId, isFactorRequired }) =>
        withFactor.has(userId)
          ? badge('Set up', 'good')
          : isFactorRequired
            ? badge('Required', 'warm')
            : 'None',
    },
    {
      label: 'Last sign-in',
      cell: ({ lastSignInAt }) => (lastSignInAt === 0 ? 'Never' : moment(lastSignInAt)),
    },
    { label: 'Source', cell: ({ source }) => SOURCES[source] },
  ]
}

/** A page of users whose boxes can be ticked; what is to be done with them is asked behind it. */
function selectable(visit: TenantVisit, path: string, users: Html, count: number): Html {
  if (count === 0 || visit.proofs.isReadOnly) return users
  return form(visit, {
    action: `${path}/selected`,
    submit: 'Continue',
    look: 'quiet',
    content: html`${selectAll('user_id')} ${users}
    <div class="narrow">${selectField({
      name: 'change',
      label: 'With the selected users',
      hint: `Up to ${LIMITS.usersChangedAtOnceMax} at a time. You confirm on the next page.`,
      // nothing is chosen for whoever only presses Enter
      options: [
        { value: '', label: 'Choose an action' },
        ...Object.entries(CHANGES).map(([value, { label }]) => ({ value, label })),
      ],
    })}</div>`,
  })
}

function searchOf(filters: UserFilters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given as [string, string][]).toString()
  return search === '' ? '' : `?${search}`
}

const ANY = { value: '', label: 'Any' }

function filterForm(path: string, query: Query) {
  const { q, status, second_factor: secondFactor, source, locked, sort } = query
  return html`<form method="get" action="${path}" class="filters" role="search">
    ${textField({ name: 'q', label: 'Name, email or ID', type: 'search', value: q, isFree: true, charactersMax: LIMITS.consoleSearchCharactersMax })}
    ${selectField({ name: 'status', label: 'Status', value: status, isFree: true, options: [ANY, { value: 'active', label: 'Active' }, { value: 'invited', label: 'Invited' }, { value: 'disabled', label: 'Disabled' }] })}
    ${selectField({ name: 'second_factor', label: 'Second factor', value: secondFactor, isFree: true, options: [ANY, { value: 'set_up', label: 'Set up' }, { value: 'none', label: 'None' }, { value: 'required', label: 'Required' }] })}
    ${selectField({ name: 'locked', label: 'Locked', value: locked, isFree: true, options: [ANY, { value: 'yes', label: 'Locked now' }] })}
    ${selectField({ name: 'source', label: 'Source', value: source, isFree: true, options: [ANY, { value: 'own', label: SOURCES.own }, { value: 'directory', label: SOURCES.directory }] })}
    ${selectField({
      name: 'sort',
      label: 'Sort by',
      value: sort,
      isFree: true,
      options: [
        { value: '', label: 'Username' },
        { value: 'last_sign_in', label: 'Latest sign-in' },
        { value: 'inactive', label: 'Longest inactive' },
        { value: 'created', label: 'Newest' },
      ],
    })}
    <div class="submit"><button type="submit" class="button quiet">Search</button></div>
  </form>`
}

/** How far the invitations of an import are; it is gone with the last of them. */
const invitationsAhead = ({ count, lastAt }: { count: number; lastAt: number }) =>
  notice(
    'info',
    html`${count === 1 ? '1 invitation is' : `${count.toLocaleString('en')} invitations are`} still to be sent: ${LIMITS.rateInvitations.burst} go out an hour, the last by ${moment(lastAt)}. Whoever is deleted or disabled before gets none.`,
  )

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
    'Search by any part of a name, email address, username or ID, or remove a filter.',
    linkButton(path, 'Show all', 'quiet'),
  )
