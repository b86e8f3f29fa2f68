/** One user: what they have, what they have done lately, and what can be done about it. Pure. */
import { html } from 'hono/html'
import type { PastAttempt } from '../../../accounts/attempts.ts'
import type { KnownDevice } from '../../../accounts/devices.ts'
import type { Factor } from '../../../accounts/factors.ts'
import type { Session } from '../../../sessions/sessions.ts'
import type { User } from '../../../accounts/users.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { table, type Column } from '../../blocks/table.ts'
import { card, facts, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import type { TenantVisit, View } from '../../route.ts'
import { apiOf, userPath } from './paths.ts'
import { browserOf, sessionTable } from './session-table.ts'
import { outcomeBadge, repeatedText } from './sign-in-words.ts'
import { accountBadge } from './users-routes.ts'

interface UserView {
  readonly user: User
  readonly pausedUntilMs: number | undefined
  readonly sessions: readonly Session[]
  readonly factors: readonly Factor[]
  readonly devices: readonly KnownDevice[]
  readonly attempts: readonly PastAttempt[]
}

export function userPage(visit: TenantVisit, view: UserView): View {
  const { user, sessions, factors, devices, attempts } = view
  const { tenantId } = visit.tenant
  const path = userPath(tenantId, user.userId)
  const api = `${apiOf(tenantId)}/users/${user.userId}`
  return {
    title: user.name,
    here: 'users',
    intro: html`${accountBadge(user)} ${user.email}`,
    buttons: user.source === 'directory' ? [] : [linkButton(`${path}/edit`, 'Change', 'quiet')],
    content: html`${pause(visit, view, path)} ${card('The account', accountFacts(user))}
      ${card('What can be done', whatCanBeDone(visit, user, path))}
      ${card(
        'Running sessions',
        html`${sessionTable({ tenantId, sessions, empty: nothing('Nobody is signed in as this person.') })}
        ${sessions.length === 0 ? '' : html`<div class="submit">${linkButton(`${path}/end-sessions`, 'End all of them', 'small')}</div>`}`,
        'sessions',
      )}
      ${card('Second factors', factorTable(factors, path), 'factors')}
      ${card('Known browsers', deviceTable(devices), 'devices')}
      ${card('Last sign-ins', attemptTable(attempts), 'sign-ins')}`,
    calls: [
      { method: 'PATCH', path: api, body: { name: 'Robert' }, label: 'Change the account' },
      {
        method: 'PATCH',
        path: api,
        body: { disabled: !user.isDisabled },
        label: user.isDisabled ? 'Enable it' : 'Disable it',
      },
      { method: 'POST', path: `${api}/invite`, label: 'Mail a link for a new password' },
      { method: 'POST', path: `${api}/unlock`, label: 'Unlock it' },
      {
        method: 'POST',
        path: `${apiOf(tenantId)}/revocations`,
        body: { subject: user.userId },
        label: 'End all sessions',
      },
      { method: 'GET', path: `${api}/factors`, label: 'Second factors' },
      { method: 'DELETE', path: api, label: 'Remove the user' },
    ],
  }
}

export const nothing = (text: string): Html => html`<p class="hint">${text}</p>`

function pause(visit: TenantVisit, { user, pausedUntilMs }: UserView, path: string) {
  if (pausedUntilMs === undefined) return ''
  return notice(
    'problem',
    html`Too many sign-ins to this account have failed. Until ${moment(pausedUntilMs)} further
      attempts are sent away, even with the right password.`,
    form(visit, {
      action: `${path}/unlock`,
      submit: 'Unlock it now',
      look: 'small',
      about: user.name,
    }),
  )
}

export const emailFact = ({ email, emailProvenAt: at }: User) =>
  [
    'E-mail address',
    html`${email} <span class="hint">${at === null ? 'not confirmed' : html`confirmed ${moment(at)}`}</span>`,
  ] as const

function accountFacts(user: User) {
  const { username, source, passwordHash, passwordChangedAt } = user
  return facts([
    ['Username', username],
    emailFact(user),
    ['Kept', source === 'directory' ? 'in your own database' : 'here'],
    [
      'Password',
      source === 'directory'
        ? 'in your own database'
        : passwordHash === ''
          ? 'not chosen yet'
          : html`since ${moment(passwordChangedAt)}`,
    ],
    ['Created', moment(user.createdAt)],
    ['Id', user.userId],
  ])
}

function whatCanBeDone(visit: TenantVisit, user: User, path: string) {
  const { name, email, isDisabled, source, passwordHash } = user
  const invite =
    passwordHash === '' ? 'Send the invitation again' : 'Mail a link for a new password'
  return html`<ul class="steps">
    ${
      source === 'directory'
        ? ''
        : deed(
            passwordHash === ''
              ? `A link goes to ${email}, with which ${name} chooses a password.`
              : `A link goes to ${email}, with which ${name} chooses another password. Until then the old one counts.`,
            form(visit, { action: `${path}/invite`, submit: invite, look: 'small' }),
          )
    }
    ${
      isDisabled
        ? deed(
            `${name} may sign in again.`,
            form(visit, { action: `${path}/enable`, submit: 'Enable the account', look: 'small' }),
          )
        : deed(
            'Every session ends, and nobody can sign in until you enable it again.',
            linkButton(`${path}/disable`, 'Disable the account', 'small'),
          )
    }
    ${deed(
      'The account goes for good, with its second factors and sessions.',
      linkButton(`${path}/remove`, 'Remove the user', 'small'),
    )}
  </ul>`
}

export const deed = (text: string, button: Html) =>
  html`<li><div><p class="hint">${text}</p>${button}</div></li>`

const FACTOR_KINDS = {
  totp: 'Authenticator app',
  passkey: 'Passkey',
  recovery: 'Recovery code',
} as const

/** Ten recovery codes are one line: how many are left is what matters. */
export function factorTable(factors: readonly Factor[], path?: string) {
  const codes = factors.filter(({ kind }) => kind === 'recovery')
  const left = codes.filter(({ lastUsedAt }) => lastUsedAt === null).length
  const removal: Column<Factor> = {
    label: 'What can be done',
    isUnseen: true,
    cell: ({ factorId, kind }) =>
      html`<a class="button small" href="${`${path}/factors/${encodeURIComponent(factorId)}/remove`}">Remove<span class="unseen"> ${FACTOR_KINDS[kind]}</span></a>`,
  }
  const list = table({
    caption: 'Second factors',
    rows: factors.filter(({ kind }) => kind !== 'recovery'),
    columns: [
      {
        label: 'What',
        isName: true,
        cell: ({ kind, name }) => html`${FACTOR_KINDS[kind]} <span class="hint">${name}</span>`,
      },
      { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last used', cell: ({ lastUsedAt }) => moment(lastUsedAt) },
      ...(path === undefined ? [] : [removal]),
    ],
    empty: nothing(
      'None: a password is all that this account asks for, unless a policy demands more.',
    ),
  })
  if (codes.length === 0) return list
  return html`${list}<p class="hint">${left} of ${codes.length} recovery codes are left.</p>`
}

const deviceTable = (devices: readonly KnownDevice[]) =>
  table({
    caption: 'Known browsers',
    rows: devices,
    columns: [
      { label: 'Browser', isName: true, cell: browserOf },
      { label: 'Address', cell: ({ ip }) => ip },
      { label: 'First', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last', cell: ({ lastSeenAt }) => moment(lastSeenAt) },
    ],
    empty: nothing('No browser has signed in to this account yet.'),
  })

export const attemptTable = (attempts: readonly PastAttempt[]) =>
  table({
    caption: 'Last sign-ins',
    rows: attempts,
    columns: [
      { label: 'When', isName: true, cell: ({ at }) => moment(at) },
      {
        label: 'What came of it',
        cell: ({ outcome, reason, repeated }) =>
          html`${outcomeBadge(outcome, reason)}${repeatedText(repeated)}`,
      },
      { label: 'Address', cell: ({ ip }) => ip },
      { label: 'Browser', cell: browserOf },
    ],
    empty: nothing('Nobody has tried to sign in to this account in the last days.'),
  })
