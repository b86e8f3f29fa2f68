/** Hostnames of a tenant: those that are served, and those that wait for a proof that they are theirs. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { PROOF_PATH, proofOf, proofRecordOf } from '../../hostnames/proof.ts'
import { textField, type Attempt } from '../../pages/blocks/field.ts'
import { linkButton } from '../../pages/blocks/form.ts'
import type { Html } from '../../pages/html.ts'
import type { UnprovenHostname } from '../../hostnames/rechecks.ts'
import type { HostnameClaim } from '../../store/queries/hostname-claims.ts'
import { freshSignInNotice } from '../access/fresh-sign-in.ts'
import { asking } from '../asking.ts'
import { certificateState, dnsRecordsCard } from '../blocks/certificate-state.ts'
import { form } from '../blocks/form.ts'
import { emptyState, table } from '../blocks/table.ts'
import { badge, card, copyable, moment } from '../blocks/text.ts'
import { TENANT_PATH, tenantPath } from '../navigation.ts'
import { action, done, page, type ConsoleRoute, type TenantVisit, type View } from '../route.ts'
import type { ConsoleWorld } from '../world.ts'

const PATH = `${TENANT_PATH}/hostnames` as const
const ONE = `${PATH}/{hostname}` as const
const ClaimBody = v.strictObject({ hostname: v.pipe(v.string(), v.maxLength(300)) })

const at = ({ tenant }: TenantVisit, hostname?: string) =>
  tenantPath(tenant.tenantId, 'hostnames') +
  (hostname === undefined ? '' : `/${encodeURIComponent(hostname)}`)

export function hostnamesRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const { hostnames, rechecks, certificates } = world

  async function show(visit: TenantVisit, attempt?: Attempt): Promise<View> {
    const { tenant } = visit
    const claims = await hostnames.list(tenant.tenantId)
    const unproven = await rechecks.unproven(tenant.tenantId)
    const states = tenant.mode === 'sdk' ? [] : await certificates.states(tenant.tenantId)
    // where a proxy in front ends TLS, there is nothing to say of it
    const isOurs = states.some((one) => one.certificate ?? one.order ?? one.dnsRecords[0])
    const stateOf = new Map(states.map((state) => [state.hostname, state]))
    return {
      title: 'Hostnames',
      here: 'hostnames',
      intro: `Where people reach ${tenant.name}. A hostname you add is served once you have shown that it is yours.`,
      content: html`${freshSignInNotice(visit)} ${unproven.map(unprovenCard)} ${table({
        caption: 'Hostnames',
        rows: tenant.hostnames,
        columns: [
          {
            label: 'Hostname',
            isName: true,
            cell: (name) => html`<span class="host">${name}</span>`,
          },
          ...(!isOurs
            ? []
            : [
                {
                  label: 'Certificate',
                  cell: (name: string) => {
                    const state = stateOf.get(name)
                    return state === undefined ? null : certificateState(state, visit.nowMs)
                  },
                },
              ]),
          {
            label: 'Actions',
            isUnseen: true,
            cell: (name) =>
              visit.proofs.isReadOnly
                ? null
                : linkButton(`${at(visit, name)}/remove`, 'Remove', 'small'),
          },
        ],
        empty: emptyState('No hostnames yet', 'Add the public hostname of your application below.'),
      })}
      ${claims.map((claim) => claimCard(visit, claim))} ${dnsRecordsCard(states)}
      ${visit.proofs.isReadOnly ? '' : card('Add a hostname', addForm(visit, attempt), 'add')}`,
    }
  }

  return [
    page({ path: PATH, role: 'tenant' }, (visit) => show(visit)),
    action(
      {
        path: PATH,
        role: 'tenant',
        form: { hostname: 'text' },
        body: ClaimBody,
        isOnce: true,
        needsFreshSignIn: true,
      },
      async (visit, body) => {
        const { hostname } = await hostnames.claim(
          visit.tenant.tenantId,
          body.hostname,
          visit.actor,
        )
        return done(at(visit), `${hostname} added. Now show that it is yours.`)
      },
      show,
    ),
    action({ path: `${ONE}/check`, role: 'tenant' }, async (visit) => {
      const { tenantId } = visit.tenant
      const { hostname } = visit.path
      const isTheirs = await hostnames.check(tenantId, hostname, visit.actor)
      return isTheirs
        ? done(at(visit), `${hostname} is yours, and served from now on.`, { changed: tenantId })
        : done(at(visit), `No proof found for ${hostname} yet.`)
    }),
    action({ path: `${ONE}/withdraw`, role: 'tenant' }, async (visit) => {
      const { hostname } = visit.path
      await hostnames.withdraw(visit.tenant.tenantId, hostname, visit.actor)
      return done(at(visit), `${hostname} withdrawn.`)
    }),
    ...asking(
      { path: `${ONE}/remove`, role: 'tenant', here: 'hostnames', needsFreshSignIn: true },
      (visit) => ({
        title: `Remove ${visit.path.hostname}?`,
        effects: [
          `The gateways stop serving ${visit.path.hostname}, and its certificate is deleted.`,
          'Another tenant can then add it, with a proof of its own. Remove its DNS records too.',
        ],
        submit: 'Remove',
        cancel: at(visit),
      }),
      async (visit) => {
        const { tenantId } = visit.tenant
        await hostnames.remove(tenantId, visit.path.hostname, visit.actor)
        return done(at(visit), `${visit.path.hostname} removed.`, { changed: tenantId })
      },
    ),
  ]
}

function claimCard(
  visit: TenantVisit,
  { hostname, token, looks, lookedAt, dueAt }: HostnameClaim,
): Html {
  const button = (what: 'check' | 'withdraw', submit: string) =>
    form(visit, {
      action: `${at(visit, hostname)}/${what}`,
      submit,
      about: hostname,
      look: 'small',
    })
  const state =
    looks === 0
      ? html`${badge('Waiting for proof')} First check: ${moment(dueAt)}.`
      : html`${badge('Not proven yet', 'warm')} Checked ${moment(lookedAt)}; next check:
        ${moment(dueAt)}. Neither the record nor the file below was found. A new DNS record can take
        some minutes until it is seen everywhere; check its name and value, then check again.`
  return card(
    hostname,
    html`<p>${state}</p>
      <p>Add <strong>one</strong> of these. A TXT record named <code>${proofRecordOf(hostname)}</code>, or a
        text file at <code>http://${hostname}${PROOF_PATH}</code>, with this content:</p>
      ${copyable(proofOf(token), `Proof for ${hostname}`)}
      <p class="hint">The file must be answered on port 80 with status 200, without a redirect. Once
        the hostname is proven, point it to the gateways. Keep the record: it is checked daily, and a
        hostname whose record is missing for two weeks is not served any more. The file can go.</p>
      <div class="buttons">${button('check', 'Check now')} ${button('withdraw', 'Withdraw')}</div>`,
  )
}

function unprovenCard({ hostname, token, missingSince, stopsAt }: UnprovenHostname): Html {
  return card(
    `${hostname}: TXT record missing`,
    html`<p>${badge('Proof missing', 'warm')} Missing since ${moment(missingSince)}. If it stays away,
        ${hostname} is not served any more from ${moment(stopsAt)} on. Restore the TXT record
        <code>${proofRecordOf(hostname)}</code> with this content:</p>
      ${copyable(proofOf(token), `Proof for ${hostname}`)}`,
  )
}

const addForm = (visit: TenantVisit, attempt: Attempt | undefined) =>
  form(visit, {
    action: at(visit),
    submit: 'Add hostname',
    attempt,
    content: textField({
      name: 'hostname',
      label: 'Hostname',
      hint: 'Like www.example.com. It must not be used by another tenant.',
      attempt,
    }),
  })
