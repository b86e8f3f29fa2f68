import { html } from 'hono/html'
import { hiddenFields } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'

export interface Item {
  readonly title: string
  /** A word beside the title: «this device». */
  readonly badge?: string | undefined
  readonly facts: readonly (string | Html)[]
  /** The one thing that can be done with it. */
  readonly button?:
    | {
        readonly action: string
        readonly label: string
        readonly hidden?: Readonly<Record<string, string>>
      }
    | undefined
  /** The same as a way to another page. */
  readonly link?: { readonly href: string; readonly label: string } | undefined
}

/** `name` tells one list from another on the same page; `empty` is what an empty one says. */
export function itemList(name: string, items: readonly Item[], empty: string): Html {
  if (items.length === 0) return html`<p class="empty">${empty}</p>`
  return html`<ul class="items">
    ${items.map((item, index) => row(item, `${name}-${index}`))}
  </ul>`
}

/** Ten buttons that say «End» tell nothing apart: each is named together with its item. */
function row({ title, badge, facts, button, link }: Item, id: string): Html {
  return html`<li>
    <div>
      <strong id="${id}">${title}</strong>
      ${badge === undefined ? '' : html`<span class="badge">${badge}</span>`}
      ${facts.map((fact) => html`<span class="fact">${fact}</span>`)}
    </div>
    ${
      button === undefined
        ? ''
        : html`<form method="post" action="${button.action}">
          ${hiddenFields(button.hidden ?? {})}
          <button type="submit" class="small" id="${id}-do" aria-labelledby="${id}-do ${id}">
            ${button.label}
          </button>
        </form>`
    }
    ${
      link === undefined
        ? ''
        : html`<a
          class="button small"
          href="${link.href}"
          id="${id}-go"
          aria-labelledby="${id}-go ${id}"
          >${link.label}</a>`
    }
  </li>`
}
