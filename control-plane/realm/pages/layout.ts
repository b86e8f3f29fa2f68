/** The frame of every page: whose it is, what it is for, and what the browser must let it do. */
import { html, raw } from 'hono/html'
import { brandStyle, type Brand } from './brand.ts'
import { notice } from '../../pages/blocks/notice.ts'
import type { Html } from '../../pages/html.ts'
import { KEY, LOCK } from '../../pages/icons.ts'
import { STYLE_ELEMENT } from './style.ts'
import type { Texts } from './texts/english.ts'

/** Where a page is shown: whose it is, and in which language it speaks. */
export interface Place {
  readonly texts: Texts
  /** The tenant's name; undefined where no tenant is known. */
  readonly name?: string | undefined
  readonly brand?: Brand | undefined
  /** The host of the service, so that people can compare it with their address bar. */
  readonly host: string
  /** Of the one script that the realm has. */
  readonly scriptUrl?: string | undefined
}

/** What a page with a form is made of. */
export interface Asked {
  readonly place: Place
  readonly action: string
  readonly problem?: string | undefined
}

/** A whole page, and what the answer that carries it must say about it. */
export interface Page {
  readonly html: Html
  readonly language: string
  readonly needs: PageNeeds
}

/** What the policy of this one page allows beside the style sheet that all share. */
export interface PageNeeds {
  readonly styleSource?: string | undefined
  readonly imageUrl?: string | undefined
  readonly scriptUrl?: string | undefined
  /** What its script asks. */
  readonly connectUrl?: string | undefined
}

export interface PageView {
  readonly place: Place
  /** What the page is for; the tenant's name is added to it in the browser's tab. */
  readonly title: string
  /** Where it is not the title. */
  readonly heading?: string | undefined
  readonly intro?: string | undefined
  readonly content: Html
  /** What has to be put right first: said in the title as well, which is what is read out first. */
  readonly problem?: string | undefined
  /** For lists: more room at a desk. */
  readonly isWide?: boolean
  /** One script of our own, by its whole address. Only where the browser can do it no other way. */
  readonly scriptUrl?: string | undefined
  readonly connectUrl?: string | undefined
}

export function page(view: PageView): Page {
  const { place, heading = view.title, intro, content, problem, isWide = false, scriptUrl } = view
  const { texts, name, brand } = place
  const title = problem === undefined ? view.title : texts.problem(view.title)
  const colours = brand?.colour === undefined ? undefined : brandStyle(brand.colour)
  const whole = html`<!doctype html>
    <html lang="${texts.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>${name === undefined ? title : `${title} · ${name}`}</title>
        ${raw(STYLE_ELEMENT)}${raw(colours?.element ?? '')}
        ${scriptUrl === undefined ? '' : html`<script src="${scriptUrl}" defer></script>`}
      </head>
      <body>
        <main${isWide ? raw(' class="wide"') : ''}>
          <header>
            ${mark(place)}
            <h1>${heading}</h1>
            ${intro === undefined ? '' : html`<p>${intro}</p>`}
          </header>
          ${problem === undefined ? '' : notice('problem', problem, undefined, 'problem')} ${content}
        </main>
        <footer>${LOCK}<span>${texts.secureAt(place.host)}</span></footer>
      </body>
    </html>`
  return {
    html: whole,
    language: texts.language,
    needs: {
      styleSource: colours?.source,
      imageUrl: brand?.logoUrl,
      scriptUrl,
      connectUrl: view.connectUrl,
    },
  }
}

/** Made once: it takes as long as all else of a page. */
const SEGMENTER = new Intl.Segmenter()

/** The tenant's logo, or the first letter of its name, or a key where there is no name. */
function mark({ name, brand }: Place): Html {
  if (brand?.logoUrl !== undefined)
    return html`<img class="logo" src="${brand.logoUrl}" alt="${name ?? ''}" />`
  const [first] = SEGMENTER.segment(name?.trim() ?? '')
  return html`<div class="mark" aria-hidden="true">${first?.segment.toUpperCase() ?? KEY}</div>`
}
