import { html } from 'hono/html'
import type { Html } from '../../pages/html.ts'

interface Tab {
  readonly label: string
  readonly href: string
  readonly isHere?: boolean
}

/** One of several, each at an address of its own: links, so they need no script. */
export function tabs(label: string, items: readonly Tab[]): Html {
  return html`<nav class="tabs" aria-label="${label}">
    ${items.map(
      ({ label: text, href, isHere = false }) =>
        html`<a href="${href}" ${isHere ? html`aria-current="true"` : ''}>${text}</a>`,
    )}
  </nav>`
}
