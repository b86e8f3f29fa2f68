import { html, raw } from 'hono/html'
import type { Html } from '../../../pages/html.ts'

/** What a person has to keep: each on a line of its own, easy to select, to copy and to print. */
export function secretBlock(label: string, lines: readonly string[]): Html {
  return html`<ul class="secret${lines.length > 3 ? ' pairs' : ''}" aria-label="${label}">
    ${lines.map((line) => html`<li><code>${line}</code></li>`)}
  </ul>`
}

/** On white in dark mode as well, or cameras do not see it. `svg` is our own, never a person's. */
export function qrCode(label: string, svg: string): Html {
  return html`<div class="qr" role="img" aria-label="${label}">${raw(svg)}</div>`
}
