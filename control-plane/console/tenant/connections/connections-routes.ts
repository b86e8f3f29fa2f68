/** Connections: sign-in with the company's own identity provider, from the first draft to the sign-in page. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { backChannelUrlOf, callbackUrlOf, signedOutUrlOf } from '../../../connections/addresses.ts'
import type { Connection } from '../../../connections/connections.ts'
import type { Html } from '../../../pages/html.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import { ConnectionPatchBody, NewConnectionBody } from '../../../requests/connection-fields.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { offersSignOut } from '../../../connections/presets.ts'
import { CLIENT_PRESETS } from '../../../store/connection-tables.ts'
import { asking } from '../../asking.ts'
import { form, formCard } from '../../blocks/form.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { badge, card, copyable, facts, moment } from '../../blocks/text.ts'
import { chosen } from '../../filters.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import {
  connectionFields,
  EDIT_FORM,
  mappedLines,
  NEW_FORM,
  withAttributes,
} from './connection-form.ts'
import { groupLines, groupsText } from './group-lines.ts'
import { GUIDANCE, stepsOf } from './guidance.ts'
import { samlCards, samlRoutes } from './saml-routes.ts'

const PATH = `${TENANT_PATH}/connections` as const
const ONE = `${PATH}/{connection_id}` as const
const VIEW = { here: 'connections' } as const
const CHANGES = { role: 'tenant', needsFreshSignIn: true } as const

type OfOne = TenantVisit & { readonly path: { readonly connection_id: string } }

const { attributes: _ofNew, ...NEW } = NewConnectionBody.entries
const { attributes: _ofPatch, ...PATCH } = ConnectionPatchBody.entries
const NewFormBody = v.pipe(
  v.strictObject({ ...NEW, attribute_claims: mappedLines, groups: groupLines }),
  v.transform(withAttributes),
)
const EditFormBody = v.pipe(
  v.strictObject({ ...PATCH, attribute_claims: mappedLines, groups: groupLines }),
  v.transform(withAttributes),
)

export function connectionsRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { connections, connectionTickets, baseUrl } = world
  const all = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'connections')
  const at = (visit: OfOne) => `${all(visit)}/${visit.path.connection_id}`
  const found = ({ tenant, path }: OfOne) => connections.get(tenant.tenantId, path.connection_id)

  async function showAll(visit: TenantVisit): Promise<View> {
    const rows = await connections.list(visit.tenant.tenantId)
    const { isReadOnly } = visit.proofs
    return {
      ...VIEW,
      title: 'Connections',
      intro: 'Let people sign in with your company’s own identity provider.',
      content: html`${table({
        caption: 'Connections',
        rows,
        columns: [
          {
            label: 'Name',
            isName: true,
            cell: ({ connectionId, name }) =>
              html`<a href="${all(visit)}/${connectionId}">${name}</a>`,
          },
          { label: 'Provider', cell: ({ preset }) => GUIDANCE[preset].label },
          { label: 'State', cell: stateBadge },
          { label: 'Last tested', cell: ({ testedAt }) => moment(testedAt) },
        ],
        empty: emptyState(
          'No connections yet',
          'With a connection, people sign in with the account they already have at work. Add your provider below.',
        ),
      })}
      ${isReadOnly ? '' : card('Add a connection', choices(all(visit)), 'add')}`,
      calls: [{ method: 'GET', path: apiOf(all(visit)) }],
    }
  }

  function showNew(visit: TenantVisit, preset: Connection['preset'], attempt?: Attempt): View {
    const { label } = GUIDANCE[preset]
    return {
      ...VIEW,
      title: `Connect ${label}`,
      intro: 'Created as a draft. Nothing changes for people until you activate it.',
      content: html`${card('At the provider', stepsOf(preset))}
      ${formCard(visit, {
        action: `${all(visit)}/new`,
        submit: 'Create connection',
        cancel: all(visit),
        hidden: { preset },
        attempt,
        content: connectionFields(preset, attempt),
      })}`,
      calls: [{ method: 'POST', path: apiOf(all(visit)), body: { preset, name: 'Acme' } }],
    }
  }

  async function showOne(visit: OfOne): Promise<View> {
    const connection = await found(visit)
    const { preset, name, issuer, clientId, hostedDomain, organization, testedAt } = connection
    const { isReadOnly } = visit.proofs
    const { url } = connectionTickets.linkFor(baseUrl, connection, visit.actor.name)
    const saml = preset === 'saml' ? await samlCards(world, visit) : undefined
    return {
      ...VIEW,
      title: name,
      intro: html`${stateBadge(connection)} ${GUIDANCE[preset].label}`,
      buttons: [
        linkButton(`${at(visit)}/domains`, 'Domains', 'quiet'),
        linkButton(`${at(visit)}/${preset === 'saml' ? 'saml' : 'edit'}`, 'Edit', 'quiet'),
        linkButton(`${at(visit)}/delete`, 'Delete', 'quiet'),
      ],
      content: html`${
        saml?.addresses ??
        card(
          '1. Redirect address',
          html`<p>Add it at the provider, exactly as it is, under ${GUIDANCE[preset].redirect}.</p>
            ${copyable(callbackUrlOf(baseUrl, connection), 'Redirect address')}`,
        )
      }
      ${card(
        '2. Test sign-in',
        html`<p>
            Sign in at the provider once. You see every claim and what it leads to; you are not
            signed in to the application. Then come back and reload this page.
          </p>
          ${isReadOnly ? '' : linkButton(url, 'Test sign-in', 'quiet')}`,
      )}
      ${card('3. On the sign-in page', activation(visit, connection))}
      ${offersSignOut(preset) ? card('Sign-out', signOut(connection)) : ''}
      ${
        saml?.details ??
        card(
          'Details',
          facts([
            ['Issuer', html`<code>${issuer}</code>`],
            ['Client ID', html`<code>${clientId}</code>`],
            ...(hostedDomain === null ? [] : [['Workspace domain', hostedDomain] as const]),
            ...(organization === null ? [] : [['Organization', organization] as const]),
            ['New people', connection.createsPeople ? 'get an account' : 'need an account first'],
            ['Groups', groupsText(connection.groupsClaim, connection.groups)],
            ['Second factor', connection.mfaValues.join(', ') || 'never taken from the provider'],
            ['Last tested', moment(testedAt)],
          ]),
        )
      }`,
      calls: [
        { method: 'GET', path: apiOf(at(visit)) },
        { method: 'POST', path: `${apiOf(at(visit))}/test`, body: {}, label: 'A test link' },
        { method: 'POST', path: `${apiOf(at(visit))}/activate`, body: {}, label: 'Activate' },
      ],
    }
  }

  function signOut(connection: Connection): Html {
    return html`<p>
        If the provider supports back-channel logout, enter this address there. Sessions that it ends
        are then ended here within a second.
      </p>
      ${copyable(backChannelUrlOf(baseUrl, connection), 'Back-channel logout address')}
      ${
        connection.signsOut
          ? html`<p>
                People who sign out here are sent to the provider to sign out there as well. Allow
                this address there as a post-logout redirect address.
              </p>
              ${copyable(signedOutUrlOf(baseUrl, connection), 'Post-logout redirect address')}`
          : html`<p class="hint">Signing out here does not sign people out at the provider.</p>`
      }`
  }

  function activation(visit: OfOne, { state, name }: Connection): Html {
    switch (state) {
      case 'draft':
        return html`<p>Complete a test sign-in with these settings first.</p>`
      case 'tested':
        return html`<p>People will see the button “Continue with ${name}”.</p>
          ${form(visit, { action: `${at(visit)}/activate`, submit: 'Activate' })}`
      case 'active':
        return html`${notice('success', `People see the button “Continue with ${name}”.`)}
        ${form(visit, { action: `${at(visit)}/deactivate`, submit: 'Deactivate', look: 'quiet' })}`
    }
  }

  async function showEdit(visit: OfOne, attempt?: Attempt): Promise<View> {
    const connection = await found(visit)
    return {
      ...VIEW,
      title: `Edit ${connection.name}`,
      intro:
        'With another issuer, client or domain it leaves the sign-in page until it is tested again.',
      content: formCard(visit, {
        action: `${at(visit)}/edit`,
        submit: 'Save',
        cancel: at(visit),
        attempt,
        content: connectionFields(connection.preset, attempt, connection),
      }),
      calls: [{ method: 'PATCH', path: apiOf(at(visit)), body: { name: connection.name } }],
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => showAll(visit)),
    page({ path: `${PATH}/new`, ...CHANGES, query: { preset: chosen(CLIENT_PRESETS) } }, (visit) =>
      showNew(visit, visit.query.preset ?? 'oidc'),
    ),
    action(
      { path: `${PATH}/new`, ...CHANGES, form: NEW_FORM, body: NewFormBody, isOnce: true },
      async (visit, body) => {
        const { tenantId } = visit.tenant
        const made = await connections.create(tenantId, fromOutside(body), visit.actor)
        return done(`${all(visit)}/${made.connectionId}`, 'Connection created as a draft.')
      },
      (visit, attempt) => {
        const sent = attempt?.values.get('preset')
        const preset = CLIENT_PRESETS.find((one) => one === sent) ?? 'oidc'
        return showNew(visit, preset, attempt)
      },
    ),
    ...samlRoutes(world),
    page({ path: ONE, role: 'tenant' }, (visit) => showOne(visit)),
    page({ path: `${ONE}/edit`, ...CHANGES }, (visit) => showEdit(visit)),
    action(
      { path: `${ONE}/edit`, ...CHANGES, form: EDIT_FORM, body: EditFormBody },
      async (visit, body) => {
        const { tenant, path, actor } = visit
        await connections.patch(tenant.tenantId, path.connection_id, fromOutside(body), actor)
        return done(at(visit), 'Saved.')
      },
      showEdit,
    ),
    action({ path: `${ONE}/activate`, ...CHANGES }, async (visit) => {
      await connections.activate(visit.tenant.tenantId, visit.path.connection_id, visit.actor)
      return done(at(visit), 'Connection activated.')
    }),
    action({ path: `${ONE}/deactivate`, ...CHANGES }, async (visit) => {
      await connections.deactivate(visit.tenant.tenantId, visit.path.connection_id, visit.actor)
      return done(at(visit), 'Connection deactivated.')
    }),
    ...asking(
      { ...CHANGES, ...VIEW, path: `${ONE}/delete` },
      async (visit) => ({
        title: `Delete ${(await found(visit)).name}?`,
        effects: [
          'Nobody can sign in with it anymore. Existing sessions continue.',
          'Accounts stay. People without a password need a new way in.',
        ],
        submit: 'Delete connection',
        cancel: at(visit),
        calls: [{ method: 'DELETE', path: apiOf(at(visit)) }],
      }),
      async (visit) => {
        await connections.remove(visit.tenant.tenantId, visit.path.connection_id, visit.actor)
        return done(all(visit), 'Connection deleted.')
      },
    ),
  ]
}

const apiOf = (path: string): string => path.replace(/^\/console/, '/api/v1/operator')

const STATES = {
  draft: ['Draft', 'warm'],
  tested: ['Tested', 'plain'],
  active: ['Active', 'good'],
} as const

const stateBadge = ({ state }: Connection): Html => badge(STATES[state][0], STATES[state][1])

const choices = (at: string): Html =>
  html`<div class="submit">
    ${CLIENT_PRESETS.map((preset) =>
      linkButton(`${at}/new?preset=${preset}`, GUIDANCE[preset].label, 'quiet'),
    )}
    ${linkButton(`${at}/saml/new`, GUIDANCE.saml.label, 'quiet')}
  </div>`
