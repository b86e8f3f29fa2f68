/** Machines beside the sessions of people: each when it was last seen, from where, and how busy it is. */
import { html } from 'hono/html'
import type { Machine } from '../../../machines/machines.ts'
import { table } from '../../blocks/table.ts'
import { age, badge, card } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { tenantPath } from '../../navigation.ts'
import type { TenantVisit } from '../../route.ts'
import { fromAddress } from './paths.ts'

/** What the page is searched for: a name, an ID, or the address that it came from last. */
export function matchingMachines(all: readonly Machine[], text: string): readonly Machine[] {
  const wanted = text.toLowerCase()
  return all
    .filter(({ seenAt }) => seenAt !== null)
    .filter(({ name, serviceId, seenIp }) =>
      [name, serviceId, seenIp ?? ''].some((one) => one.toLowerCase().includes(wanted)),
    )
    .toSorted((a, b) => (b.seenAt ?? 0) - (a.seenAt ?? 0))
}

/** Nothing where there is none: most tenants have no machines. */
export function machineTable(
  { tenant: { tenantId }, nowMs, proofs }: TenantVisit,
  machines: readonly Machine[],
): Html | string {
  if (machines.length === 0) return ''
  const path = tenantPath(tenantId, 'machines')
  return card(
    'Machines',
    table({
      caption: 'Machines',
      rows: machines,
      columns: [
        {
          label: 'Machine',
          isName: true,
          cell: ({ serviceId, name }) => html`<a href="${path}#${serviceId}">${name}</a>`,
        },
        {
          label: 'Status',
          cell: ({ isDisabled, secrets }) =>
            isDisabled
              ? badge('Disabled')
              : secrets.some(({ endsAt }) => endsAt > nowMs)
                ? badge('Enabled', 'good')
                : badge('No working secret', 'bad'),
        },
        {
          label: 'IP address',
          cell: ({ seenIp }) => (seenIp === null ? 'unknown' : fromAddress(tenantId, seenIp)),
        },
        {
          label: 'Last seen',
          cell: ({ seenAt }) => (seenAt === null ? 'never' : age(seenAt, nowMs)),
        },
        { label: 'Requests, 24 hours', cell: ({ requests }) => requests.toLocaleString('en') },
        ...(proofs.isReadOnly
          ? []
          : [
              {
                label: 'Actions',
                isUnseen: true,
                cell: ({ serviceId, name, isDisabled }: Machine) =>
                  isDisabled
                    ? ''
                    : html`<a class="button small" href="${path}/${serviceId}/disable">Disable<span class="unseen"> ${name}</span></a>`,
              },
            ]),
      ],
      empty: html``,
    }),
    'machines',
  )
}
