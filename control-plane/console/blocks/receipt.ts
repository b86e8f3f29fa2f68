/**
 * What a form has come to, and how far the change has got. The script follows it; without one the
 * page says where it was when the page was made, and a link looks again.
 */
import { html } from 'hono/html'
import { CHECK, WARNING } from '../../pages/icons.ts'
import type { Html } from '../../pages/html.ts'
import type { ReceiptState } from '../receipts.ts'

export interface Happened {
  readonly said: string
  readonly receipt: ReceiptState | undefined
  /** Where the receipt goes on, for the script; and where it can be looked at again. */
  readonly followUrl: string
  readonly againUrl: string
}

const TONES: Readonly<Record<ReceiptState['kind'], string>> = {
  live: 'success',
  quiet: 'success',
  waiting: 'info',
  rejected: 'problem',
}

export function receiptBlock({ said, receipt, followUrl, againUrl }: Happened): Html {
  const kind = receipt?.kind ?? 'quiet'
  const isOpen = kind === 'waiting'
  return html`<div
    class="notice receipt ${TONES[kind]}"
    role="status"
    ${isOpen ? html`data-receipt="${followUrl}"` : ''}
  >
    ${kind === 'rejected' ? WARNING : CHECK}
    <div>
      <p>${said} <span data-sentence>${receipt?.sentence ?? ''}</span></p>
      <ul data-lines>${(receipt?.lines ?? []).map((line) => html`<li>${line}</li>`)}</ul>
      ${isOpen ? html`<p data-again><a href="${againUrl}">Refresh</a></p>` : ''}
    </div>
  </div>`
}
