/** Events of a tenant: what gateways and middlewares reported, and what webhooks are told of. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { EVENT_NAMES, EVENTS, type EventName } from '../../../shared/events.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { PAGE_QUERY } from '../../requests/paging.ts'
import type { KeptEvent } from '../../events/enforcement.ts'
import { CONNECTOR_OUTCOMES } from '../../connectors/presence-events.ts'
import type { LoggedEvent, EventPage } from '../../events/event-log.ts'
import { selectField, textField, type Option } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { emptyState, pager, table, type Column } from '../blocks/table.ts'
import { tabs } from '../blocks/tabs.ts'
import { logMoment } from '../blocks/text.ts'
import { fromAddress } from './people/paths.ts'
import { outcomeText, reasonText } from '../figures/wording.ts'
import { connectorEventText, connectorReasonText } from './connectors/words.ts'
import type { Html } from '../../pages/html.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute, type TenantVisit } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'
import { differences } from '../blocks/diff.ts'
import { chosen, searched } from '../filters.ts'

const OUTCOMES = ['sealed', 'step_up', 'terminate', 'logout', 'refused'] as const
const SEEN = [...OUTCOMES, ...CONNECTOR_OUTCOMES] as const

/** A user or an address, or nothing. */
const wanted = v.pipe(
  searched,
  v.transform((text) => (text === '' ? undefined : text)),
)
const PEOPLE = { ...PAGE_QUERY, subject: wanted, address: wanted } as const

export function eventsRoutes({ enforcement, eventLog, gateways, userNames }: ConsoleWorld) {
  /** Instances of the application are the tenant's own; gateways are the operator's. */
  function instanceShownTo({ viewer, tenant }: Pick<TenantVisit, 'viewer' | 'tenant'>) {
    if (viewer.isOperator) return () => true
    if (tenant.mode !== 'sdk') return () => false
    const ids = new Set(gateways().map(({ gateway_id: id }) => id))
    return (instance: string) => !ids.has(instance)
  }

  return [
    page(
      {
        path: `${TENANT_PATH}/events`,
        role: 'tenant',
        query: { ...PEOPLE, type: chosen(SEEN, 'one of the types') },
      },
      async ({ tenant, viewer, query, address }) => {
        const { tenantId } = tenant
        const { type, subject, address: ip, limit, cursor } = query
        const filter = { outcome: type, subject, ip }
        const { items, next } = await enforcement.list(tenantId, { limit, cursor }, filter)
        const names = await userNames.ofTenant(
          tenantId,
          items.map((event) => event.subject),
        )
        const path = tenantPath(tenantId, 'events')
        const ofMode = tenant.mode === 'connector' ? SEEN : OUTCOMES
        const types = ofMode.map((value) => ({ value, label: seenText(value) }))
        return {
          title: 'Events',
          here: 'events',
          intro: 'Reported by gateways and middleware, newest first. Kept for 35 days.',
          content: html`${which(path, 'seen')} ${filters(path, types, query)}
          ${table({
            caption: 'Gateway events',
            rows: items,
            columns: seenColumns(tenantId, path, names, instanceShownTo({ viewer, tenant })),
            empty: nothing(
              path,
              isFiltered(query),
              'No events yet',
              `Requests for sealed paths, refused requests, ended sessions, ${tenant.mode === 'connector' ? 'sign-outs, and connectors that come and go' : 'and sign-outs'} appear here.`,
            ),
          })}
          ${pager(address, { next, isFirst: cursor === undefined })}`,
          calls: [
            { method: 'GET', path: `/api/v1/operator/tenants/${tenantId}/enforcement-events` },
          ],
        }
      },
    ),
    page(
      {
        path: `${TENANT_PATH}/events/told`,
        role: 'tenant',
        query: { ...PEOPLE, type: chosen(EVENT_NAMES, 'one of the types') },
      },
      async ({ tenant: { tenantId }, query, address }) => {
        const { type, subject, address: ip, limit, cursor } = query
        const filter = { event: type, subject, ip }
        const found = await eventLog.list(tenantId, { limit, cursor }, filter)
        const path = tenantPath(tenantId, 'events')
        const types = EVENT_NAMES.map((value) => ({ value, label: value }))
        return {
          title: 'Events',
          here: 'events',
          intro:
            'Events that a webhook can subscribe to, whether one does or not. Kept for 7 days.',
          content: html`${which(path, 'told')} ${filters(`${path}/told`, types, query)}
          ${found.isCut ? stillMore(found) : ''}
          ${
            found.isCut && found.items.length === 0
              ? ''
              : table({
                  caption: 'Webhook events',
                  rows: found.items,
                  columns: toldColumns(tenantId, `${path}/told`),
                  empty: nothing(
                    `${path}/told`,
                    isFiltered(query),
                    'No events in the last 7 days',
                    'Policy changes, ended sessions, denied sign-ins and alerts appear here.',
                  ),
                })
          }
          ${pager(address, { next: found.next, isFirst: cursor === undefined })}`,
          calls: [{ method: 'GET', path: '/api/v1/events', label: 'Every type with an example' }],
        }
      },
    ),
  ] as const satisfies readonly ConsoleRoute[]
}

