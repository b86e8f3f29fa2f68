/** Tenants, for operators: search, filter, and on from page to page by key. */
import { html } from 'hono/html'
import { PLANS } from '../../../shared/fleet/snapshot.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { Tenant, Tenants } from '../../tenants/tenants.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { selectField, textField, type Option } from '../../pages/blocks/field.ts'
import { emptyState, pager, table } from '../blocks/table.ts'
import { badge, moment } from '../blocks/text.ts'
import { tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import { chosen, searched } from '../filters.ts'

const STATUSES = ['draft', 'published', 'suspended'] as const
const PROTECTIONS = ['pass-through', 'on'] as const

const QUERY = {
  ...PAGE_QUERY,
  q: searched,
  plan: chosen(PLANS),
  status: chosen(STATUSES),
  protection: chosen(PROTECTIONS),
} as const

export function tenantsRoutes({ tenants }: { readonly tenants: Pick<Tenants, 'search'> }) {
  return [
    page(
      { path: '/console/tenants', role: 'operator', query: QUERY },
      async ({ query, address }) => {
        const { q, plan, status, protection, limit, cursor } = query
        const text = q === '' ? undefined : q
        const isFiltered = [text, plan, status, protection].some((one) => one !== undefined)
        const filter = { text, plan, status, protection }
        const { items, next } = await tenants.search(filter, { limit, cursor })
        return {
          title: 'Tenants',
          here: 'tenants',
          intro: 'Every application that this service protects.',
          buttons: [linkButton('/console/tenants/new', 'New tenant')],
          content: html`${filters({ q: text, plan, status, protection })}
          ${table({
            caption: 'Tenants',
            rows: items,
            columns: [
              {
                label: 'Tenant',
                isName: true,
                cell: ({ tenantId, name }) =>
                  html`<a href="${tenantPath(tenantId)}">${name}</a>
                    <span class="hint">${tenantId}</span>`,
              },
              { label: 'Hostname', cell: addressOf },
              { label: 'Protection', cell: protectionBadge },
              { label: 'Plan', cell: ({ plan: one }) => one },
              { label: 'Updated', cell: ({ updatedAt }) => moment(updatedAt) },
            ],
            empty: isFiltered
              ? emptyState(
                  'No matching tenants',
                  'Remove a filter or broaden your search.',
                  linkButton('/console/tenants', 'Clear filters', 'quiet'),
                )
              : emptyState(
                  'No tenants yet',
                  'A tenant is one application with its hostnames, users and policies.',
                  linkButton('/console/tenants/new', 'Create tenant'),
                ),
          })}
          ${pager(address, { next, isFirst: cursor === undefined })}`,
          calls: [{ method: 'GET', path: '/api/v1/operator/tenants' }],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

function addressOf({ hostnames: [first, ...others], mode, origin }: Tenant) {
  if (first === undefined) return mode === 'sdk' ? origin : null
  return html`${first}${others.length === 0 ? '' : html` <span class="hint">and ${others.length} more</span>`}`
}

export function protectionBadge({ status, protection }: Pick<Tenant, 'status' | 'protection'>) {
  if (status === 'draft') return badge('Draft')
  if (status === 'suspended') return badge('Suspended', 'bad')
  return protection === 'on' ? badge('On', 'good') : badge('Pass-through', 'warm')
}

interface Chosen {
  readonly q: string | undefined
  readonly plan: string | undefined
  readonly status: string | undefined
  readonly protection: string | undefined
}

function filters({ q = '', plan = '', status = '', protection = '' }: Chosen) {
  const options = (values: readonly string[]): Option[] => [
    { value: '', label: 'Any' },
    ...values.map((value) => ({ value, label: value })),
  ]
  const select = (name: string, label: string, value: string, values: readonly string[]) =>
    selectField({ name, label, value, options: options(values), isFree: true })
  return html`<form method="get" action="/console/tenants" class="filters" role="search">
    ${textField({ name: 'q', label: 'ID, name or hostname', type: 'search', value: q, isFree: true })}
    ${select('plan', 'Plan', plan, PLANS)} ${select('status', 'Status', status, STATUSES)}
    ${select('protection', 'Protection', protection, PROTECTIONS)}
    <div class="submit"><button type="submit" class="button quiet">Show</button></div>
  </form>`
}
