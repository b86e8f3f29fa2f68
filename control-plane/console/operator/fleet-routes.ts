/** Fleet: every gateway, how far it has come, what it could not serve, and its keys. */
import { html } from 'hono/html'
import { MINUTE_MS } from '../../../shared/clock.ts'
import { fleetOf, type ListedGateway } from '../../fleet/fleet-list.ts'
import type { Rejection } from '../../fleet/gateway-registry.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { emptyState, table } from '../blocks/table.ts'
import { age, badge, card, moment } from '../blocks/text.ts'
import { tenantPath } from '../navigation.ts'
import { page, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'
import { freshSignInNotice } from '../access/fresh-sign-in.ts'
import type { ConsoleWorld } from '../world.ts'
import {
  FLEET,
  gatewayKeyRoutes,
  GATEWAYS_API,
  keysCard,
  newKeyCard,
} from './gateway-key-routes.ts'
import type { Attempt } from '../../pages/blocks/field.ts'

/** The same as what every gateway says, told once. */
interface Refused extends Rejection {
  readonly gateways: readonly string[]
}

export function fleetRoutes({
  gateways,
  gatewayKeys,
  store,
}: Pick<ConsoleWorld, 'gateways' | 'gatewayKeys' | 'store'>): readonly ConsoleRoute[] {
  async function show(visit: ViewerVisit, attempt?: Attempt): Promise<View> {
    const revision = await store.revision()
    const all = fleetOf(gateways(), await gatewayKeys.list(), revision)
    const refused = refusedBy(all)
    return {
      title: 'Fleet',
      here: 'fleet',
      intro: `Latest revision: ${revision.toLocaleString('en')}`,
      content: html`${freshSignInNotice(visit)} ${stateNotice(all, refused)} ${sharing(all)} ${listOf(all, visit.nowMs)}
      ${refused.length === 0 ? '' : card('Rejected states', rejections(refused))}
      ${keysCard(all, visit.nowMs)} ${newKeyCard(visit, attempt)}`,
      calls: [
        { method: 'GET', path: GATEWAYS_API },
        {
          method: 'POST',
          path: GATEWAYS_API,
          body: { gateway_id: 'edge-1' },
          label: 'Create a key',
        },
      ],
    }
  }

  return [
    page({ path: FLEET, role: 'operator' }, (visit) => show(visit)),
    ...gatewayKeyRoutes(gatewayKeys, show),
  ]
}

/** Fine on one machine; more of them cannot be told apart, and none can be sent away alone. */
function sharing(all: readonly ListedGateway[]) {
  const shared = all.filter(({ connected, key_id: id, keys }) => connected && !id && !keys.length)
  if (shared.length < 2) return ''
  return notice(
    'info',
    `${shared.length} gateways share one fleet key. Create a key for each, so that you can revoke one alone.`,
  )
}

/** One sentence for whoever looks for a second. */
function stateNotice(listed: readonly ListedGateway[], refused: readonly Refused[]) {
  const all = listed.filter(({ last_seen_at: at }) => at !== null) // others serve nothing yet
  if (all.length === 0) return ''
  const away = all.filter(({ connected }) => !connected).length
  const behind = all.filter(({ connected, lag }) => connected && lag > 0).length
  const problems = [
    away > 0 &&
      `${away} of ${all.length} ${away === 1 ? 'is offline and keeps its last state' : 'are offline and keep their last state'}.`,
    behind > 0 && `${behind} of ${all.length} ${behind === 1 ? 'is' : 'are'} behind.`,
    refused.length > 0 &&
      `${refused.length === 1 ? 'One tenant is' : `${refused.length} tenants are`} served from an older state because the latest was rejected.`,
  ].filter((one) => typeof one === 'string')
  if (problems.length === 0)
    return notice(
      'success',
      all.length === 1
        ? 'The gateway serves the latest revision.'
        : `All ${all.length} gateways serve the latest revision.`,
    )
  return notice('problem', problems.join(' '))
}

function listOf(all: readonly ListedGateway[], nowMs: number) {
  return table({
    caption: 'Gateways',
    rows: all,
    columns: [
      {
        label: 'Gateway',
        isName: true,
        cell: ({ gateway_id, version }) =>
          version === null
            ? gateway_id
            : html`${gateway_id} <span class="hint">version ${version}</span>`,
      },
      { label: 'State', cell: stateBadge },
      { label: 'Revision', isNumber: true, cell: ({ revision }) => revision.toLocaleString('en') },
      {
        label: 'Lag',
        isNumber: true,
        cell: ({ lag }) => (lag === 0 ? '—' : lag.toLocaleString('en')),
      },
      { label: 'Last applied', cell: (one) => lastGood(one, nowMs) },
      { label: 'Rejected', isNumber: true, cell: ({ rejections: { length } }) => length },
      {
        label: 'Last seen',
        cell: ({ connected, last_seen_at }) => seen(connected, last_seen_at, nowMs),
      },
    ],
    empty: emptyState(
      'No gateways yet',
      html`Create a gateway key below. A gateway on the same machine as the control plane connects by
        itself, with the fleet key of this machine.`,
    ),
  })
}

function stateBadge({ connected, last_seen_at, lag, rejections: { length } }: ListedGateway) {
  if (last_seen_at === null) return badge('Never connected', 'warm')
  if (!connected) return badge('Offline', 'bad')
  if (length > 0) return badge('Rejected', 'bad')
  return lag > 0 ? badge('Behind', 'warm') : badge('Up to date', 'good')
}

/** Whether a restart of it needs this program first is worth knowing before one restarts it. */
function lastGood({ applied_at, durable }: ListedGateway, nowMs: number) {
  const taken =
    applied_at === null
      ? html`<span class="hint">unknown</span>`
      : age(Date.parse(applied_at), nowMs)
  return durable ? taken : html`${taken} ${badge('Not saved to disk', 'warm')}`
}

function seen(isConnected: boolean, at: string | null, nowMs: number) {
  if (at === null) return '—'
  const atMs = Date.parse(at)
  return isConnected && nowMs - atMs < MINUTE_MS ? 'now' : age(atMs, nowMs)
}

function refusedBy(all: readonly ListedGateway[]): Refused[] {
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
      { label: 'Reason', cell: ({ reason }) => reason },
      { label: 'Gateways', cell: ({ gateways }) => gateways.join(', ') },
      { label: 'Time', cell: ({ at }) => moment(Date.parse(at)) },
    ],
    empty: html``,
  })
}