const seenText = (outcome: string) => connectorEventText(outcome) ?? outcomeText(outcome)
const seenReason = (reason: string) => connectorReasonText(reason) ?? reasonText(reason)
/** The tenant's own, as its instances are. */
const isConnector = (instance: string) => instance.startsWith('con_')

interface Filtered {
  readonly type: string | undefined
  readonly subject: string | undefined
  readonly address: string | undefined
}

const isFiltered = ({ type, subject, address }: Filtered) =>
  [type, subject, address].some((one) => one !== undefined)

/** How many that were alike one row stands for. */
const timesText = (count: number): Html | '' =>
  count > 1 ? html` <span class="hint">× ${count.toLocaleString('en')}</span>` : ''

export function which(path: string, here: 'seen' | 'sealed' | 'told'): Html {
  return tabs('Which events', [
    { label: 'Gateway events', href: path, isHere: here === 'seen' },
    { label: 'Sealed paths', href: `${path}/sealed`, isHere: here === 'sealed' },
    { label: 'Webhook events', href: `${path}/told`, isHere: here === 'told' },
  ])
}

function filters(path: string, types: readonly Option[], { type, subject, address }: Filtered) {
  return html`<form method="get" action="${path}" class="filters" role="search">
    ${selectField({ name: 'type', label: 'Type', value: type, options: [{ value: '', label: 'Any' }, ...types], isFree: true })}
    ${textField({ name: 'subject', label: 'User ID', type: 'search', value: subject, isFree: true })}
    ${textField({ name: 'address', label: 'IP address', type: 'search', value: address, isFree: true })}
    <div class="submit"><button type="submit" class="button quiet">Show</button></div>
  </form>`
}

function stillMore({ items, looked }: EventPage) {
  const found = items.length
  return notice(
    'info',
    `${found === 0 ? 'No matches' : `${found} found`} in the ${looked.toLocaleString('en')} events searched so far. The next page searches further back.`,
  )
}

function nothing(path: string, isSearch: boolean, title: string, text: string) {
  return isSearch
    ? emptyState(
        'No matching events',
        'Remove a filter or broaden your search. Enter the full user ID or IP address.',
        linkButton(path, 'Clear filters', 'quiet'),
      )
    : emptyState(title, text)
}

/** Followed by a click: what else there is of the same person. */
function ofPerson(path: string, value: string | null, names?: ReadonlyMap<string, string>) {
  if (value === null) return null
  return html`<a href="${path}?subject=${encodeURIComponent(value)}" title="${value}">${names?.get(value) ?? value}</a>`
}

function seenColumns(
  tenantId: string,
  path: string,
  names: ReadonlyMap<string, string>,
  isShown: (instance: string) => boolean,
): Column<KeptEvent>[] {
  return [
    { label: 'Time', cell: ({ at }) => logMoment(at) },
    {
      label: 'Event',
      isName: true,
      cell: ({ outcome, count }) =>
        html`<span class="words">${seenText(outcome)}</span>${timesText(count)}`,
    },
    { label: 'Reason', cell: ({ reason }) => (reason === null ? '—' : seenReason(reason)) },
    {
      label: 'Path',
      cell: ({ path: asked }) => (asked === null ? '—' : html`<code>${asked}</code>`),
    },
    { label: 'User', cell: ({ subject }) => ofPerson(path, subject, names) },
    { label: 'IP address', cell: ({ ip }) => (ip === null ? null : fromAddress(tenantId, ip)) },
    {
      label: 'Host',
      cell: ({ appHost, instance }) =>
        html`<div>
          ${appHost ?? ''}
          ${
            isShown(instance) || isConnector(instance)
              ? html`<span class="hint">${instance}</span>`
              : ''
          }
        </div>`,
    },
  ]
}

function toldColumns(tenantId: string, path: string): Column<LoggedEvent>[] {
  return [
    { label: 'Time', cell: ({ createdAt }) => logMoment(createdAt) },
    {
      label: 'Event',
      isName: true,
      cell: ({ event }) => html`${event} <span class="hint">${sentWhen(event)}</span>`,
    },
    { label: 'User', cell: ({ content }) => ofPerson(path, textOf(content['subject'])) },
    {
      label: 'IP address',
      cell: ({ content }) => {
        const ip = textOf(content['ip'] ?? content['address'])
        return ip === null ? null : fromAddress(tenantId, ip)
      },
    },
    { label: 'Details', cell: ({ content }) => details(content) },
  ]
}

/** An event of an older version may have gone since. */
const sentWhen = (event: EventName) => (Object.hasOwn(EVENTS, event) ? EVENTS[event].sentWhen : '')

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

const SHOWN_APART: ReadonlySet<string> = new Set(['subject', 'ip', 'address'])

function details(content: Readonly<Record<string, unknown>>): Html | null {
  const left = Object.entries(content).filter(([name]) => !SHOWN_APART.has(name))
  if (left.length === 0) return null
  return html`${differences(
    left.map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return { name, about: shortened(text) }
    }),
  )}`
}

/** A page has two hundred events, and one may hold a list of a thousand networks. */
function shortened(text: string): string {
  const most = LIMITS.eventValueCharactersShown
  return text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
}
