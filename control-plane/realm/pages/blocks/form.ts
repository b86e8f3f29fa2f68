import { html } from 'hono/html'
import { hiddenFields } from '../../../pages/blocks/form.ts'
import type { Html } from '../../../pages/html.ts'

export interface FormView {
  readonly action: string
  /** What the one button says. */
  readonly submit: string
  readonly content?: Html | readonly Html[]
  /** Sent along as they are. */
  readonly hidden?: Readonly<Record<string, string>>
  /** For what a person might rather not do: the button is an outline. */
  readonly isQuiet?: boolean
  /** Another way to go on with what was typed: the form says by its name that it was chosen. */
  readonly other?: { readonly name: string; readonly label: string } | undefined
}

export function form({
  action,
  submit,
  content = [],
  hidden = {},
  isQuiet = false,
  other,
}: FormView): Html {
  return html`<form method="post" action="${action}">
    ${hiddenFields(hidden)} ${content}
    <button type="submit" class="button${isQuiet ? ' quiet' : ''}">${submit}</button>
    ${
      other === undefined
        ? ''
        : html`<button type="submit" class="button quiet" name="${other.name}" value="1" formnovalidate>${other.label}</button>`
    }
  </form>`
}

/** A line below the form: another way to go on. */
export function otherWay(href: string, label: string): Html {
  return html`<p class="other-way"><a href="${href}">${label}</a></p>`
}
