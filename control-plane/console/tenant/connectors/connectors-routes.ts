/** Connectors: how each is doing, what the next one joins with, and how one is sent away. */
import { html } from 'hono/html'
import { LIMITS } from '../../../../shared/limits.ts'
import { NewConnectorTokenBody } from '../../../requests/connector-fields.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { Refusal } from '../../../../shared/errors.ts'
import type { Html } from '../../../pages/html.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { madeCard, usesAndExpiry } from '../../blocks/joining.ts'
import { emptyState } from '../../blocks/table.ts'
import { card, copyable } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { howToConnect } from './commands.ts'
import { connectorTable, tokenTable } from './connector-list.ts'

const PATH = `${TENANT_PATH}/connectors` as const
const OF_ONE = { role: 'tenant', here: 'connectors', needsFreshSignIn: true } as const
const TOKEN_FORM = { name: 'optional', uses: 'whole', expires_in: 'whole' } as const

export function connectorsRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { connectors, joinTokens, gatewayDoors, baseUrl } = world
  const at = ({ tenant: { tenantId } }: TenantVisit) => tenantPath(tenantId, 'connectors')

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const { tenant, viewer, proofs, nowMs, address } = visit
    const { tenantId, mode } = tenant
    const view = { title: 'Connectors', here: 'connectors' } as const
    if (mode !== 'connector') return { ...view, content: inAnotherMode(visit) }
    const { isReadOnly } = proofs
    const list = { path: at(visit), nowMs, showsGateways: viewer.isOperator, isReadOnly }
    const [rows, tokens, gateways] = await Promise.all([
      connectors.list(tenantId),
      joinTokens.list(tenantId),
      gatewayDoors.all(),
    ])
    return {
      ...view,
      intro: `Programs that run next to ${tenant.name}, connect out to the gateways, and pass requests on.`,
      buttons: rows.length === 0 ? [] : [linkButton(address, 'Refresh', 'quiet')],
      content: html`${tenant.status === 'draft' ? publishFirst(tenantId) : ''}
        ${gateways.length === 0 ? noGateway(viewer.isOperator) : ''}
        ${connectorTable(rows, list)}
        ${isReadOnly ? '' : card('Connect an application', newToken(visit, attempt), 'new-token')}
        ${card('Open join tokens', tokenTable(tokens, list), 'tokens')}`,
      calls: [
        { method: 'GET', path: apiOf(tenantId, 'connectors') },
        {
          method: 'POST',
          path: apiOf(tenantId, 'connector-tokens'),
          body: { name: 'Berlin', uses: 1 },
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      {
        path: `${PATH}/tokens`,
        role: 'tenant',
        form: TOKEN_FORM,
        body: NewConnectorTokenBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenant, actor } = visit
        const made = await joinTokens.make(tenant.tenantId, fromOutside(body), actor)
        return tokenView(visit, made, baseUrl)
      },
      show,
    ),
    ...asking(
      { ...OF_ONE, path: `${PATH}/{connector_id}/revoke` },
      async (visit) => {
        const { tenant, path } = visit
        const all = await connectors.list(tenant.tenantId)
        const one = all.find(({ connectorId }) => connectorId === path.connector_id)
        if (one === undefined) throw new Refusal('connector_not_found')
        const others = all.filter(({ state }) => state === 'connected')
        const isLast = others.every(({ connectorId }) => connectorId === one.connectorId)
        return {
          title: `Revoke ${one.name}?`,
          effects: [
            'All of its connections are closed at once, and requests that it is serving fail.',
            ...(isLast
              ? [`No other connector is connected: visitors of ${tenant.name} get a 503 response.`]
              : []),
            'It can’t reconnect with its key. To use that machine again, run service-connector leave there, and join with a new token.',
          ],
          submit: 'Revoke connector',
          cancel: at(visit),
          calls: [
            {
              method: 'DELETE',
              path: `${apiOf(tenant.tenantId, 'connectors')}/${one.connectorId}`,
            },
          ],
        }
      },
      async (visit) => {
        const { tenantId } = visit.tenant
        await connectors.revoke(tenantId, visit.path.connector_id, visit.actor)
        return done(at(visit), 'Connector revoked.', { changed: tenantId })
      },
    ),
    ...asking(
      { ...OF_ONE, path: `${PATH}/tokens/{token_id}/delete` },
      async (visit) => {
        const { tenant, path } = visit
        const all = await joinTokens.list(tenant.tenantId)
        const one = all.find(({ tokenId }) => tokenId === path.token_id)
        if (one === undefined) throw new Refusal('connector_token_not_found')
        return {
          title: `Delete the join token ${one.name}?`,
          effects: [
            'No connector can join with it anymore.',
            'Connectors that already joined are not affected.',
          ],
          submit: 'Delete token',
          cancel: at(visit),
          calls: [
            {
              method: 'DELETE',
              path: `${apiOf(tenant.tenantId, 'connector-tokens')}/${one.tokenId}`,
            },
          ],
        }
      },
      async (visit) => {
        await joinTokens.remove(visit.tenant.tenantId, visit.path.token_id, visit.actor)
        return done(at(visit), 'Join token deleted.')
      },
    ),
  ]
}

