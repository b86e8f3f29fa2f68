/** People of the console, with what they may be taken out of. */
import { html } from 'hono/html'
import type { ConsolePerson } from '../../console-access/people.ts'
import type { Html } from '../../pages/html.ts'
import { table } from '../blocks/table.ts'
import { badge, moment } from '../blocks/text.ts'
import type { ViewerVisit } from '../route.ts'
import { accountBadge } from '../tenant/people/user-badges.ts'
import { personPath } from './person-page.ts'
import { ROLE_NAMES } from './role-form.ts'

interface PeopleTableView {
  readonly caption: string
  readonly removeUrl: (userId: string) => string
  readonly roleUrl?: (userId: string) => string
  readonly empty: Html
}

/** Whoever runs the service is led to the page of each. */
export const peopleTable = (
  people: readonly ConsolePerson[],
  viewer: ViewerVisit['viewer'],
  { caption, removeUrl, roleUrl, empty }: PeopleTableView,
): Html =>
  table({
    caption,
    rows: people,
    columns: [
      {
        label: 'Name',
        isName: true,
        cell: ({ user: { userId, name } }) =>
          html`${viewer.isOperator ? html`<a href="${personPath(userId)}">${name}</a>` : name}
          ${userId === viewer.userId ? badge('This is you', 'good') : ''}`,
      },
      { label: 'Email address', cell: ({ user }) => user.email },
      { label: 'Role', cell: ({ role }) => ROLE_NAMES[role] },
      { label: 'Account', cell: ({ user }) => accountBadge(user) },
      { label: 'Since', cell: ({ since }) => moment(since) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ user: { userId, name } }) =>
          html`${roleUrl === undefined ? '' : html`<a class="button small" href="${roleUrl(userId)}">Change role<span class="unseen"> of ${name}</span></a>`}
          <a class="button small" href="${removeUrl(userId)}">Remove<span class="unseen"> ${name}</span></a>`,
      },
    ],
    empty,
  })
