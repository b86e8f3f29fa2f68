import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'

interface FormView {
  readonly action: string
  /** What the one button says. */
  readonly submit: string
  readonly content?: Html | readonly Html[]
  /** Sent along as they are. */
  readonly hidden?: Readonly<Record<string, string>>
  /** For what a person might rather not do: the button is an outline. */
  readonly isQuiet?: boolean
}

export function form({
  action,
  submit,
  content = [],
  hidden = {},
  isQuiet = false,
}: FormView): Html {
  return html`<form method="post" action="${action}">
    ${hiddenFields(hidden)} ${content}
    <button type="submit" class="button${isQuiet ? ' quiet' : ''}">${submit}</button>
  </form>`
}

export function hiddenFields(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
}

/** Looks like a button and goes somewhere. */
export function linkButton(href: string, label: string, { isQuiet = false } = {}): Html {
  return html`<a class="button${isQuiet ? ' quiet' : ''}" href="${href}">${label}</a>`
}

/** A line below the form: another way to go on. */
export function otherWay(href: string, label: string): Html {
  return html`<p class="other-way"><a href="${href}">${label}</a></p>`
}
