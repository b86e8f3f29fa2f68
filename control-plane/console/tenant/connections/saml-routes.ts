/** SAML connections: what is their own on the pages that all connections have. */
import { html } from 'hono/html'
import { DAY_MS } from '../../../../shared/clock.ts'
import { acsUrlOf, entityIdOf } from '../../../connections/addresses.ts'
import type { SamlConnection } from '../../../connections/saml/saml-connections.ts'
import { notice } from '../../../pages/blocks/notice.ts'
import type { Attempt } from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import { fromOutside } from '../../../requests/field-names.ts'
import { form, formCard } from '../../blocks/form.ts'
import { table } from '../../blocks/table.ts'
import { badge, card, copyable, facts, moment } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { groupsText } from './group-lines.ts'
import { metadataIn, SAML_FORM, samlFields, SamlFormBody } from './saml-form.ts'
import { samlPlaces, samlSteps } from './saml-guidance.ts'

const PATH = `${TENANT_PATH}/connections` as const
const NEW = `${PATH}/saml/new` as const
const ONE = `${PATH}/{connection_id}/saml` as const
const VIEW = { here: 'connections' } as const
const CHANGES = { role: 'tenant', needsFreshSignIn: true } as const
const ENDS_SOON_MS = 30 * DAY_MS

type OfOne = TenantVisit & { readonly path: { readonly connection_id: string } }

const allAt = ({ tenant }: TenantVisit) => tenantPath(tenant.tenantId, 'connections')
const oneAt = (visit: OfOne) => `${allAt(visit)}/${visit.path.connection_id}`
const apiOf = (path: string): string => path.replace(/^\/console/, '/api/v1/operator')

export function samlRoutes({ samlConnections }: ConsoleWorld): readonly ConsoleRoute[] {
  const found = ({ tenant, path }: OfOne) =>
    samlConnections.get(tenant.tenantId, path.connection_id)

  function showNew(visit: TenantVisit, attempt?: Attempt): View {
    return {
      ...VIEW,
      title: 'Connect by SAML',
      intro: 'Created as a draft. Nothing changes for people until you activate it.',
      content: html`${card('At the provider', samlSteps())}
      ${formCard(visit, {
        action: `${allAt(visit)}/saml/new`,
        submit: 'Create connection',
        cancel: allAt(visit),
        attempt,
        isUpload: true,
        content: samlFields(attempt),
      })}`,
      calls: [
        {
          method: 'POST',
          path: apiOf(allAt(visit)).replace(/connections$/, 'saml-connections'),
          body: { name: 'Acme', metadata_url: 'https://id.acme.example/saml/metadata' },
        },
      ],
    }
  }

  async function showEdit(visit: OfOne, attempt?: Attempt): Promise<View> {
    const connection = await found(visit)
    return {
      ...VIEW,
      title: `Edit ${connection.name}`,
      intro:
        'With another provider or identifying attribute it leaves the sign-in page until it is tested again. New certificates beside a known one change nothing for people.',
      content: formCard(visit, {
        action: `${oneAt(visit)}/saml`,
        submit: 'Save',
        cancel: oneAt(visit),
        attempt,
        isUpload: true,
        content: samlFields(attempt, connection),
      }),
      calls: [
        { method: 'PATCH', path: `${apiOf(oneAt(visit))}/saml`, body: { name: connection.name } },
      ],
    }
  }

  return [
    page({ path: NEW, ...CHANGES }, (visit) => showNew(visit)),
    action(
      { path: NEW, ...CHANGES, form: SAML_FORM, body: SamlFormBody, isOnce: true },
      async (visit, body) => {
        const { file: _file, ...rest } = body
        const whole = { ...rest, ...metadataIn(body) }
        const { tenantId } = visit.tenant
        const made = await samlConnections.create(tenantId, fromOutside(whole), visit.actor)
        return done(`${allAt(visit)}/${made.connectionId}`, 'Connection created as a draft.')
      },
      showNew,
    ),
    page({ path: ONE, ...CHANGES }, (visit) => showEdit(visit)),
    action(
      { path: ONE, ...CHANGES, form: SAML_FORM, body: SamlFormBody },
      async (visit, body) => {
        const { tenant, path, actor } = visit
        const { file: _file, metadata: _metadata, metadata_url: _url, ...rest } = body
        const patch = { ...rest, ...metadataIn(body, await found(visit)) }
        await samlConnections.patch(tenant.tenantId, path.connection_id, fromOutside(patch), actor)
        return done(oneAt(visit), 'Saved.')
      },
      showEdit,
    ),
    action({ path: `${ONE}/refresh`, ...CHANGES }, async (visit) => {
      const { tenant, path, actor } = visit
      await samlConnections.refresh(tenant.tenantId, path.connection_id, actor)
      return done(oneAt(visit), 'Metadata is up to date.')
    }),
  ]
}

