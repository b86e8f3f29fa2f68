/** Who did something and to whom, by name where there is one, and what else there is to tell. Pure. */
import { html } from 'hono/html'
import { isReserved } from '../../store/reserved.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import type { Difference } from '../blocks/diff.ts'
import { personLink } from '../blocks/person.ts'
import { sessionsFrom } from '../tenant/people/paths.ts'
import { actorText, differencesOf, shortId } from './entry.ts'

export type Names = ReadonlyMap<string, string>

export const isOfConsole = ({ action }: AuditRow) => action.startsWith('console.')

const PERSON: readonly string[] = ['user_id', 'subject']

/** Without the id that the column of targets has already. */
export const toldOf = (entry: AuditRow): Difference[] =>
  differencesOf(entry)
    .filter(({ name, about }) => !PERSON.includes(name) || about !== entry.userId)
    .map((one) => withSessions(entry, one))

/** From an address on to who is signed in from there. */
function withSessions({ tenantId }: AuditRow, difference: Difference): Difference {
  const { name, about } = difference
  if (!['address', 'ip'].includes(name) || typeof about !== 'string') return difference
  if (tenantId === null || isReserved(tenantId)) return difference
  return { ...difference, href: sessionsFrom(tenantId, about) }
}

/** With the account beside the address, which somebody else may have had before, or has by now. */
export function actorCell({ actor, actorId, tenantId }: AuditRow, names: Names) {
  const name = names.get(actor)
  if (name !== undefined)
    return tenantId === null || isReserved(tenantId)
      ? html`<span title="${actor}">${name}</span>`
      : personLink(tenantId, actor, names)
  const text = actorText(actor)
  return actorId === null
    ? text
    : html`<span>${text} <span class="hint" title="${actorId}">${shortId(actorId)}</span></span>`
}

export function targetCell(entry: AuditRow, names: Names) {
  const { userId, tenantId } = entry
  if (userId === null) return '—'
  if (tenantId === null || isReserved(tenantId) || isOfConsole(entry))
    return html`<span title="${userId}">${names.get(userId) ?? shortId(userId)}</span>`
  return personLink(tenantId, userId, names)
}
