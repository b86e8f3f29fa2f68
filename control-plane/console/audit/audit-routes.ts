/** Audit: who changed what, as a diff, found and exported; of one tenant, or of the whole service. */
import { setImmediate as breathe } from 'node:timers/promises'
import { html } from 'hono/html'
import * as v from 'valibot'
import { DAY_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { AUDIT_QUERY, toAuditSearch, type AuditWish } from '../../requests/audit-fields.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { AuditSearch } from '../../accounts/audit-trail.ts'
import { CONSOLE_REALM, isReserved } from '../../store/reserved.ts'
import type { AuditRow } from '../../store/queries/audit.ts'
import { selectField, textField } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { differences } from '../blocks/diff.ts'
import { emptyState, pager, table, type Column } from '../blocks/table.ts'
import { tabs } from '../blocks/tabs.ts'
import { logMoment } from '../blocks/text.ts'
import type { Html } from '../../pages/html.ts'
import { OPERATOR_ENTRIES, TENANT_PATH, tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { actorCell, isOfConsole, targetCell, toldOf, type Names } from './cells.ts'
import { ACTION_NAMES, actionText } from './entry.ts'
import { inWords } from './field-words.ts'
import { AUDIT_FORMATS, auditFile } from './export.ts'

/** Of entries with their long lists; then others have their turn. */
const COMPARED_AT_ONCE = 5

const QUERY = { ...PAGE_QUERY, ...AUDIT_QUERY } as const
const FORMAT_WISH = `one of ${AUDIT_FORMATS.join(', ')}`
const EXPORT_QUERY = {
  ...AUDIT_QUERY,
  format: v.optional(v.picklist(AUDIT_FORMATS, FORMAT_WISH), 'csv'),
} as const

const OF_ALL = OPERATOR_ENTRIES.everything.path

/** What a page of the trail is of. */
interface Shown {
  readonly path: string
  readonly search: AuditSearch
  readonly tenantId?: string
}

interface Looking {
  readonly address: string
  readonly nowMs: number
  readonly query: AuditWish & { readonly limit: number; readonly cursor?: string | undefined }
}

export function auditRoutes(world: ConsoleWorld) {
  const { auditTrail } = world
  return [
    page({ path: OF_ALL, role: 'operator', query: QUERY }, async (visit) => ({
      title: 'Audit',
      intro: 'Who changed what, newest first. Kept for 400 days.',
      here: 'everything',
      content: await found(world, visit, { path: OF_ALL, search: toAuditSearch(visit.query) }),
      calls: [{ method: 'GET', path: '/api/v1/operator/audit' }],
    })),
    page(
      { path: `${OF_ALL}/export`, role: 'operator', query: EXPORT_QUERY },
      async ({ query, actor }) => {
        await auditTrail.exported(actor, 'audit', query)
        return auditFile(auditTrail, toAuditSearch(query), query.format, 'all')
      },
    ),
    page({ path: `${TENANT_PATH}/audit`, role: 'tenant', query: QUERY }, async (visit) => {
      const { tenantId, name, number } = visit.tenant
      const search = { ...toAuditSearch(visit.query), tenantNumber: number, ofUsers: tenantId }
      const path = tenantPath(tenantId, 'audit')
      return {
        title: 'Audit',
        intro: `Who changed what in ${name}, newest first. Kept for 400 days.`,
        here: 'audit',
        content: await found(world, visit, { path, search, tenantId }),
        calls: [{ method: 'GET', path: `/api/v1/operator/audit?tenant_id=${tenantId}` }],
      }
    }),
    page(
      { path: `${TENANT_PATH}/audit/export`, role: 'tenant', query: EXPORT_QUERY },
      async ({ tenant: { tenantId, number }, query, actor }) => {
        await auditTrail.exported(actor, 'audit', query, tenantId)
        const search = { ...toAuditSearch(query), tenantNumber: number, ofUsers: tenantId }
        return auditFile(auditTrail, search, query.format, tenantId)
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

async function found(
  { auditTrail, userNames }: ConsoleWorld,
  { address, nowMs, query }: Looking,
  { path, search, tenantId }: Shown,
): Promise<Html> {
  const { limit, cursor } = query
  const { items, next, looked } = await auditTrail.search({ limit, cursor }, search)
  const ids = items.flatMap(({ actor, userId }) => [actor, userId])
  const names = await (tenantId === undefined
    ? userNames.ofAll(ids)
    : userNames.ofTenant(tenantId, ids))
  // whom the console lets in to this tenant is no user of it
  const administrators = items.filter(isOfConsole).map(({ userId }) => userId)
  const ofConsole = await userNames.ofTenant(CONSOLE_REALM, administrators)
  const isCut = next !== null && items.length < limit
  return html`${periods(path, query, nowMs)} ${filters(path, query)}
  ${isCut ? stillMore(items.length, looked) : ''}
  ${isCut && items.length === 0 ? '' : await entries(items, { names, ofConsole }, tenantId, path, query)}
  ${pager(address, { next, isFirst: cursor === undefined })}
  ${exports(path, query)}`
}

async function entries(
  items: readonly AuditRow[],
  { names, ofConsole }: { readonly names: Names; readonly ofConsole: Names },
  tenantId: string | undefined,
  path: string,
  query: AuditWish,
) {
  const tenant: Column<AuditRow> = {
    label: 'Tenant',
    cell: ({ tenantId: id }) =>
      id === null ? '—' : isReserved(id) ? id : html`<a href="${tenantPath(id)}">${id}</a>`,
  }
  const details = new Map<AuditRow, Html | string>()
  for (const entry of items) {
    if (details.size % COMPARED_AT_ONCE === 0) await breathe()
    details.set(entry, differences(inWords(toldOf(entry))))
  }
  return table({
    caption: 'Changes',
    rows: items,
    columns: [
      { label: 'Time', cell: ({ at }) => logMoment(at) },
      { label: 'Actor', cell: (entry) => actorCell(entry, names) },
      { label: 'Action', isName: true, cell: ({ action }) => actionText(action) },
      {
        label: 'Target',
        cell: (entry) => targetCell(entry, isOfConsole(entry) ? ofConsole : names),
      },
      ...(tenantId === undefined ? [tenant] : []),
      { label: 'Details', cell: (entry) => details.get(entry) ?? '' },
    ],
    empty: isFiltered(query)
      ? emptyState(
          'No matching changes',
          'Remove a filter or broaden your search.',
          linkButton(path, 'Clear filters', 'quiet'),
        )
      : emptyState('No changes yet', 'Changes to settings, users, policies and keys appear here.'),
  })
}

const isFiltered = ({ actor, action, target, from, to }: AuditWish) =>
  [actor, action, target, from, to].some((one) => one !== undefined)

const PERIODS = [
  ['All time', undefined],
  ['Last 24 hours', 1],
  ['Last 7 days', 7],
  ['Last 30 days', 30],
] as const

const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 10)

function periods(path: string, query: AuditWish, nowMs: number): Html {
  return tabs(
    'Period',
    PERIODS.map(([label, days]) => {
      const from = days === undefined ? undefined : dayOf(nowMs - days * DAY_MS)
      return {
        label,
        href: `${path}${written({ ...query, from, to: undefined })}`,
        isHere: query.from === from && query.to === undefined,
      }
    }),
  )
}

function written(query: AuditWish, more: Readonly<Record<string, string>> = {}): string {
  const { actor, action, target, from, to } = query
  const chosen = Object.entries({ actor, action, target, from, to }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const text = new URLSearchParams([...chosen, ...Object.entries(more)]).toString()
  return text === '' ? '' : `?${text}`
}

function filters(path: string, { actor, action, target, from, to }: AuditWish): Html {
  const known = action === undefined || ACTION_NAMES.includes(action) ? [] : [action]
  const actions = [...ACTION_NAMES, ...known]
    .map((value) => ({ value, label: actionText(value) }))
    .sort((a, b) => (a.label < b.label ? -1 : 1))
  return html`<form method="get" action="${path}" class="filters" role="search">
    ${textField({ name: 'actor', label: 'Actor', type: 'search', value: actor, isFree: true })}
    ${selectField({ name: 'action', label: 'Action', value: action, options: [{ value: '', label: 'Any' }, ...actions], isFree: true })}
    ${textField({ name: 'target', label: 'Target', type: 'search', value: target, isFree: true })}
    ${textField({ name: 'from', label: 'From (UTC)', type: 'date', value: from, isFree: true })}
    ${textField({ name: 'to', label: 'To (UTC)', type: 'date', value: to, isFree: true })}
    <div class="submit"><button type="submit" class="button quiet">Show</button></div>
  </form>`
}

function stillMore(count: number, looked: number): Html {
  return notice(
    'info',
    `${count === 0 ? 'No matches' : `${count} found`} in the ${looked.toLocaleString('en')} changes searched so far. The next page searches further back.`,
  )
}

function exports(path: string, query: AuditWish): Html {
  const at = (format: string) => `${path}/export${written(query, { format })}`
  return html`<p class="further">
      <a class="button small" href="${at('csv')}" download>Export CSV</a>
      <a class="button small" href="${at('jsonl')}" download>Export JSON lines</a>
    </p>
    <p class="hint">
      Exports what the filters match, up to ${LIMITS.auditExportedMax.toLocaleString('en')} changes.
    </p>`
}