/** What the page of a connection shows of it: what goes to the provider, and what came from there. */
export async function samlCards(
  { samlConnections, baseUrl, clock }: ConsoleWorld,
  visit: OfOne,
): Promise<{ readonly addresses: Html; readonly details: Html }> {
  const saml = await samlConnections.get(visit.tenant.tenantId, visit.path.connection_id)
  const addresses = card(
    '1. At the provider',
    html`<p>Enter both addresses there, exactly as they are. Providers that read metadata find them at the entity ID.</p>
      <p>Entity ID</p>
      ${copyable(entityIdOf(baseUrl, saml), 'Entity ID')}
      <p>ACS URL</p>
      ${copyable(acsUrlOf(baseUrl, saml), 'ACS URL')} ${samlPlaces()}`,
  )
  const nowMs = clock.nowMs()
  const details = html`${card(
    'Certificates',
    html`<p>A response counts if any of these has signed it. During a rollover there are two.</p>
      ${table({
        caption: 'Certificates',
        empty: html``,
        rows: saml.certificates,
        columns: [
          {
            label: 'SHA-256 fingerprint',
            isName: true,
            cell: ({ fingerprint }) => html`<code>${fingerprint}</code>`,
          },
          {
            label: 'Ends',
            cell: ({ endsAt }) => html`${moment(endsAt)} ${endBadge(endsAt, nowMs)}`,
          },
        ],
      })}
      ${metadataState(visit, saml)}`,
  )}
  ${card(
    'Details',
    facts([
      ['Provider', html`<code>${saml.issuer}</code>`],
      ['Sign-in address', html`<code>${saml.ssoUrl}</code>`],
      ['People are identified by', saml.subjectAttribute ?? 'a persistent NameID'],
      ['Email', saml.emailAttribute ?? 'the usual attributes'],
      ['Name', saml.nameAttribute ?? 'the usual attributes'],
      ['Groups', groupsText(saml.groupsAttribute, saml.groups)],
      ['New people', saml.createsPeople ? 'get an account' : 'need an account first'],
      ['Second factor', saml.mfaValues.join(', ') || 'never taken from the provider'],
      ['Requests', saml.signsRequests ? 'signed' : 'not signed'],
      ['Last tested', moment(saml.testedAt)],
    ]),
  )}`
  return { addresses, details }
}

function metadataState(visit: OfOne, { metadataUrl, metadataAt, metadataProblem }: SamlConnection) {
  if (metadataUrl === null)
    return html`<p>
      The metadata was uploaded ${moment(metadataAt)}. When the provider changes its certificate,
      upload it again while both are in it.
    </p>`
  return html`${
    metadataProblem === null
      ? ''
      : notice(
          'problem',
          `The newest metadata could not be read: ${metadataProblem}. The certificates above still count.`,
        )
  }
    <p>Read from <code>${metadataUrl}</code> ${moment(metadataAt)}, and again every day.</p>
    ${form(visit, { action: `${oneAt(visit)}/saml/refresh`, submit: 'Read now', look: 'quiet' })}`
}

function endBadge(endsAt: number, nowMs: number): Html | string {
  if (endsAt <= nowMs) return badge('Ended', 'bad')
  return endsAt <= nowMs + ENDS_SOON_MS ? badge('Ends soon', 'warm') : ''
}
