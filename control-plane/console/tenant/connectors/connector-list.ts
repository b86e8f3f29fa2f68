/** The list of connectors, and that of tokens that are still good for one. */
import { html } from 'hono/html'
import type { ConnectorStatus } from '../../../connectors/connector-status.ts'
import type { JoinToken } from '../../../connectors/join-tokens.ts'
import type { Html } from '../../../pages/html.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { VERSION } from '../../../../shared/version.ts'
import { deleteColumn, EXPIRES, USES_LEFT } from '../../blocks/joining.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { age, badge, moment, type Tone } from '../../blocks/text.ts'
import { connectorReasonText, shortReason, STATES } from './words.ts'

interface ListView {
  readonly path: string
  readonly nowMs: number
  /** Gateways are the operator's: to others they are a number. */
  readonly showsGateways: boolean
  readonly isReadOnly: boolean
}

const TONES: Readonly<Record<ConnectorStatus['state'], Tone>> = {
  connected: 'good',
  unreachable: 'bad',
  draining: 'warm',
  disconnected: 'bad',
}

export function connectorTable(rows: readonly ConnectorStatus[], view: ListView): Html {
  const { path, nowMs, isReadOnly } = view
  return table({
    caption: 'Connectors',
    rows,
    columns: [
      {
        label: 'Connector',
        isName: true,
        cell: ({ name, connectorId, program }) =>
          html`${name} <span class="hint">${connectorId}</span> <span class="hint">${versionText(program)}</span>`,
      },
      { label: 'State', cell: (connector) => stateCell(connector, view) },
      {
        label: 'Round trip',
        isNumber: true,
        cell: ({ roundTripMs }) => (roundTripMs === null ? '—' : tripText(roundTripMs)),
      },
      { label: 'Requests', isNumber: true, cell: ({ requests }) => requests.toLocaleString('en') },
      { label: 'Last error', cell: ({ lastError }) => errorCell(lastError, nowMs) },
      ...(isReadOnly
        ? []
        : [
            {
              label: 'Actions',
              isUnseen: true,
              cell: ({ connectorId, name }: ConnectorStatus) =>
                html`<a class="button small" href="${path}/${connectorId}/revoke">Revoke<span class="unseen"> ${name}, ${connectorId}</span></a>`,
            },
          ]),
    ],
    empty: emptyState(
      'No connectors yet',
      'A connector is a program beside the application. It connects out to the gateways and passes requests on, so the application needs no open port. It appears here once it has joined.',
      isReadOnly ? undefined : linkButton('#new-token', 'Connect the first one'),
    ),
  })
}

function stateCell(
  { state, reason, lastSeenAt, gateways }: ConnectorStatus,
  { nowMs, showsGateways }: ListView,
): Html {
  const why = reason === null ? '' : (connectorReasonText(reason) ?? reason)
  const seen = lastSeenAt === null ? 'never connected' : html`last seen ${age(lastSeenAt, nowMs)}`
  const count = gateways.length === 1 ? '1 gateway' : `${gateways.length} gateways`
  const names = gateways.map(({ gatewayId }) => gatewayId).join(', ')
  const remarks =
    state === 'disconnected' ? [seen] : [why, showsGateways ? `${count}: ${names}` : count]
  const shown = remarks.filter((remark) => remark !== '')
  return html`<div class="found-out">
    ${badge(STATES[state], TONES[state])} ${shown.map((remark) => html`<p class="hint">${remark}</p>`)}
  </div>`
}

const tripText = (ms: number) => (ms < 1 ? '< 1\u00a0ms' : `${ms.toLocaleString('en')}\u00a0ms`)

function errorCell(error: ConnectorStatus['lastError'], nowMs: number) {
  if (error === null) return '—'
  return html`${shortReason(error.reason)} <span class="hint">${age(error.atMs, nowMs)}</span>`
}

const versionText = (program: string) =>
  program === VERSION ? `Version\u00a0${program}` : `Version\u00a0${program}, latest: ${VERSION}`

export function tokenTable(rows: readonly JoinToken[], { path, isReadOnly }: ListView): Html {
  return table({
    caption: 'Open join tokens',
    rows,
    columns: [
      { label: 'Token', isName: true, cell: ({ name }) => name },
      USES_LEFT,
      { label: 'Created', cell: ({ createdAt }) => moment(createdAt) },
      EXPIRES,
      ...(isReadOnly
        ? []
        : [
            deleteColumn<JoinToken>(
              ({ tokenId }) => `${path}/tokens/${tokenId}`,
              ({ name }) => name,
            ),
          ]),
    ],
    empty: html`<p class="hint">None. Tokens that are used up or have expired are not listed.</p>`,
  })
}
