/** One person of the console, for operators: what they may do, what they did, what can be done. Pure. */
import { html } from 'hono/html'
import type { ConsolePersonView } from '../../console-access/person.ts'
import { targetCell, toldOf, type Names } from '../audit/cells.ts'
import { actionText, actorText } from '../audit/entry.ts'
import { inWords } from '../audit/field-words.ts'
import { differences } from '../blocks/diff.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { table } from '../blocks/table.ts'
import { badge, card, facts, moment } from '../blocks/text.ts'
import { tenantPath } from '../navigation.ts'
import type { View, ViewerVisit } from '../route.ts'
import { browserOf } from '../tenant/people/session-table.ts'
import {
  attemptTable,
  factorTable,
  deed,
  emailFact,
  lockedNotice,
  nothing,
} from '../tenant/people/user-page.ts'
import { ROLE_NAMES } from './role-form.ts'
import { accountBadge } from '../tenant/people/user-badges.ts'

export const PEOPLE_PATH = '/console/people'
export const PEOPLE_API = '/api/v1/operator/console/people'

export const personPath = (userId: string) => `${PEOPLE_PATH}/${encodeURIComponent(userId)}`

export function personPage(visit: ViewerVisit, view: ConsolePersonView, names: Names): View {
  const { user, factors, attempts } = view
  const { userId } = user
  const path = personPath(userId)
  const api = `${PEOPLE_API}/${userId}`
  const isYou = userId === visit.viewer.userId
  return {
    title: user.name,
    here: 'people',
    intro: html`${accountBadge(user)} ${view.lockedUntilMs === undefined ? '' : badge('Locked', 'bad')}
    ${isYou ? badge('This is you', 'good') : ''} ${user.email}`,
    buttons: [linkButton(PEOPLE_PATH, 'People', 'quiet')],
    content: html`${lockedNotice(visit, user, view.lockedUntilMs, path)} ${card('Details', accountFacts(view))}
      ${card('Access', roleTable(view, path), 'access')}
      ${card('Actions', actions(visit, view, path), 'actions')}
      ${card('Active sessions', sessionsTable(view), 'sessions')}
      ${card('Second factors', factorTable(factors), 'factors')}
      ${card('Invitations', invitations(view), 'invitations')}
      ${card('Recent sign-ins', attemptTable(attempts), 'sign-ins')}
      ${card('Audit', auditTable(view, names), 'audit')}`,
    calls: [
      { method: 'GET', path: api, label: 'Everything on this page' },
      { method: 'POST', path: `${api}/sign-out`, label: 'Sign out everywhere' },
      { method: 'POST', path: `${api}/unlock`, label: 'Unlock the account' },
      { method: 'POST', path: `${api}/reset-factors`, label: 'Reset second factors' },
      { method: 'POST', path: `${api}/resend-invitation`, label: 'Resend invitation' },
      { method: 'POST', path: `${api}/revoke-access`, label: 'Revoke all access' },
    ],
  }
}

function accountFacts({ user, lastSignIn }: ConsolePersonView) {
  const { passwordHash, passwordChangedAt, createdAt, userId } = user
  return facts([
    emailFact(user),
    ['Password', passwordHash === '' ? 'not chosen yet' : html`since ${moment(passwordChangedAt)}`],
    [
      'Last sign-in',
      lastSignIn === undefined
        ? null
        : html`${moment(lastSignIn.at)} <span class="hint">${browserOf(lastSignIn)}, ${lastSignIn.ip}</span>`,
    ],
    ['Created', moment(createdAt)],
    ['ID', userId],
  ])
}

