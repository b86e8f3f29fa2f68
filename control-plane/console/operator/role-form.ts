/** What a person of the console may do: chosen when they are invited, and changed later. */
import { html } from 'hono/html'
import type { ConsolePerson } from '../../console-access/people.ts'
import { checkField, type Attempt } from '../../pages/blocks/field.ts'
import type { Question } from '../asking.ts'

const LABEL = 'Read-only (viewer)'
const HINT = 'Sees everything except secrets. Cannot change anything.'

export const ROLE_NAMES: Readonly<Record<ConsolePerson['role'], string>> = {
  operator: 'Operator',
  administrator: 'Administrator',
  viewer: 'Viewer',
}

export const readOnlyField = (attempt?: Attempt, isOn = false) =>
  checkField({ name: 'read_only', label: LABEL, hint: HINT, attempt, isOn })

/** Of whoever is taken out. */
export const WAYS_IN_END =
  'Invitations they sent, and join tokens and tickets they created, stop working.'

/** `of` is a tenant, or '' for all of them. */
export function roleQuestion({ user, role }: ConsolePerson, of: string) {
  return {
    title: `Change the role of ${user.name}?`,
    effects: [
      `${user.name} is ${article(role)} of ${of === '' ? 'all tenants' : of} now.`,
      'The new role applies from their next request.',
      'If it is read-only, invitations they sent, and join tokens and tickets they created, stop working.',
    ],
    submit: 'Change role',
    hidden: { tenant_id: of },
    isHarmless: true,
    content: html`${readOnlyField(undefined, role === 'viewer')}`,
  } satisfies Omit<Question, 'cancel'>
}

export const roleSaid = (name: string, role: ConsolePerson['role']): string =>
  `${name} is now ${article(role)}.`

const article = (role: ConsolePerson['role']) =>
  `${role === 'viewer' ? 'a' : 'an'} ${ROLE_NAMES[role].toLowerCase()}`
