/** What an account is, in a word. */
import type { User } from '../../../accounts/users.ts'
import { badge, moment } from '../../blocks/text.ts'
import { html } from 'hono/html'

export function accountBadge({ isDisabled, passwordHash, source }: User) {
  if (isDisabled) return badge('Disabled', 'bad')
  if (source === 'directory') return badge('Active', 'good')
  return passwordHash === '' ? badge('Invited', 'warm') : badge('Active', 'good')
}

export const lockedBadge = (untilMs: number | undefined) =>
  untilMs === undefined ? '' : html`${badge('Locked', 'bad')} until ${moment(untilMs)}`

export const SOURCES: Readonly<Record<User['source'], string>> = {
  own: 'Local',
  directory: 'Directory',
  trial: 'Check',
}
