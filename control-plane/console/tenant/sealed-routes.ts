/** Which sealed paths are being tried: the newest requests for them, put together by path. */
import { html } from 'hono/html'
import { LIMITS } from '../../../shared/limits.ts'
import type { TriedPath } from '../../events/sealed-paths.ts'
import { emptyState, table } from '../blocks/table.ts'
import { logMoment } from '../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { which } from './events-routes.ts'

export function sealedRoutes({ sealedPaths }: ConsoleWorld) {
  return [
    page(
      { path: `${TENANT_PATH}/events/sealed`, role: 'tenant' },
      async ({ tenant: { tenantId } }) => {
        const path = tenantPath(tenantId, 'events')
        const { tried, isCut } = await sealedPaths.tried(tenantId)
        return {
          title: 'Sealed paths',
          heading: 'Events',
          here: 'events',
          intro: isCut
            ? `Sealed paths in the latest ${LIMITS.sealedEventsGroupedMax.toLocaleString('en')} events, most requested first.`
            : 'Sealed paths requested in the last 35 days, most requested first.',
          content: html`${which(path, 'sealed')}
          ${table<TriedPath>({
            caption: 'Requested sealed paths',
            rows: tried,
            columns: [
              {
                label: 'Path',
                isName: true,
                cell: ({ path: asked }) =>
                  asked === null
                    ? html`<span class="hint">Other paths</span>`
                    : html`<code>${asked}</code>`,
              },
              {
                label: 'Requests',
                isNumber: true,
                cell: ({ count }) => count.toLocaleString('en'),
              },
              { label: 'IP addresses', isNumber: true, cell: ({ addresses }) => addresses || '—' },
              {
                label: 'Last IP address',
                cell: ({ ip }) =>
                  ip === null
                    ? '—'
                    : html`<a href="${path}?type=sealed&amp;address=${encodeURIComponent(ip)}">${ip}</a>`,
              },
              { label: 'Last requested', cell: ({ at }) => logMoment(at) },
            ],
            empty: emptyState(
              'No sealed path requested yet',
              'When someone requests a sealed path, it appears here with the number of requests.',
            ),
          })}`,
          calls: [
            {
              method: 'GET',
              path: `/api/v1/operator/tenants/${tenantId}/enforcement-events`,
            },
          ],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}
