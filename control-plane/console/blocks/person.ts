/** A person in a list: by name where there is one, with the id at hand, and on to their sign-ins. */
import { html } from 'hono/html'
import type { Html } from '../../pages/html.ts'
import { userPath } from '../tenant/people/paths.ts'

export function personLink(
  tenantId: string,
  userId: string | null,
  names: ReadonlyMap<string, string>,
): Html | null {
  if (userId === null) return null
  const name = names.get(userId)
  return name === undefined
    ? html`<code>${userId}</code>`
    : html`<a href="${userPath(tenantId, userId)}#sign-ins" title="${userId}">${name}</a>`
}
