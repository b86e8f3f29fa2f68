/** One user: what they have, what they have done lately, and what can be done about it. Pure. */
import { html } from 'hono/html'
import type { PastAttempt } from '../../../accounts/attempts.ts'
import type { KnownDevice } from '../../../accounts/devices.ts'
import type { Identity } from '../../../connections/identities.ts'
import type { AttributeRow } from '../../../store/queries/attributes.ts'
import type { ListedDevice } from '../../../devices/management.ts'
import type { Factor } from '../../../accounts/factors.ts'
import type { SessionPolicy } from '../../../policy/policies.ts'
import type { Session } from '../../../sessions/sessions.ts'
import type { User } from '../../../accounts/users.ts'
import { form } from '../../blocks/form.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { table, type Column } from '../../blocks/table.ts'
import { card, facts, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import type { TenantVisit, View, ViewerVisit } from '../../route.ts'
import { ownDevices } from '../devices/own-devices.ts'
import { apiOf, fromAddress, userPath } from './paths.ts'
import { browserOf, sessionTable } from './session-table.ts'
import { outcomeBadge, repeatedText } from './sign-in-words.ts'
import { accountBadge, lockedBadge } from './user-badges.ts'

interface UserView {
  readonly user: User
  readonly pausedUntilMs: number | undefined
  readonly sessions: readonly Session[]
  readonly session: SessionPolicy
  readonly factors: readonly Factor[]
  readonly identities: readonly Identity[]
  /** For access rules that ask for them. */
  readonly attributes: readonly AttributeRow[]
  readonly devices: readonly KnownDevice[]
  /** Machines of theirs with our agent. */
  readonly enrolled: readonly ListedDevice[]
  readonly attempts: readonly PastAttempt[]
  /** What the provider calls them that pushes them; undefined: none does. */
  readonly pushedAs: string | undefined
  /** There is one that pushes people. */
  readonly hasProvider: boolean
}

export function userPage(visit: TenantVisit, view: UserView): View {
  const { user, sessions, factors, identities, devices, enrolled, attempts } = view
  const { tenantId } = visit.tenant
  const path = userPath(tenantId, user.userId)
  const api = `${apiOf(tenantId)}/users/${user.userId}`
  return {
    title: user.name,
    here: 'users',
    intro: html`${accountBadge(user)} ${lockedBadge(view.pausedUntilMs)} ${user.email}`,
    buttons: user.source === 'directory' ? [] : [linkButton(`${path}/edit`, 'Edit', 'quiet')],
    content: html`${lockedNotice(visit, user, view.pausedUntilMs, path)} ${card('Details', accountFacts(user, view.pushedAs))}
      ${card('Actions', whatCanBeDone(visit, view, path))}
      ${card(
        'Active sessions',
        html`${sessionTable({ tenantId, sessions, lifetime: { ...view.session, nowMs: visit.nowMs }, empty: nothing(`No active sessions: ${user.name} is not signed in.`) })}
        ${sessions.length === 0 ? '' : html`<div class="submit">${linkButton(`${path}/end-sessions`, 'End all sessions', 'small')}</div>`}`,
        'sessions',
      )}
      ${identities.length === 0 ? '' : card('Connections', identityTable(identities, path), 'connections')}
      ${card('Attributes', attributesPart(view.attributes, path), 'attributes')}
      ${card('Second factors', factorTable(factors, path), 'factors')}
      ${card('Devices', ownDevices(visit, user.userId, enrolled), 'enrolled')}
      ${card('Known browsers', deviceTable(devices, tenantId), 'devices')}
      ${card('Recent sign-ins', attemptTable(attempts, tenantId), 'sign-ins')}`,
    calls: [
      { method: 'PATCH', path: api, body: { name: 'Robert' }, label: 'Edit the account' },
      {
        method: 'PATCH',
        path: api,
        body: { disabled: !user.isDisabled },
        label: user.isDisabled ? 'Enable the account' : 'Disable the account',
      },
      { method: 'POST', path: `${api}/invite`, label: 'Send password reset link' },
      { method: 'POST', path: `${api}/unlock`, label: 'Unlock the account' },
      {
        method: 'POST',
        path: `${apiOf(tenantId)}/revocations`,
        body: { subject: user.userId },
        label: 'End all sessions',
      },
      { method: 'GET', path: `${api}/factors`, label: 'Second factors' },
      { method: 'GET', path: `${api}/connections`, label: 'Connections' },
      { method: 'GET', path: `${api}/attributes`, label: 'Attributes' },
      { method: 'DELETE', path: api, label: 'Delete user' },
    ],
  }
}

export const nothing = (text: string): Html => html`<p class="hint">${text}</p>`

/** Of either kind of account; beside it what ends the pause. */
export function lockedNotice(
  visit: ViewerVisit,
  { name }: User,
  untilMs: number | undefined,
  path: string,
) {
  if (untilMs === undefined) return ''
  return notice(
    'problem',
    html`Account locked until ${moment(untilMs)}: too many failed sign-ins. Until then every
      attempt is refused, even with the right password.`,
    form(visit, { action: `${path}/unlock`, submit: 'Unlock now', look: 'small', about: name }),
  )
}

export const emailFact = ({ email, emailProvenAt: at }: User) =>
  [
    'Email address',
    html`${email} <span class="hint">${at === null ? 'not confirmed' : html`confirmed ${moment(at)}`}</span>`,
  ] as const

function accountFacts(user: User, pushedAs: string | undefined) {
  const { username, source, passwordHash, passwordChangedAt } = user
  return facts([
    ['Username', username],
    emailFact(user),
    [
      'Source',
      source === 'directory'
        ? 'your own database'
        : pushedAs === undefined
          ? 'Local'
          : `your provider, as ${pushedAs} (provisioning)`,
    ],
    [
      'Password',
      source === 'directory'
        ? 'in your own database'
        : passwordHash === ''
          ? 'not chosen yet'
          : html`changed ${moment(passwordChangedAt)}`,
    ],
    ['Last sign-in', user.lastSignInAt === 0 ? 'never' : html`${moment(user.lastSignInAt)}`],
    [
      'Second factor',
      user.isFactorRequired ? 'always required' : 'required where the policy says so',
    ],
    ['Created', moment(user.createdAt)],
    ['ID', user.userId],
  ])
}

function whatCanBeDone(visit: TenantVisit, view: UserView, path: string) {
  const { user, pushedAs, hasProvider } = view
  const { name, email, isDisabled, source, passwordHash } = user
  const invite = passwordHash === '' ? 'Resend invitation' : 'Send password reset link'
  return html`<ul class="steps">
    ${
      source === 'directory'
        ? ''
        : deed(
            passwordHash === ''
              ? `Sends a link to ${email} to choose a password.`
              : `Sends a link to ${email} to choose a new password. The current one works until then.`,
            form(visit, { action: `${path}/invite`, submit: invite, look: 'small' }),
          )
    }
    ${
      isDisabled
        ? deed(
            `${name} can sign in again.`,
            form(visit, { action: `${path}/enable`, submit: 'Enable account', look: 'small' }),
          )
        : deed(
            "All sessions end, and the account can't be used until you enable it again.",
            linkButton(`${path}/disable`, 'Disable account', 'small'),
          )
    }
    ${
      hasProvider && pushedAs === undefined && source === 'own'
        ? deed(
            `Your provider keeps the account up to date from then on (provisioning), under ${email}.`,
            linkButton(`${path}/hand-over`, 'Hand over to your provider', 'small'),
          )
        : ''
    }
    ${deed(
      'The account is permanently deleted, with its second factors and sessions.',
      linkButton(`${path}/remove`, 'Delete user', 'small'),
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
    label: 'Actions',
    isUnseen: true,
    cell: ({ factorId, kind }) =>
      html`<a class="button small" href="${`${path}/factors/${encodeURIComponent(factorId)}/remove`}">Remove<span class="unseen"> ${FACTOR_KINDS[kind]}</span></a>`,
  }
  const list = table({
    caption: 'Second factors',
    rows: factors.filter(({ kind }) => kind !== 'recovery'),
    columns: [
      {
        label: 'Second factor',
        isName: true,
        cell: ({ kind, name }) => html`${FACTOR_KINDS[kind]} <span class="hint">${name}</span>`,
      },
      { label: 'Added', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last used', cell: ({ lastUsedAt }) => moment(lastUsedAt) },
      ...(path === undefined ? [] : [removal]),
    ],
    empty: nothing(
      'No second factor: this account signs in with a password alone, unless a policy requires more.',
    ),
  })
  if (codes.length === 0) return list
  return html`${list}<p class="hint">${left} of ${codes.length} recovery codes left.</p>`
}

const ATTRIBUTE_SOURCES: Readonly<Record<AttributeRow['source'], string>> = {
  local: 'an administrator',
  scim: 'your provider (provisioning)',
  connection: 'their last sign-in by a connection',
}

const attributesPart = (attributes: readonly AttributeRow[], path: string) =>
  html`${table({
    caption: 'Attributes',
    rows: attributes,
    columns: [
      { label: 'Attribute', isName: true, cell: ({ name }) => html`<code>${name}</code>` },
      { label: 'Value', cell: ({ value }) => value },
      { label: 'From', cell: ({ source }) => ATTRIBUTE_SOURCES[source] },
      { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
    ],
    empty: nothing('No attributes. Access rules can ask for them, for example department = audit.'),
  })}
  <div class="submit">${linkButton(`${path}/attributes`, 'Edit attributes', 'small')}</div>`

const identityTable = (identities: readonly Identity[], path: string) =>
  table({
    caption: 'Connections',
    rows: identities,
    columns: [
      { label: 'Connection', isName: true, cell: ({ name }) => name },
      { label: 'Known there as', cell: ({ subject }) => html`<code>${subject}</code>` },
      { label: 'Since', cell: ({ createdAt }) => moment(createdAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ connectionId, name }) =>
          html`<a class="button small" href="${`${path}/connections/${connectionId}/remove`}">Disconnect<span class="unseen"> ${name}</span></a>`,
      },
    ],
    empty: html``,
  })

const deviceTable = (devices: readonly KnownDevice[], tenantId: string) =>
  table({
    caption: 'Known browsers',
    rows: devices,
    columns: [
      { label: 'Browser', isName: true, cell: browserOf },
      { label: 'IP address', cell: ({ ip }) => fromAddress(tenantId, ip) },
      { label: 'First seen', cell: ({ createdAt }) => moment(createdAt) },
      { label: 'Last seen', cell: ({ lastSeenAt }) => moment(lastSeenAt) },
    ],
    empty: nothing('No known browsers yet. A browser appears here after its first sign-in.'),
  })

export const attemptTable = (attempts: readonly PastAttempt[], tenantId?: string) =>
  table({
    caption: 'Recent sign-ins',
    rows: attempts,
    columns: [
      { label: 'When', isName: true, cell: ({ at }) => moment(at) },
      {
        label: 'Result',
        cell: ({ outcome, reason, repeated }) =>
          html`${outcomeBadge(outcome, reason)}${repeatedText(repeated)}`,
      },
      {
        label: 'IP address',
        cell: ({ ip }) => (tenantId === undefined ? ip : fromAddress(tenantId, ip)),
      },
      { label: 'Browser', cell: browserOf },
    ],
    empty: nothing('No recent sign-ins. Attempts to sign in to this account appear here.'),
  })
