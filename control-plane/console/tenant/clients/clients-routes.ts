/** Other applications that sign people in by this tenant: what each was registered with, and how to add one. */
import { html } from 'hono/html'
import { issuerOf } from '../../../../shared/issuer.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { checkField, linesField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Html } from '../../../pages/html.ts'
import type { RealmClient } from '../../../realm/clients/realm-clients.ts'
import { NewRealmClientBody } from '../../../requests/client-fields.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { card, copyable, moment } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'

const PATH = `${TENANT_PATH}/clients` as const
const ONE = `${PATH}/{client_id}` as const

export function clientsRoutes({
  realmClients,
  baseUrl,
}: Pick<ConsoleWorld, 'realmClients' | 'baseUrl'>): readonly ConsoleRoute[] {
  const at = ({ tenant: { tenantId } }: TenantVisit) => tenantPath(tenantId, 'clients')

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const { tenant, proofs } = visit
    const all = await realmClients.list(tenant.tenantId)
    const api = apiOf(tenant.tenantId)
    return {
      title: 'OIDC clients',
      here: 'clients',
      intro: `Other applications that sign in the people of ${tenant.name} by OpenID Connect.`,
      content: html`${freshSignInNotice(visit)}
        ${listOf(visit, all)}
        ${proofs.isReadOnly ? '' : card('Add an OIDC client', addForm(visit, attempt), 'add')}`,
      calls: [
        { method: 'GET', path: api },
        {
          method: 'POST',
          path: api,
          body: { name: 'Wiki', redirect_uris: ['https://wiki.example.com/callback'] },
        },
      ],
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: {
          name: 'text',
          redirect_uris: 'lines',
          post_logout_redirect_uris: 'lines',
          backchannel_logout_uri: 'nullable',
          is_told_groups: 'flag',
        },
        body: NewRealmClientBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { tenantId } = visit.tenant
        const made = await realmClients.create(tenantId, fromOutside(body), visit.actor)
        return secretView(made, issuerOf(baseUrl, tenantId), at(visit))
      },
      show,
    ),
    ...asking(
      { path: `${ONE}/delete`, role: 'tenant', here: 'clients', needsFreshSignIn: true },
      async (visit) => {
        const { tenantId } = visit.tenant
        const { name } = await realmClients.get(tenantId, visit.path.client_id)
        return {
          title: `Delete ${name}?`,
          effects: [
            'Nobody can sign in to it through this tenant any more.',
            'Sessions that it has begun end when it decides.',
          ],
          submit: 'Delete client',
          cancel: at(visit),
          calls: [{ method: 'DELETE', path: `${apiOf(tenantId)}/${visit.path.client_id}` }],
        }
      },
      async (visit) => {
        await realmClients.remove(visit.tenant.tenantId, visit.path.client_id, visit.actor)
        return done(at(visit), 'Client deleted.')
      },
    ),
  ]
}

const apiOf = (tenantId: string) => `/api/v1/operator/tenants/${tenantId}/clients`

const listOf = ({ tenant, proofs }: TenantVisit, all: readonly RealmClient[]): Html =>
  table({
    caption: 'OIDC clients',
    rows: all,
    columns: [
      {
        label: 'Name',
        isName: true,
        cell: ({ name, clientId }) => html`${name} <code>${clientId}</code>`,
      },
      {
        label: 'Redirect URIs',
        cell: ({ redirectUris }) => html`${redirectUris.map((uri) => html`<code>${uri}</code> `)}`,
      },
      {
        label: 'Logout notices',
        cell: ({ backchannelLogoutUri: uri }) =>
          uri === null ? 'none' : html`<code>${uri}</code>`,
      },
      { label: 'Groups', cell: ({ isToldGroups }) => (isToldGroups ? 'sent' : 'not sent') },
      { label: 'Created', cell: ({ createdAt }) => moment(createdAt) },
      {
        label: 'Actions',
        isUnseen: true,
        cell: ({ clientId }) =>
          proofs.isReadOnly
            ? ''
            : linkButton(
                `${tenantPath(tenant.tenantId, 'clients')}/${clientId}/delete`,
                'Delete',
                'small',
              ),
      },
    ],
    empty: emptyState(
      'No OIDC clients yet',
      'Add one for each application that people should sign in to with their account here.',
      proofs.isReadOnly ? undefined : linkButton('#add', 'Add the first one'),
    ),
  })

const LINES_HINT = `One https:// address per line, at most ${LIMITS.realmClientAddressesMax}.`

const addForm = (visit: TenantVisit, attempt: Attempt | undefined): Html =>
  form(visit, {
    action: tenantPath(visit.tenant.tenantId, 'clients'),
    submit: 'Add client',
    attempt,
    content: html`${textField({
      name: 'name',
      label: 'Name',
      hint: 'For this list and the audit trail, for example Wiki.',
      charactersMax: LIMITS.nameCharactersMax,
      attempt,
    })}
    ${linesField({ name: 'redirect_uris', label: 'Redirect URIs', hint: `Where people return to after they sign in. ${LINES_HINT}`, rows: 2, value: '', attempt })}
    ${linesField({ name: 'post_logout_redirect_uris', label: 'Post-logout redirect URIs', hint: `Where people return to after they sign out. ${LINES_HINT}`, rows: 2, isOptional: true, value: '', attempt })}
    ${textField({
      name: 'backchannel_logout_uri',
      label: 'Back-channel logout URI',
      hint: 'An https:// address at which the application hears of sessions that have ended. Leave empty if it has none.',
      isOptional: true,
      charactersMax: LIMITS.webhookUrlCharactersMax,
      attempt,
    })}
    ${checkField({
      name: 'is_told_groups',
      label: 'Send the names of people’s groups',
      attempt,
    })}`,
  })

/** The only page that shows it. */
function secretView(
  { name, clientId, clientSecret }: RealmClient & { readonly clientSecret: string },
  issuer: string,
  back: string,
): View {
  return {
    title: 'Client secret',
    here: 'clients',
    content: html`<div class="card narrow">
      ${notice('success', `${name} added.`)}
      <p>Enter these in the application. The secret won’t be shown again.</p>
      ${copyable(issuer, 'Issuer')} ${copyable(clientId, 'Client ID')}
      ${copyable(clientSecret, 'Client secret')}
      <p class="hint">
        Authorization code flow with PKCE; scopes <code>openid email profile</code>.
      </p>
      <div class="submit">${linkButton(back, 'Done')}</div>
    </div>`,
  }
}
