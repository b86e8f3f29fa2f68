import { html } from 'hono/html'
import type { Html } from '../../../pages/html.ts'
import type { Texts } from '../texts/english.ts'

/** A time in the reader's language. Without JavaScript nobody knows where they are, so in UTC. */
export function moment({ language }: Pick<Texts, 'language'>, atMs: number): Html {
  const written = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  }).format(atMs)
  return html`<time datetime="${new Date(atMs).toISOString()}">${written} UTC</time>`
}
