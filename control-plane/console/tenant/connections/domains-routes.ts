/** E-mail domains of a connection: whose people it is for, shown by a TXT record. */
import { html } from 'hono/html'
import {
  domainProofOf,
  domainRecordOf,
  type ConnectionDomain,
} from '../../../connections/domains.ts'
import { textField, type Attempt } from '../../../pages/blocks/field.ts'
import { linkButton } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'
import { NewDomainBody } from '../../../requests/domain-fields.ts'
import { freshSignInNotice } from '../../access/fresh-sign-in.ts'
import { asking } from '../../asking.ts'
import { form } from '../../blocks/form.ts'
import { emptyState } from '../../blocks/table.ts'
import { badge, card, copyable, moment } from '../../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'

const PATH = `${TENANT_PATH}/connections/{connection_id}/domains` as const
const ONE = `${PATH}/{domain}` as const
const VIEW = { here: 'connections' } as const
const CHANGES = { role: 'tenant', needsFreshSignIn: true } as const

type OfConnection = TenantVisit & { readonly path: { readonly connection_id: string } }

const connectionAt = ({ tenant, path }: OfConnection) =>
  `${tenantPath(tenant.tenantId, 'connections')}/${path.connection_id}`
const at = (visit: OfConnection, domain?: string) =>
  `${connectionAt(visit)}/domains${domain === undefined ? '' : `/${encodeURIComponent(domain)}`}`
const apiOf = (path: string): string => path.replace(/^\/console/, '/api/v1/operator')

export function domainsRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { connections, connectionDomains } = world

  async function show(visit: OfConnection, attempt?: Attempt): Promise<View> {
    const { tenant, path, proofs } = visit
    const { connectionId, name } = await connections.get(tenant.tenantId, path.connection_id)
    const domains = await connectionDomains.list(tenant.tenantId, connectionId)
    return {
      ...VIEW,
      title: `Domains of ${name}`,
      intro:
        'People who enter an email address of a proven domain on the sign-in page go straight to this provider, and people you have invited need no password to come in by it.',
      buttons: [linkButton(connectionAt(visit), 'Back to the connection', 'quiet')],
      content: html`${freshSignInNotice(visit)}
      ${
        domains.length === 0
          ? emptyState('No domains yet', 'Add what the addresses of your people end in below.')
          : domains.map((one) => domainCard(visit, one))
      }
      ${proofs.isReadOnly ? '' : card('Add a domain', addForm(visit, attempt), 'add')}`,
      calls: [
        { method: 'GET', path: apiOf(at(visit)) },
        { method: 'POST', path: apiOf(at(visit)), body: { domain: 'example.com' } },
      ],
    }
  }

  const ofPath = ({
    tenant,
    path,
  }: OfConnection & { readonly path: { readonly domain: string } }) =>
    [tenant.tenantId, path.connection_id, path.domain] as const

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      { path: PATH, ...CHANGES, form: { domain: 'text' }, body: NewDomainBody, isOnce: true },
      async (visit, body) => {
        const { tenant, path, actor } = visit
        const { domain } = await connectionDomains.add(
          tenant.tenantId,
          path.connection_id,
          body.domain,
          actor,
        )
        return done(at(visit), `${domain} added. Now publish its TXT record.`)
      },
      show,
    ),
    action({ path: `${ONE}/check`, role: 'tenant' }, async (visit) => {
      const isProven = await connectionDomains.check(...ofPath(visit), visit.actor)
      const { domain } = visit.path
      return isProven
        ? done(at(visit), `${domain} is proven.`)
        : done(at(visit), `No TXT record found for ${domain} yet.`)
    }),
    ...asking(
      { ...CHANGES, ...VIEW, path: `${ONE}/remove` },
      (visit) => ({
        title: `Remove ${visit.path.domain}?`,
        effects: [
          'People with such an address are no longer sent straight to the provider.',
          'Whoever signs in with the provider already still can.',
        ],
        submit: 'Remove domain',
        cancel: at(visit),
        calls: [{ method: 'DELETE', path: apiOf(at(visit, visit.path.domain)) }],
      }),
      async (visit) => {
        await connectionDomains.remove(...ofPath(visit), visit.actor)
        return done(at(visit), `${visit.path.domain} removed.`)
      },
    ),
  ]
}

function domainCard(visit: OfConnection, one: ConnectionDomain): Html {
  const { domain, token } = one
  const actions = visit.proofs.isReadOnly
    ? ''
    : html`<div class="buttons">
        ${form(visit, {
          action: `${at(visit, domain)}/check`,
          submit: 'Check now',
          about: domain,
          look: 'small',
        })}
        ${linkButton(`${at(visit, domain)}/remove`, 'Remove', 'small')}
      </div>`
  return card(
    domain,
    html`<p>${stateOf(one)}</p>
      <p>TXT record <code>${domainRecordOf(domain)}</code> with this content:</p>
      ${copyable(domainProofOf(token), `Proof for ${domain}`)}
      <p class="hint">Keep the record: it is checked daily, and a domain whose record is missing for two weeks is not used until the record is back.</p>
      ${actions}`,
  )
}

function stateOf({
  domain,
  provenAt,
  looks,
  lookedAt,
  dueAt,
  missingSince,
  stopsAt,
}: ConnectionDomain) {
  if (provenAt === null)
    return looks === 0
      ? html`${badge('Waiting for proof')} First check: ${moment(dueAt)}.`
      : html`${badge('Not proven yet', 'warm')} Checked ${moment(lookedAt)}; next check:
          ${moment(dueAt)}. A new DNS record can take some minutes until it is seen everywhere; check
          its name and value, then check again.`
  return stopsAt === null
    ? html`${badge('Proven', 'good')} Last checked ${moment(lookedAt)}.`
    : html`${badge('Proof missing', 'warm')} Missing since ${moment(missingSince)}. If it stays away,
        ${domain} is no longer used from ${moment(stopsAt)} on. Restore the record:`
}

const addForm = (visit: OfConnection, attempt: Attempt | undefined) =>
  form(visit, {
    action: at(visit),
    submit: 'Add domain',
    attempt,
    content: textField({
      name: 'domain',
      label: 'Domain',
      hint: 'What email addresses end in, like example.com.',
      charactersMax: 300,
      attempt,
    }),
  })
