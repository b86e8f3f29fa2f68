import { html, raw } from 'hono/html'
import { STYLE_ELEMENT } from './style.ts'
import type { Texts } from './texts/english.ts'

export type Html = ReturnType<typeof html>

/** Where a page is shown: whose it is, and in which language it speaks. */
export interface Place {
  readonly texts: Texts
  /** The tenant's name; undefined where no tenant is known. */
  readonly name?: string | undefined
  /** The host of the service, so that people can compare it with their address bar. */
  readonly host: string
}

/** A whole page, and what the answer that carries it must say about it. */
export interface Page {
  readonly html: Html
  readonly language: string
}

export interface PageView {
  readonly place: Place
  /** What the page is for; the tenant's name is added to it in the browser's tab. */
  readonly title: string
  readonly heading: string
  readonly intro?: string | undefined
  readonly content: Html
}

export function page({ place, title, heading, intro, content }: PageView): Page {
  const { texts } = place
  const whole = html`<!doctype html>
    <html lang="${texts.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${place.name === undefined ? title : `${title} · ${place.name}`}</title>
        ${raw(STYLE_ELEMENT)}
      </head>
      <body>
        <main>
          <header>
            ${mark(place.name)}
            <h1>${heading}</h1>
            ${intro === undefined ? '' : html`<p>${intro}</p>`}
          </header>
          ${content}
        </main>
        <footer>${LOCK}<span>${texts.secureAt(place.host)}</span></footer>
      </body>
    </html>`
  return { html: whole, language: texts.language }
}

/** The first letter of the tenant's name, or a key where there is no name. */
function mark(name: string | undefined): Html {
  const [first] = new Intl.Segmenter().segment(name?.trim() ?? '')
  return html`<div class="mark" aria-hidden="true">${first?.segment.toUpperCase() ?? KEY}</div>`
}

export function alert(id: string, text: string): Html {
  return html`<div class="alert" role="alert" id="${id}">${WARNING}<span>${text}</span></div>`
}

const LOCK = raw(
  '<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true"><rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/></svg>',
)
const KEY = raw(
  '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round"><circle cx="8" cy="15" r="4"/><path d="m11 12 8.5-8.5M16 7l3 3"/></svg>',
)
const WARNING = raw(
  '<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" aria-hidden="true"><circle cx="10" cy="10" r="8"/><path d="M10 6v4.5M10 13.75v.01"/></svg>',
)
