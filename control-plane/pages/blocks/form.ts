/** What forms are made of, whatever is around them. */
import { html } from 'hono/html'
import type { Html } from '../html.ts'

/** Sent along as they are. */
export const hiddenFields = (fields: Readonly<Record<string, string>>): Html[] =>
  Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )

/** Looks like a button and goes somewhere. */
export const linkButton = (href: string, label: string, look: 'quiet' | 'small' | '' = ''): Html =>
  html`<a class="button ${look}" href="${href}">${label}</a>`
