/** Fleet: every gateway, how far it has come, and what it could not serve. */
import { html } from 'hono/html'
import { MINUTE_MS } from '../../../shared/clock.ts'
import type { GatewayStatus, Rejection } from '../../fleet/gateway-book.ts'
import { notice } from '../blocks/notice.ts'
import { emptyState, table } from '../blocks/table.ts'
import { age, badge, card, moment } from '../blocks/text.ts'
import { tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

/** The same as what every gateway says, told once. */
interface Refused extends Rejection {
  readonly gateways: readonly string[]
}

export function fleetRoutes({ gateways, store }: Pick<ConsoleWorld, 'gateways' | 'store'>) {
  return [
    page({ path: '/console/fleet', role: 'operator' }, async ({ nowMs }) => {
      const all = gateways()
      const revision = await store.revision()
      const refused = refusedBy(all)
      return {
        title: 'Fleet',
        here: 'fleet',
        intro: `The newest revision is ${revision.toLocaleString('en')}.`,
        content: html`${standing(all, refused)} ${listOf(all, nowMs)}
        ${refused.length === 0 ? '' : card('What was rejected', rejections(refused))}`,
        calls: [{ method: 'GET', path: '/api/v1/operator/gateways' }],
      }
    }),
  ] as const satisfies readonly ConsoleRoute[]
}

/** One sentence for whoever looks for a second. */
function standing(all: readonly GatewayStatus[], refused: readonly Refused[]) {
  if (all.length === 0) return ''
  const away = all.filter(({ connected }) => !connected).length
  const behind = all.filter(({ connected, lag }) => connected && lag > 0).length
  const problems = [
    away > 0 &&
      `${away} of ${all.length} ${away === 1 ? 'is away: it goes on with the last state that it has' : 'are away: they go on with the last state that they have'}.`,
    behind > 0 && `${behind} of ${all.length} ${behind === 1 ? 'is' : 'are'} behind.`,
    refused.length > 0 &&
      `${refused.length === 1 ? 'One tenant is' : `${refused.length} tenants are`} served in an older state, since the newest was rejected.`,
  ].filter((one) => typeof one === 'string')
  if (problems.length === 0)
    return notice(
      'success',
      `All ${all.length} ${all.length === 1 ? 'gateway serves' : 'gateways serve'} the newest revision.`,
    )
  return notice('problem', problems.join(' '))
}

function listOf(all: readonly GatewayStatus[], nowMs: number) {
  return table({
    caption: 'Gateways',
    rows: all,
    columns: [
      {
        label: 'Gateway',
        isName: true,
        cell: ({ gateway_id, version }) =>
          html`${gateway_id} <span class="hint">version ${version}</span>`,
      },
      { label: 'State', cell: stateBadge },
      { label: 'Revision', isNumber: true, cell: ({ revision }) => revision.toLocaleString('en') },
      {
        label: 'Behind by',
        isNumber: true,
        cell: ({ lag }) => (lag === 0 ? '—' : lag.toLocaleString('en')),
      },
      { label: 'Last good state', cell: (one) => lastGood(one, nowMs) },
      { label: 'Rejected', isNumber: true, cell: ({ rejections: { length } }) => length },
      {
        label: 'Seen',
        cell: ({ connected, last_seen_at }) => seen(connected, last_seen_at, nowMs),
      },
    ],
    empty: emptyState(
      'No gateway has reported',
      html`A gateway appears as soon as it connects with the fleet key. What was known of those that
        are away is forgotten when the control plane starts anew; they serve on meanwhile.`,
    ),
  })
}

function stateBadge({ connected, lag, rejections: { length } }: GatewayStatus) {
  if (!connected) return badge('Away', 'bad')
  if (length > 0) return badge('Rejects', 'bad')
  return lag > 0 ? badge('Behind', 'warm') : badge('Up to date', 'good')
}

/** Whether a restart of it needs this program first is worth knowing before one restarts it. */
function lastGood({ applied_at, durable }: GatewayStatus, nowMs: number) {
  const taken =
    applied_at === null
      ? html`<span class="hint">not told yet</span>`
      : age(Date.parse(applied_at), nowMs)
  return durable ? taken : html`${taken} ${badge('Not on its disk', 'warm')}`
}

function seen(isConnected: boolean, at: string, nowMs: number) {
  const atMs = Date.parse(at)
  return isConnected && nowMs - atMs < MINUTE_MS ? 'now' : age(atMs, nowMs)
}

function refusedBy(all: readonly GatewayStatus[]): Refused[] {
  const each = all.flatMap(({ gateway_id, rejections: own }) =>
    own.map((rejection) => ({ ...rejection, gateway_id })),
  )
  const alike = Map.groupBy(each, ({ tenant_id, revision, reason }) =>
    JSON.stringify([tenant_id, revision, reason]),
  )
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    return first === undefined
      ? []
      : [{ ...first, gateways: same.map(({ gateway_id }) => gateway_id) }]
  })
}

function rejections(refused: readonly Refused[]) {
  return table({
    caption: 'Rejections',
    rows: refused,
    columns: [
      {
        label: 'Tenant',
        isName: true,
        cell: ({ tenant_id }) => html`<a href="${tenantPath(tenant_id)}">${tenant_id}</a>`,
      },
      { label: 'Revision', isNumber: true, cell: ({ revision }) => revision.toLocaleString('en') },
      { label: 'Why', cell: ({ reason }) => reason },
      { label: 'By', cell: ({ gateways }) => gateways.join(', ') },
      { label: 'When', cell: ({ at }) => moment(Date.parse(at)) },
    ],
    empty: html``,
  })
}
