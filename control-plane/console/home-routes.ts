/** `/console`: on to where a person has something to do. */
import { html } from 'hono/html'
import type { Tenants } from '../tenants/tenants.ts'
import { emptyState } from './blocks/table.ts'
import { tenantPath } from './navigation.ts'
import { page, type ConsoleRoute } from './route.ts'

export function homeRoutes({ tenants }: { readonly tenants: Pick<Tenants, 'find'> }) {
  return [
    page({ path: '/console', role: 'viewer' }, async ({ viewer }) => {
      if (viewer.isOperator) return redirect('/console/tenants')
      const [only, ...others] = viewer.tenantIds
      if (only !== undefined && others.length === 0) return redirect(tenantPath(only))
      const found = await Promise.all(viewer.tenantIds.map((tenantId) => tenants.find(tenantId)))
      const theirs = found.filter((tenant) => tenant !== undefined)
      return {
        title: 'Your tenants',
        content:
          theirs.length === 0
            ? emptyState(
                'No tenants yet',
                'You don’t have access to a tenant yet. Ask an operator of this service to make you an administrator.',
              )
            : html`<ul class="card found">
                ${theirs.map(
                  ({ tenantId, name }) =>
                    html`<li><a href="${tenantPath(tenantId)}"><span>${name}</span><span>${tenantId}</span></a></li>`,
                )}
              </ul>`,
      }
    }),
  ] as const satisfies readonly ConsoleRoute[]
}

const redirect = (location: string) => new Response(null, { status: 302, headers: { location } })
