/** Audit: who changed what, as a diff; of one tenant, or of the whole service. */
import { setImmediate as breathe } from 'node:timers/promises'
import { html } from 'hono/html'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { AuditTrail } from '../../accounts/audit-trail.ts'
import type { Page, PageRequest } from '../../store/page.ts'
import { isReserved } from '../../store/reserved.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { differences } from '../blocks/diff.ts'
import { emptyState, pager, table, type Column } from '../blocks/table.ts'
import { logMoment } from '../blocks/text.ts'
import type { Html } from '../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import { actionText, actorText, differencesOf, shortId } from './entry.ts'

/** Of entries with their long lists; then others have their turn. */
const COMPARED_AT_ONCE = 5

export function auditRoutes({ auditTrail }: { readonly auditTrail: Pick<AuditTrail, 'list'> }) {
  return [
    page({ path: '/console/audit', role: 'operator', query: PAGE_QUERY }, async (visit) => ({
      title: 'Audit',
      intro: 'Who changed what, newest first.',
      here: 'everything',
      content: await entries(await auditTrail.list(visit.query), visit, true),
      calls: [{ method: 'GET', path: '/api/v1/operator/audit' }],
    })),
    page({ path: `${TENANT_PATH}/audit`, role: 'tenant', query: PAGE_QUERY }, async (visit) => {
      const { tenantId, name, number } = visit.tenant
      const page = await auditTrail.list(visit.query, { tenantNumber: number })
      return {
        title: 'Audit',
        intro: `Who changed what about ${name}, newest first.`,
        here: 'audit',
        content: await entries(page, visit, false),
        calls: [{ method: 'GET', path: `/api/v1/operator/audit?tenant_id=${tenantId}` }],
      }
    }),
  ] as const satisfies readonly ConsoleRoute[]
}

async function entries(
  { items, next }: Page<AuditRow>,
  { address, query }: { readonly address: string; readonly query: PageRequest },
  isOfAll: boolean,
) {
  const tenant: Column<AuditRow> = {
    label: 'Tenant',
    cell: ({ tenantId }) =>
      tenantId === null || isReserved(tenantId)
        ? tenantId
        : html`<a href="${tenantPath(tenantId)}">${tenantId}</a>`,
  }
  const details = new Map<AuditRow, Html | string>()
  for (const entry of items) {
    if (details.size % COMPARED_AT_ONCE === 0) await breathe()
    details.set(entry, differences(differencesOf(entry)))
  }
  return html`${table({
    caption: 'Changes',
    rows: items,
    columns: [
      { label: 'Time', cell: ({ at }) => logMoment(at) },
      { label: 'Actor', cell: (entry) => actorCell(entry) },
      { label: 'Action', isName: true, cell: ({ action }) => actionText(action) },
      ...(isOfAll ? [tenant] : []),
      { label: 'Details', cell: (entry) => details.get(entry) ?? '' },
    ],
    empty: emptyState(
      'No changes yet',
      'Changes to settings, users, policies and keys appear here.',
    ),
  })}
  ${pager(address, { next, isFirst: query.cursor === undefined })}`
}

/** With the account beside the address, which somebody else may have had before, or has by now. */
function actorCell({ actor, actorId }: AuditRow) {
  const text = actorText(actor)
  return actorId === null ? text : html`${text} <span class="hint">${shortId(actorId)}</span>`
}
