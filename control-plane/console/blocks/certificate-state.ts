/** How a hostname stands with its certificate: what it is, what keeps it from being better, and what to add in DNS. */
import { html } from 'hono/html'
import { DAY_MS } from '../../../shared/clock.ts'
import type { Html } from '../../pages/html.ts'
import type { HostnameCertificate } from '../../tenants/certificates.ts'
import { badge, card, copyable, moment } from './text.ts'

/** Time enough to get another one. */
const ENDS_SOON_MS = 14 * DAY_MS

/** `tryNow`: for who may ask for the next attempt. */
export function certificateState(
  { hostname, certificate, order, source }: Omit<HostnameCertificate, 'dnsRecords'>,
  nowMs: number,
  tryNow?: (hostname: string) => Html,
): Html {
  const problem = order?.problem ?? null
  const next =
    order !== null && order.state === 'waiting' && problem !== null
      ? html` Next attempt: ${moment(order.nextAttemptAt)}. ${tryNow?.(hostname) ?? ''}`
      : ''
  const wildcard = order?.state === 'issued' ? order.wildcard : null
  const covered = wildcard === null ? '' : html` <span class="host">${wildcard}</span>`
  const said =
    source === 'file' && certificate === null
      ? html`<div class="hint">The file of control_plane.tls_certificate cannot be read as a certificate. The log says why.</div>`
      : problem === null
        ? ''
        : html`<div class="hint">${problem}${next}</div>`
  return html`<div>${certificateBadge(certificate, order, nowMs)}${covered} ${daysLeft(certificate, nowMs)} ${said}</div>`
}

function daysLeft(certificate: HostnameCertificate['certificate'], nowMs: number): Html | '' {
  if (certificate === null) return ''
  const days = Math.floor((Date.parse(certificate.notAfter) - nowMs) / DAY_MS)
  if (days < 0) return ''
  return html`<span class="hint">${days === 1 ? '1 day' : `${days} days`} left</span>`
}

function certificateBadge(
  certificate: HostnameCertificate['certificate'],
  order: HostnameCertificate['order'],
  nowMs: number,
): Html {
  if (certificate === null) {
    if (order === null) return badge('None')
    return order.failures > 0 ? badge('Failed', 'bad') : badge('In progress')
  }
  const leftMs = Date.parse(certificate.notAfter) - nowMs
  if (leftMs <= 0) return badge('Expired', 'bad')
  if (order !== null && order.failures > 0) return badge('Renewal failed', 'warm')
  // one that renews itself may have a short life, and has time until it fails
  const isEnding = order === null && leftMs < ENDS_SOON_MS
  return isEnding ? badge('Expires soon', 'warm') : badge('Valid', 'good')
}

/** Where nothing can be proven by DNS, or nothing is ordered, there is nothing to add. */
export function dnsRecordsCard(
  states: readonly Pick<HostnameCertificate, 'dnsRecords'>[],
): Html | '' {
  const all = states.flatMap(({ dnsRecords }) => dnsRecords)
  // several hostnames below one name have its record in common
  const byName = new Map(all.map((record) => [record.name, record]))
  if (byName.size === 0) return ''
  const records = [...byName.values()].toSorted(
    (one, other) => Number(other.covers.startsWith('*')) - Number(one.covers.startsWith('*')),
  )
  return card(
    'Certificates by DNS',
    html`<p>For a wildcard certificate, or a hostname that cannot be reached on port 80, add its
        CNAME record once and leave it there. Renewals need nothing more.</p>
      <details>
        <summary>CNAME records</summary>
        ${records.map(
          ({ name, target, covers }) =>
            html`<h3><span class="host">${covers}</span></h3>
              <p><code class="host">${name}</code> points to</p>
              ${copyable(target, `Where ${name} points to`)}`,
        )}
      </details>`,
    'dns',
  )
}
