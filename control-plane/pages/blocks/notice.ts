import { html } from 'hono/html'
import type { Html } from '../html.ts'
import { CHECK, INFO, WARNING } from '../icons.ts'

const ICONS = { problem: WARNING, success: CHECK, info: INFO } as const

/**
 * A sentence in a box of its own. Only a problem interrupts who listens to the page; by the id
 * fields point at it that it speaks of.
 */
export function notice(
  kind: keyof typeof ICONS,
  text: string | Html,
  more?: Html,
  id?: string,
): Html {
  const role = kind === 'problem' ? 'alert' : 'status'
  return html`<div class="notice ${kind}" role="${role}" ${id === undefined ? '' : html`id="${id}"`}>
    ${ICONS[kind]}
    <div><p>${text}</p>${more ?? ''}</div>
  </div>`
}