const apiOf = (tenantId: string, what: 'connectors' | 'connector-tokens') =>
  `/api/v1/operator/tenants/${tenantId}/${what}`

function inAnotherMode({ tenant: { tenantId, mode, origin }, viewer }: TenantVisit): Html {
  return emptyState(
    'No connectors in this mode',
    mode === 'sdk'
      ? 'In sdk mode the application itself enforces sign-in, and no gateway has to reach it.'
      : `In gateway mode the gateways reach the application at ${origin}. If it has no open port, ${viewer.isOperator ? 'change the mode to connector' : 'ask an operator to change the mode to connector'}.`,
    viewer.isOperator
      ? linkButton(tenantPath(tenantId, 'settings'), 'Open Settings', 'quiet')
      : linkButton(tenantPath(tenantId), 'Open setup checklist', 'quiet'),
  )
}

const publishFirst = (tenantId: string): Html =>
  notice(
    'info',
    'Publish the tenant first. Connectors can join before, but no gateway lets them in.',
    html`<p><a href="${tenantPath(tenantId)}">Open setup checklist</a></p>`,
  )

function noGateway(isOperator: boolean): Html {
  return notice(
    'problem',
    'No gateway accepts connectors.',
    isOperator
      ? html`<p>
          Set <code>gateway.tls_listen</code> and <code>gateway.connect_address</code> in the
          settings of your gateways, and restart them.
        </p>`
      : html`<p>Ask an operator of this service to let its gateways accept connectors.</p>`,
  )
}

function newToken(visit: TenantVisit, attempt: Attempt | undefined): Html {
  return html`<p>
      A connector uses a token once, to join. From then on it identifies itself with its own key,
      which never leaves its machine.
    </p>
    ${form(visit, {
      action: `${tenantPath(visit.tenant.tenantId, 'connectors')}/tokens`,
      submit: 'Create join token',
      attempt,
      content: html`${textField({
        name: 'name',
        label: 'Name',
        hint: 'For this list and the audit trail, for example where it is used.',
        charactersMax: LIMITS.connectorNameCharactersMax,
        isOptional: true,
        attempt,
      })}
      ${usesAndExpiry(
        'connectors can join',
        {
          usesMax: LIMITS.connectorTokenUsesMax,
          secondsMax: LIMITS.connectorTokenSecondsMax,
          secondsDefault: LIMITS.connectorTokenSecondsDefault,
        },
        attempt,
      )}`,
    })}`
}

interface MadeToken {
  readonly token: string
  readonly uses: number
  readonly expiresAt: number
}

function tokenView(visit: TenantVisit, made: MadeToken, baseUrl: string): View {
  const { tenantId } = visit.tenant
  const { token, uses, expiresAt } = made
  return {
    title: 'Join token',
    here: 'connectors',
    content: madeCard({
      ...{
        title: 'Join token',
        one: 'connector',
        many: 'connectors',
        can: 'join',
        uses,
        expiresAt,
      },
      content: html`${copyable(token, 'Join token')} ${howToConnect(baseUrl)}`,
      back: tenantPath(tenantId, 'connectors'),
    }),
  }
}
