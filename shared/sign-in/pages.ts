/**
 * The few pages that the service shows on a tenant's own hostname. No scripts (but one on `/service/me`, which tells
 * times), no foreign content, readable on a phone.
 */
import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { isolateRightToLeft } from '../right-to-left.ts'
import type { Language } from './language.ts'

export type Html = ReturnType<typeof html>

export interface Page {
  readonly language: Language
  readonly title: string
  readonly text: string
  /** A reason code that a person can quote. */
  readonly code: string
  /** Nothing went wrong: the code is for programs alone. */
  readonly isCalm?: boolean
  /** Each line is one way in. */
  readonly needed?: readonly string[]
  readonly action?: { readonly href: string; readonly label: string }
  /** A button that posts to this address instead of a link. */
  readonly form?: { readonly action: string; readonly label: string }
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f2a; --quiet: #596070; --ground: #f4f5f8;
  --card: #fff; --line: #e0e3ea; --accent: #2f4fd8; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef4; --quiet: #a3aabb; --ground: #12141a;
  --card: #1b1e26; --line: #2e323d; --accent: #9db0ff; --on-accent: #10142b } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
main { width: 100%; max-width: 27rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.25rem 2rem }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.3; letter-spacing: -.01em }
p { margin: 0 0 1.5rem; color: var(--quiet) }
dl { margin: 0 0 1.5rem; display: grid; grid-template-columns: auto 1fr; gap: .4rem 1.25rem }
dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0 } dd + dt { margin-top: .6rem } }
a, button { display: inline-block; padding: .7rem 1.25rem; border: 0; border-radius: .6rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600;
  text-decoration: none; cursor: pointer }
a:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
.wide { max-width: 40rem }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.1rem }
h2 + p { margin-bottom: 1rem }
ul + p { margin-top: 1.25rem }
p:has(+ .plain) { margin-bottom: .5rem }
ul { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line) }
li { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center;
  justify-content: space-between; padding: .9rem 0; border-bottom: 1px solid var(--line) }
.plain { margin: 0 0 1.5rem; padding-left: 1.25rem; list-style: disc; border: 0; color: var(--quiet) }
.plain li { display: list-item; padding: .1rem 0; border: 0 }
li > div { flex: 1 1 12rem; min-width: 0; overflow-wrap: anywhere }
.fact { display: block; color: var(--quiet); font-size: .9rem }
.badge { display: inline-block; margin-left: .4rem; padding: 0 .5rem; border: 1px solid var(--line);
  border-radius: 1rem; font-size: .8rem }
.small { padding: .4rem .9rem; color: var(--ink); background: transparent;
  border: 1px solid var(--quiet); font-size: .95rem }
.notice { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--ground); color: var(--ink) }
.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin-top: 2rem }
small { display: block; margin-top: 1.75rem; color: var(--quiet); font-size: .8rem }
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Nothing but our own style; nobody may frame it, and a form goes to us and on to the realm. */
export const PAGE_HEADER_LINES: readonly string[] = [
  'Content-Type: text/html; charset=utf-8',
  `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options: nosniff',
  'Referrer-Policy: no-referrer',
  'Cache-Control: no-store',
]

/** With `no-referrer` a browser sends `Origin: null` along with a form; this page wants to see it. */
export const FORM_PAGE_HEADER_LINES = PAGE_HEADER_LINES.map((line) =>
  line.startsWith('Referrer-Policy') ? 'Referrer-Policy: same-origin' : line,
)

export function pageHtml(page: Page): string {
  const { action, form } = page
  return frame(
    page,
    html`<h1>${page.title}</h1>
      <p>${page.text}</p>
      ${page.needed === undefined ? '' : html`<ul class="plain">${page.needed.map((line) => html`<li>${line}</li>`)}</ul>`}
      ${action === undefined ? '' : html`<a href="${action.href}">${action.label}</a>`}
      ${
        form === undefined
          ? ''
          : html`<form method="post" action="${form.action}"><button>${form.label}</button></form>`
      }
      ${page.isCalm === true ? html`<small hidden>${page.code}</small>` : html`<small>${page.code}</small>`}`,
  )
}

interface FrameView {
  readonly title: string
  readonly language: Language
  readonly className?: string
}

const DATE_TIME = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
const FORMATS: Readonly<Record<Language, Intl.DateTimeFormat>> = {
  en: new Intl.DateTimeFormat('en-US', DATE_TIME),
  de: new Intl.DateTimeFormat('de-DE', DATE_TIME),
}

/** `2026-11-21T04:01:22.000Z` → `Nov 21, 2026, 4:01 AM UTC`, as the realm's account page has it. */
export function readable(iso: string, language: Language): string {
  return `${FORMATS[language].format(new Date(iso))} UTC`
}

export function frame({ title, language, className = '' }: FrameView, content: Html): string {
  const page = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>${raw(STYLE)}</style>
      </head>
      <body>
        <main${className === '' ? '' : html` class="${className}"`}>${content}</main>
      </body>
    </html>`
  // nothing in it is awaited, so it is text already
  return isolateRightToLeft((page as HtmlEscapedString).toString())
}
