import { html } from 'hono/html'
import { CHECK, INFO, WARNING } from '../../../pages/icons.ts'
import type { Html } from '../../../pages/html.ts'

const ICONS = { problem: WARNING, success: CHECK, info: INFO } as const

/**
 * A sentence in a box of its own. Only a problem interrupts who listens to the page; its id is
 * what the fields that it speaks of point at.
 */
export function notice(kind: keyof typeof ICONS, text: string, id = 'notice'): Html {
  const role = kind === 'problem' ? 'alert' : 'status'
  return html`<div class="notice ${kind}" role="${role}" id="${id}">
    ${ICONS[kind]}<span>${text}</span>
  </div>`
}
