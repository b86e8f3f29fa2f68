/** How each hostname of a tenant stands with its certificate, and what to change. */
import { html } from 'hono/html'
import * as v from 'valibot'
import type { HostnameCertificate } from '../../tenants/certificates.ts'
import { certificateState, dnsRecordsCard } from '../blocks/certificate-state.ts'
import { form } from '../blocks/form.ts'
import { table } from '../blocks/table.ts'
import { card, moment } from '../blocks/text.ts'
import type { Html } from '../../pages/html.ts'
import type { ViewerVisit } from '../route.ts'

/** For which hostname is looked up among the tenant's own. */
export const OrderBody = v.strictObject({ hostname: v.pipe(v.string(), v.maxLength(253)) })

/** One row for each hostname, with or without. */
export function certificatesCard(
  visit: ViewerVisit,
  orderPath: string,
  states: readonly HostnameCertificate[],
): Html {
  const isOrdered = states.some(({ order }) => order !== null)
  const advice = html`Set <code>control_plane.acme</code> to have them ordered and renewed.`
  const content = html`${certificatesTable(visit, orderPath, states, html`<p>This tenant has no hostnames.</p>`)}
    <p class="hint">
      Upload certificates by API:
      <code>PUT …/certificates/{hostname}</code>. ${isOrdered ? '' : advice} Without a certificate, gateways serve the hostname without TLS.
    </p>`
  return html`${card('Certificates', content)} ${dnsRecordsCard(states)}`
}

function certificatesTable(
  visit: ViewerVisit,
  orderPath: string,
  states: readonly HostnameCertificate[],
  empty: Html,
): Html {
  const tryNow = (hostname: string) =>
    form(visit, {
      action: orderPath,
      submit: 'Try now',
      look: 'small',
      about: hostname,
      hidden: { hostname },
    })
  return table({
    caption: 'Certificates',
    rows: states,
    columns: [
      {
        label: 'Hostname',
        isName: true,
        cell: ({ hostname }) => html`<span class="host">${hostname}</span>`,
      },
      { label: 'State', cell: (one) => certificateState(one, visit.nowMs, tryNow) },
      { label: 'Source', cell: ({ source }) => (source === null ? null : SOURCES[source]) },
      {
        label: 'Valid until',
        cell: ({ certificate }) =>
          certificate === null ? null : moment(Date.parse(certificate.notAfter)),
      },
      {
        label: 'SHA-256',
        cell: ({ certificate }) =>
          certificate === null
            ? null
            : html`<code>${certificate.fingerprintSha256.slice(0, 16)}…</code>`,
      },
    ],
    empty,
  })
}

const SOURCES = { uploaded: 'Uploaded', ordered: 'Ordered', file: 'File' } as const

/** Certificates that are told by their keys: who comes has been given the fingerprint, and no authority is asked. */
export interface KnownByKey {
  readonly address: string
  readonly what: string
  readonly fingerprint: string
}

/** Of the service itself: what stands in base_url, wildcards for tenants, and where gateways and connectors dial. */
export function ownCertificatesCard(
  visit: ViewerVisit,
  orderPath: string,
  own: readonly HostnameCertificate[],
  known: readonly KnownByKey[],
): Html {
  const content = html`${certificatesTable(visit, orderPath, own, OWN_EMPTY)}
    <h3>Known by their keys</h3>
    ${table({
      caption: 'Certificates known by their keys',
      rows: known,
      columns: [
        {
          label: 'Address',
          isName: true,
          cell: ({ address }) => html`<span class="host">${address}</span>`,
        },
        { label: 'Used by', cell: ({ what }) => what },
        {
          label: 'Fingerprint',
          cell: ({ fingerprint }) => html`<code>${fingerprint.slice(0, 16)}…</code>`,
        },
      ],
      empty: html``,
    })}
    <p class="hint">These need no authority and are never renewed: keys of gateways and lists of
      connectors carry their fingerprints.</p>`
  return html`${card('Own certificates', content, 'certificates')} ${dnsRecordsCard(own)}`
}

const OWN_EMPTY = html`<p>None. TLS for base_url ends at a proxy in front. To have it here, set
  <code>control_plane.tls_listen</code>.</p>`
