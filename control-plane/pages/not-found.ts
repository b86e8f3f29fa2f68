/** What a person sees who opens an address of the control plane at which there is nothing. */
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Language } from '../../shared/sign-in/language.ts'
import { LOOK, styledPageHeaders } from './look.ts'

const STYLE = `${LOOK}
body { min-height: 100vh; display: grid; place-items: center; padding: 1.5rem }
main { width: 100%; max-width: 30rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.5rem 2.25rem }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 1.5rem; color: var(--quiet) } p:last-child { margin: 0 }
`

const WORDS: Readonly<Record<Language, { title: string; text: string; home: string }>> = {
  en: {
    title: 'Page not found',
    text: 'Nothing was found at this address. Check it for typos, or start from the home page.',
    home: 'Home page',
  },
  de: {
    title: 'Seite nicht gefunden',
    text: 'Unter dieser Adresse wurde nichts gefunden. Prüfen Sie die Schreibweise, oder beginnen Sie auf der Startseite.',
    home: 'Startseite',
  },
}

export const NOT_FOUND_HEADERS = styledPageHeaders(STYLE)

export function notFoundPage(language: Language): string {
  const { title, text, home } = WORDS[language]
  const page = html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <p>${text}</p>
      <p><a href="/">${home}</a></p>
    </main>
  </body>
</html>`
  return (page as HtmlEscapedString).toString()
}
