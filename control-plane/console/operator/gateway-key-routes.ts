/** Keys of gateways: a table of them, a new one with its secret shown once, revoking one. */
import { html } from 'hono/html'
import { LIMITS } from '../../../shared/limits.ts'
import { NewGatewayKeyBody } from '../../requests/key-fields.ts'
import type { ListedGateway, ListedKey } from '../../fleet/fleet-list.ts'
import type { GatewayKeys, MadeGatewayKey } from '../../keys/gateway-keys.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { asking } from '../asking.ts'
import { form } from '../blocks/form.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import { notice } from '../../pages/blocks/notice.ts'
import { emptyState, table } from '../blocks/table.ts'
import { age, badge, card, copyable, moment } from '../blocks/text.ts'
import { action, done, type ConsoleRoute, type View, type ViewerVisit } from '../route.ts'

export const FLEET = '/console/fleet'
export const GATEWAYS_API = '/api/v1/operator/gateways'

const KEY = `${FLEET}/{gateway_id}/keys/{key_id}/revoke` as const

interface OneKey extends ListedKey {
  readonly gateway: ListedGateway
}

export function keysCard(all: readonly ListedGateway[], nowMs: number) {
  const keys = all.flatMap((gateway) => gateway.keys.map((key): OneKey => ({ ...key, gateway })))
  return card(
    'Gateway keys',
    table<OneKey>({
      caption: 'Gateway keys',
      rows: keys,
      columns: [
        { label: 'Gateway', isName: true, cell: ({ gateway }) => gateway.gateway_id },
        { label: 'Key', cell: ({ key_id }) => html`<code>${key_id}</code>` },
        { label: 'State', cell: keyBadge },
        { label: 'Created', cell: ({ created_at }) => moment(Date.parse(created_at)) },
        {
          label: 'Last connected',
          cell: ({ last_used_at: at }) => (at === null ? '—' : age(Date.parse(at), nowMs)),
        },
        {
          label: 'Actions',
          isUnseen: true,
          cell: ({ key_id, gateway: { gateway_id } }) =>
            html`<a class="button small" href="${revokePath(gateway_id, key_id)}">Revoke<span class="unseen"> key ${key_id} of ${gateway_id}</span></a>`,
        },
      ],
      empty: emptyState(
        'No gateway keys',
        'Gateways on other machines each need a key of their own. Create the first one below.',
      ),
    }),
    'keys',
  )
}

export function newKeyCard(visit: ViewerVisit, attempt?: Attempt) {
  return card(
    'Create a gateway key',
    form(visit, {
      action: `${FLEET}/keys`,
      submit: 'Create key',
      attempt,
      content: html`${textField({
        name: 'gateway_id',
        label: 'Gateway ID',
        hint: 'gateway.id in its settings. To rotate a key, enter the ID of an existing gateway.',
        attempt,
      })}`,
    }),
    'new-key',
  )
}

export function gatewayKeyRoutes(
  gatewayKeys: GatewayKeys,
  show: (visit: ViewerVisit, attempt?: Attempt) => Promise<View>,
): readonly ConsoleRoute[] {
  return [
    action(
      {
        path: `${FLEET}/keys`,
        role: 'operator',
        form: { gateway_id: 'text' },
        body: NewGatewayKeyBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async ({ actor }, { gateway_id: gatewayId }) => {
        const made = await gatewayKeys.make(gatewayId, actor)
        const others = (await gatewayKeys.list()).filter((one) => one.gatewayId === gatewayId)
        return newKeyView(made, others.length > 1)
      },
      (visit, attempt) => show(visit, attempt),
    ),
    ...asking(
      { path: KEY, role: 'operator', needsFreshSignIn: true, here: 'fleet' },
      (visit) => {
        const { gateway_id: gatewayId, key_id: keyId } = visit.path
        return {
          title: `Revoke key ${keyId} of ${gatewayId}?`,
          effects: [
            'A gateway that is connected with this key is disconnected at once and cannot reconnect with it.',
            'It keeps serving what it has on its disk until you stop it, and receives no changes and no revocations.',
            'If the key was stolen, rotate client secrets and certificates as well: whoever had the key could read them.',
          ],
          submit: 'Revoke key',
          cancel: FLEET,
          calls: [{ method: 'DELETE', path: `${GATEWAYS_API}/${gatewayId}/keys/${keyId}` }],
        }
      },
      async ({ path, actor }) => {
        const { pending } = await gatewayKeys.revoke(path.gateway_id, path.key_id, actor)
        const unconfirmed =
          pending.length > 0 ? ` Not confirmed within a second by: ${pending.join(', ')}.` : ''
        return done(FLEET, `Key ${path.key_id} of ${path.gateway_id} is revoked.${unconfirmed}`)
      },
    ),
  ]
}

function revokePath(gatewayId: string, keyId: string) {
  return `${FLEET}/${encodeURIComponent(gatewayId)}/keys/${encodeURIComponent(keyId)}/revoke`
}

function keyBadge({ key_id, last_used_at, gateway }: OneKey) {
  if (gateway.connected && gateway.key_id === key_id) return badge('In use', 'good')
  return last_used_at === null ? badge('Not used yet', 'warm') : badge('Not in use', 'bad')
}

function newKeyView({ gatewayId, key }: MadeGatewayKey, isRotation: boolean): View {
  return {
    title: `Key for ${gatewayId}`,
    here: 'fleet',
    content: html`<div class="card narrow">
      ${notice('success', isRotation ? 'Key created. The previous key still works.' : 'Key created.')}
      <p>Copy it now: it won’t be shown again.</p>
      ${copyable(key, 'Gateway key')}
      <ol class="numbered">
        <li>On that machine, set <code>SERVICE_FLEET_KEY</code> to this key.</li>
        ${
          isRotation
            ? html`<li>
              For one start, set <code>SERVICE_FLEET_KEY_PREVIOUS</code> to the previous key: it
              opens what the gateway has on its disk.
            </li>`
            : ''
        }
        <li>Set <code>gateway.id</code> to <code>${gatewayId}</code>, then restart the gateway.</li>
        ${
          isRotation
            ? html`<li>Once it is connected with the new key, revoke the previous one.</li>`
            : ''
        }
      </ol>
      <p class="hint">A gateway has ${LIMITS.gatewayKeysMax} keys at most.</p>
      <div class="submit">${linkButton(FLEET, 'I have saved it')}</div>
    </div>`,
  }
}