function roleTable({ roles, user }: ConsolePersonView, path: string) {
  return table({
    caption: 'Roles',
    rows: roles,
    columns: [
      {
        label: 'Role',
        isName: true,
        cell: ({ role }) => ROLE_NAMES[role],
      },
      {
        label: 'Scope',
        cell: ({ tenantId }) =>
          tenantId === '' ? 'All tenants' : html`<a href="${tenantPath(tenantId)}">${tenantId}</a>`,
      },
      { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ tenantId }) =>
          html`<a class="button small" href="${path}/role${tenantId === '' ? '' : `?tenant_id=${encodeURIComponent(tenantId)}`}">Change<span class="unseen"> this role of ${user.name}</span></a>
          <a class="button small" href="${path}/remove${tenantId === '' ? '' : `?tenant_id=${encodeURIComponent(tenantId)}`}">Remove<span class="unseen"> this role of ${user.name}</span></a>`,
      },
    ],
    empty: nothing(
      'No roles. This person can sign in but sees nothing. Give them a role under People.',
    ),
  })
}

function actions(visit: ViewerVisit, view: ConsolePersonView, path: string) {
  const { user, sessions, factors } = view
  const isYou = user.userId === visit.viewer.userId
  return html`<ul class="steps">
    ${
      user.passwordHash === ''
        ? deed(
            `${user.name} hasn't accepted the invitation yet. Sends a new link to ${user.email}.`,
            form(visit, {
              action: `${path}/resend-invitation`,
              submit: 'Resend invitation',
              look: 'small',
            }),
          )
        : ''
    }
    ${
      sessions.length === 0
        ? ''
        : deed(
            'Ends all console sessions. They can sign in again.',
            linkButton(`${path}/sign-out`, 'Sign out everywhere', 'small'),
          )
    }
    ${
      factors.length === 0 || isYou
        ? ''
        : deed(
            'For a lost or stolen device: removes all second factors and ends all sessions.',
            linkButton(`${path}/reset-factors`, 'Reset second factors', 'small'),
          )
    }
    ${deed(
      'Removes every role and permanently deletes the account.',
      linkButton(`${path}/revoke-access`, 'Revoke access', 'small'),
    )}
  </ul>`
}

const sessionsTable = ({ sessions, user }: ConsolePersonView) =>
  table({
    caption: 'Active sessions',
    rows: sessions,
    columns: [
      { label: 'Browser', isName: true, cell: browserOf },
      { label: 'IP address', cell: ({ ip }) => ip },
      { label: 'Signed in', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last seen', cell: ({ lastSeenAt }) => moment(lastSeenAt) },
    ],
    empty: nothing(`No active sessions: ${user.name} is not signed in to the console.`),
  })

function invitations({ links, invitations: waiting }: ConsolePersonView) {
  const rows = [
    ...waiting.map(({ tenantId, sentAt, expiresAt }) => ({
      what: html`Administer <a href="${tenantPath(tenantId, 'administrators')}">${tenantId}</a>`,
      sentAt,
      expiresAt,
      isUsed: false,
    })),
    ...links.map(({ createdAt, expiresAt, usedAt }) => ({
      what: html`Choose a password`,
      sentAt: createdAt,
      expiresAt,
      isUsed: usedAt !== null,
    })),
  ]
  return table({
    caption: 'Invitations',
    rows,
    columns: [
      { label: 'Invitation', isName: true, cell: ({ what }) => what },
      { label: 'Sent', cell: ({ sentAt }) => moment(sentAt) },
      {
        label: 'State',
        cell: ({ isUsed, expiresAt }) =>
          isUsed
            ? badge('Used or replaced')
            : html`${badge('Open', 'warm')} until ${moment(expiresAt)}`,
      },
    ],
    empty: nothing('No open or recent invitations.'),
  })
}

const auditTable = ({ audit }: ConsolePersonView, names: Names) =>
  table({
    caption: 'Changes by this person, and about them',
    rows: audit,
    columns: [
      { label: 'When', cell: ({ at }) => moment(at) },
      { label: 'Who', cell: ({ actor }) => actorText(actor) },
      { label: 'What', isName: true, cell: ({ action }) => actionText(action) },
      { label: 'Target', cell: (entry) => targetCell(entry, names) },
      { label: 'Tenant', cell: ({ tenantId }) => tenantId },
      { label: 'Details', cell: (entry) => differences(inWords(toldOf(entry))) },
    ],
    empty: nothing('Changes by this person, and changes to their account, are listed here.'),
  })
