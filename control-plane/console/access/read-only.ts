/**
 * Whoever may look and not change: the one rule that every page and every form goes through. A form
 * is not taken, a page that is there for its form is not opened, no link leads to one, and what a
 * form holds is shown as it is (`blocks/form.ts`).
 */
import { mayChange } from '../../console-access/roles.ts'
import type { Viewer } from '../../console-access/console-sessions.ts'
import type { Tenant } from '../../tenants/tenants.ts'
import type { Declaration } from '../route.ts'

/** What is about the person alone, as signing out is, is theirs. */
export function isLookedAtOnly(
  { role }: Pick<Declaration, 'role'>,
  viewer: Viewer,
  tenant: Pick<Tenant, 'tenantId'> | undefined,
): boolean {
  return (role === 'operator' || role === 'tenant') && !mayChange(viewer, tenant?.tenantId)
}

/** A page that asks who is there before it is shown is one as well, unless it says otherwise. */
export const isForForm = ({ method, needsFreshSignIn = false, isForForm }: Declaration) =>
  method === 'GET' && (isForForm ?? needsFreshSignIn)

/** The paths of those pages. */
export const formPagesIn = (declarations: readonly Declaration[]): readonly RegExp[] =>
  declarations
    .filter(isForForm)
    .map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))

const LINK = /<a\b([^>]*?)href="([^"?#]*)[^"]*"[^>]*>([\s\S]*?)<\/a>/g

/** Of a page that we have made ourselves: buttons go, and words that were a link stay. */
export const withoutFormLinks = (text: string, formPages: readonly RegExp[]): string =>
  text.replaceAll(LINK, (link, before: string, path: string, words: string) => {
    if (!formPages.some((formPage) => formPage.test(path))) return link
    return before.includes('class="button') ? '' : words
  })
