import { html } from 'hono/html'
import { CHECK, INFO, WARNING } from '../../pages/icons.ts'
import type { Html } from '../../pages/html.ts'

const ICONS = { problem: WARNING, success: CHECK, info: INFO } as const

/** A sentence in a box of its own. Only a problem interrupts who listens to the page. */
export function notice(kind: keyof typeof ICONS, text: string | Html, more?: Html): Html {
  return html`<div class="notice ${kind}" role="${kind === 'problem' ? 'alert' : 'status'}">
    ${ICONS[kind]}
    <div><p>${text}</p>${more ?? ''}</div>
  </div>`
}
