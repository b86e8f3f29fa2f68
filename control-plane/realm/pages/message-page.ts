import { html } from 'hono/html'
import { linkButton } from '../../pages/blocks/form.ts'
import { page, type Page, type Place } from './layout.ts'
import type { MessageText } from './texts/english.ts'

interface MessageView {
  readonly place: Place
  readonly text: MessageText
  /** Where the person can go on from here. */
  readonly link?: { readonly href: string; readonly label: string } | undefined
  /** For support: a code and a sentence that the person can quote. */
  readonly details?: readonly string[] | undefined
}

export function messagePage({ place, text, link, details = [] }: MessageView): Page {
  const [step, ...more] = text.steps
  return page({
    place,
    title: text.title,
    intro: text.intro,
    content: html`
      ${
        more.length === 0
          ? html`<p>${step}</p>`
          : html`<ul class="steps">
            ${text.steps.map((line) => html`<li>${line}</li>`)}
          </ul>`
      }
      ${link === undefined ? '' : linkButton(link.href, link.label)}
      ${
        details.length === 0
          ? ''
          : html`<details>
            <summary>${place.texts.details}</summary>
            ${details.map((line) => html`<code>${line}</code>`)}
          </details>`
      }
    `,
  })
}
