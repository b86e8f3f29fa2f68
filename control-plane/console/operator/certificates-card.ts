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
  const tryNow = (hostname: string) =>
    form(visit, {
      action: orderPath,
      submit: 'Try now',
      look: 'small',
      about: hostname,
      hidden: { hostname },
    })
  const isOrdered = states.some(({ order }) => order !== null)
  const advice = html`Set <code>control_plane.acme</code> to have them ordered and renewed.`
  const content = html`${table({
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
    empty: html`<p>This tenant has no hostnames.</p>`,
  })}
    <p class="hint">
      Upload certificates by API:
      <code>PUT …/certificates/{hostname}</code>. ${isOrdered ? '' : advice} Without a certificate, gateways serve the hostname without TLS.
    </p>`
  return html`${card('Certificates', content)} ${dnsRecordsCard(states)}`
}

const SOURCES = { uploaded: 'Uploaded', ordered: 'Ordered' } as const
