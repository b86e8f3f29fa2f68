/** Provisioning (SCIM): what to paste where at the provider, its tokens, and what it has asked for. */
import { html } from 'hono/html'
import { DAY_MS, SECOND_MS } from '../../../../shared/clock.ts'
import { Refusal } from '../../../../shared/errors.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Connection } from '../../../connections/connections.ts'
import { selectField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { NewScimTokenBody } from '../../../requests/scim-fields.ts'
import { scimBaseOf } from '../../../scim/answer-request.ts'
import type { ScimToken } from '../../../scim/tokens.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { tabs } from '../../blocks/tabs.ts'
import { badge, card, copyable, logMoment, moment } from '../../blocks/text.ts'
import { durationText } from '../../durations.ts'
import { chosen } from '../../filters.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { guidance } from './guidance.ts'

const PATH = `${TENANT_PATH}/provisioning` as const
const VIEW = { here: 'provisioning' } as const
const CHANGES = { role: 'tenant', needsFreshSignIn: true } as const
const TOKEN_FORM = { name: 'text', expires_in: 'whole', connection_id: 'nullable' } as const
const SHOWN_MAX = 50
const EXPIRIES_SECONDS = [30, 90, 180, 365].map((days) => (days * DAY_MS) / SECOND_MS)

type Requests = Awaited<ReturnType<ConsoleWorld['scimLog']['list']>>

export function provisioningRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { scimTokens, scimLog, connections, baseUrl } = world
  const at = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'provisioning')

  async function show(
    visit: TenantVisit,
    isRefusedOnly: boolean,
    attempt?: Attempt,
  ): Promise<View> {
    const { tenantId } = visit.tenant
    const [tokens, requests, known] = await Promise.all([
      scimTokens.list(tenantId),
      scimLog.list(tenantId, LIMITS.scimLogEntriesMax),
      connections.list(tenantId),
    ])
    const { isReadOnly } = visit.proofs
    const list = { path: at(visit), tokens, isReadOnly, isRefusedOnly }
    return {
      ...VIEW,
      title: 'Provisioning (SCIM)',
      intro:
        'Let your company’s identity provider create, update and deactivate people and groups.',
      content: html`${card('At your provider', guidance(scimBaseOf(baseUrl, tenantId)))}
      ${card(
        'Tokens',
        html`${tokenTable(list, known)}
        ${isReadOnly ? '' : newToken(visit, at(visit), known, attempt)}`,
        'tokens',
      )}
      ${card('Requests', requestList(list, requests), 'requests')}`,
      calls: [
        { method: 'GET', path: apiOf(tenantId, 'tokens') },
        { method: 'POST', path: apiOf(tenantId, 'tokens'), body: { name: 'Entra' } },
        { method: 'GET', path: apiOf(tenantId, 'requests') },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant', query: { show: chosen(['refused']) } }, (visit) =>
      show(visit, visit.query.show === 'refused'),
    ),
    action(
      {
        path: `${PATH}/tokens`,
        ...CHANGES,
        form: TOKEN_FORM,
        body: NewScimTokenBody,
        isOnce: true,
      },
      async (visit, body) => {
        const { tenantId } = visit.tenant
        const made = await scimTokens.make(tenantId, fromOutside(body), visit.actor)
        return madeView(at(visit), scimBaseOf(baseUrl, tenantId), made)
      },
      (visit, attempt) => show(visit, false, attempt),
    ),
    ...asking(
      { ...CHANGES, ...VIEW, path: `${PATH}/tokens/{scim_token_id}/revoke` },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { tokenId, name } = await found(visit.path.scim_token_id, tenantId)
        return {
          title: `Revoke the token ${name}?`,
          effects: [
            'The provider that uses it is refused from its next request on.',
            'People and groups stay as they are, and are no longer kept up to date.',
          ],
          submit: 'Revoke token',
          cancel: at(visit),
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId, 'tokens')}/${tokenId}` }],
        }
      },
      async (visit) => {
        await scimTokens.remove(visit.tenant.tenantId, visit.path.scim_token_id, visit.actor)
        return done(at(visit), 'Token revoked.')
      },
    ),
  ]

  async function found(tokenId: string, tenantId: string): Promise<ScimToken> {
    const one = (await scimTokens.list(tenantId)).find((token) => token.tokenId === tokenId)
    if (one === undefined) throw new Refusal('scim_token_not_found')
    return one
  }
}

const apiOf = (tenantId: string, what: 'tokens' | 'requests') =>
  `/api/v1/operator/tenants/${tenantId}/scim-${what}`

interface ListView {
  readonly path: string
  readonly tokens: readonly ScimToken[]
  readonly isReadOnly: boolean
  readonly isRefusedOnly: boolean
}

function tokenTable({ path, tokens, isReadOnly }: ListView, known: readonly Connection[]): Html {
  const nameOf = (connectionId: string | null) =>
    known.find((one) => one.connectionId === connectionId)?.name ?? '—'
  return table({
    caption: 'Tokens',
    rows: tokens,
    columns: [
      {
        label: 'Name',
        isName: true,
        cell: ({ name, tokenId }) => html`${name} <span class="hint">${tokenId}</span>`,
      },
      { label: 'People sign in with', cell: ({ connectionId }) => nameOf(connectionId) },
      { label: 'Last used', cell: ({ lastUsedAt }) => moment(lastUsedAt) },
      { label: 'Expires', cell: ({ expiresAt }) => moment(expiresAt) },
      ...(isReadOnly
        ? []
        : [
            {
              label: 'Actions',
              isUnseen: true,
              cell: ({ tokenId, name }: ScimToken) =>
                html`<a class="button small" href="${path}/tokens/${tokenId}/revoke"
                  >Revoke<span class="unseen"> ${name}</span></a
                >`,
            },
          ]),
    ],
    empty: emptyState(
      'No tokens yet',
      'A provider identifies itself with a token. Create one below and paste it at your provider together with the base address.',
    ),
  })
}

function newToken(
  visit: TenantVisit,
  path: string,
  known: readonly Connection[],
  attempt: Attempt | undefined,
): Html {
  return html`<h3>Create a token</h3>
    <p>
      To replace a token, create the next one, paste it at your provider, then revoke the old one. Both
      work until then.
    </p>
    ${form(visit, {
      action: `${path}/tokens`,
      submit: 'Create token',
      attempt,
      content: html`${textField({
        name: 'name',
        label: 'Name',
        hint: 'For this list and the audit trail, for example Entra 2026.',
        charactersMax: LIMITS.scimTokenNameCharactersMax,
        attempt,
      })}
      ${selectField({
        name: 'expires_in',
        label: 'Expires after',
        options: EXPIRIES_SECONDS.map((seconds) => ({
          value: String(seconds),
          label: durationText(seconds),
        })),
        value: String(LIMITS.scimTokenSecondsDefault),
        attempt,
      })}
      ${
        known.length === 0
          ? ''
          : selectField({
              name: 'connection_id',
              label: 'People sign in with',
              hint: 'The connection to the same provider: externalId must be the ID that it signs people in with (objectId in Entra). Without one, people choose a password by email.',
              options: [
                { value: '', label: 'No connection' },
                ...known.map(({ connectionId, name }) => ({ value: connectionId, label: name })),
              ],
              isOptional: true,
              attempt,
            })
      }`,
    })}`
}

function requestList({ path, tokens, isRefusedOnly }: ListView, all: Requests): Html {
  const nameOf = (tokenId: string) => tokens.find((one) => one.tokenId === tokenId)?.name ?? tokenId
  const rows = all.filter(({ status }) => !isRefusedOnly || status >= 400).slice(0, SHOWN_MAX)
  return html`${tabs('Which requests', [
    { label: 'All', href: `${path}#requests`, isHere: !isRefusedOnly },
    { label: 'Refused', href: `${path}?show=refused#requests`, isHere: isRefusedOnly },
  ])}
    ${table({
      caption: 'Requests',
      rows,
      columns: [
        { label: 'Time', cell: ({ at: atMs }) => logMoment(atMs) },
        {
          label: 'Request',
          isName: true,
          cell: ({ method, path: asked }) => html`<code>${method} ${asked}</code>`,
        },
        {
          label: 'Answer',
          cell: ({ status }) => badge(String(status), status < 400 ? 'good' : 'bad'),
        },
        { label: 'Details', cell: ({ detail }) => detail || '—' },
        { label: 'Token', cell: ({ tokenId }) => nameOf(tokenId) },
      ],
      empty: isRefusedOnly
        ? emptyState(
            'No refused requests',
            'When a request is refused, it is listed here with the reason.',
          )
        : emptyState(
            'No requests yet',
            'What your provider asks for is listed here as soon as it connects. Select Test connection at the provider.',
          ),
    })}
    ${rows.length < SHOWN_MAX ? '' : html`<p class="hint">The newest ${SHOWN_MAX} are shown.</p>`}`
}

function madeView(
  path: string,
  base: string,
  { token, expiresAt }: { readonly token: string; readonly expiresAt: number },
): View {
  return {
    ...VIEW,
    title: 'Provisioning token',
    content: html`<div class="card narrow">
      ${notice('success', 'Token created.')}
      <p>Copy it now: it won’t be shown again. It works until ${moment(expiresAt)}.</p>
      ${copyable(token, 'Token')}
      <p>At your provider, it goes with this base address:</p>
      ${copyable(base, 'Base address')}
      <div class="submit">${linkButton(path, 'Done')}</div>
    </div>`,
  }
}
