/** What a person sees whom the control plane refuses something outside of console and realms. */
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { languageOf, type Language } from '../../shared/sign-in/language.ts'
import { THEME, styledPageHeaders } from './theme.ts'

const STYLE = `${THEME}
body { min-height: 100vh; display: grid; place-items: center; padding: 1.5rem }
main { width: 100%; max-width: 30rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.5rem 2.25rem }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 1.5rem; color: var(--quiet) } p:last-child { margin: 0 }
small { display: block; margin-top: 1.5rem; color: var(--quiet); font-size: .8rem; overflow-wrap: anywhere }
`

interface Words {
  readonly title: string
  readonly text: string
}

type Kind = 'invalid' | 'unauthorized' | 'denied' | 'missing' | 'method' | 'over' | 'tooMany'
type Kinds = Kind | 'cookies' | 'slow' | 'internal' | 'unavailable'

const WORDS: Readonly<Record<Language, Readonly<Record<Kinds, Words>> & { home: string }>> = {
  en: {
    home: 'Home page',
    invalid: {
      title: 'Invalid request',
      text: 'Your browser sent a request that we could not read. Check the address, or start from the home page.',
    },
    unauthorized: {
      title: 'Made for programs',
      text: 'This address is part of the API. Programs send a key along; a browser cannot.',
    },
    denied: { title: 'Access denied', text: 'You don’t have access to this address.' },
    missing: {
      title: 'Page not found',
      text: 'Nothing was found at this address. Check it for typos, or start from the home page.',
    },
    method: {
      title: 'Made for programs',
      text: 'This address is part of the API and cannot be opened in a browser.',
    },
    over: { title: 'This link has expired', text: 'Ask for a new one where you got it.' },
    tooMany: { title: 'Too many requests', text: 'Wait a minute, then reload this page.' },
    cookies: {
      title: 'Too many cookies',
      text: 'Your browser sent more cookies than we accept. Delete the cookies of this site, then try again.',
    },
    slow: {
      title: 'Request timed out',
      text: 'Your request took too long to arrive. Check your connection, then try again.',
    },
    internal: { title: 'Something went wrong on our side', text: 'Try again in a moment.' },
    unavailable: { title: 'Temporarily unavailable', text: 'Reload this page in a moment.' },
  },
  de: {
    home: 'Startseite',
    invalid: {
      title: 'Ungültige Anfrage',
      text: 'Ihr Browser hat eine Anfrage gesendet, die wir nicht lesen konnten. Prüfen Sie die Adresse, oder beginnen Sie auf der Startseite.',
    },
    unauthorized: {
      title: 'Für Programme gedacht',
      text: 'Diese Adresse gehört zur API. Programme senden einen Schlüssel mit, ein Browser kann das nicht.',
    },
    denied: { title: 'Zugriff verweigert', text: 'Sie haben keinen Zugriff auf diese Adresse.' },
    missing: {
      title: 'Seite nicht gefunden',
      text: 'Unter dieser Adresse wurde nichts gefunden. Prüfen Sie die Schreibweise, oder beginnen Sie auf der Startseite.',
    },
    method: {
      title: 'Für Programme gedacht',
      text: 'Diese Adresse gehört zur API und lässt sich nicht im Browser öffnen.',
    },
    over: {
      title: 'Dieser Link ist abgelaufen',
      text: 'Fordern Sie dort, wo Sie ihn bekommen haben, einen neuen an.',
    },
    tooMany: {
      title: 'Zu viele Anfragen',
      text: 'Warten Sie eine Minute und laden Sie diese Seite dann neu.',
    },
    cookies: {
      title: 'Zu viele Cookies',
      text: 'Ihr Browser hat mehr Cookies gesendet als erlaubt. Löschen Sie die Cookies dieser Website und versuchen Sie es dann noch einmal.',
    },
    slow: {
      title: 'Zeit abgelaufen',
      text: 'Ihre Anfrage kam nicht rechtzeitig an. Prüfen Sie Ihre Verbindung und versuchen Sie es dann noch einmal.',
    },
    internal: {
      title: 'Bei uns ist etwas schiefgegangen',
      text: 'Versuchen Sie es gleich noch einmal.',
    },
    unavailable: {
      title: 'Vorübergehend nicht verfügbar',
      text: 'Laden Sie diese Seite gleich noch einmal.',
    },
  },
}

const KINDS: Readonly<Record<number, Kinds>> = {
  401: 'unauthorized',
  403: 'denied',
  404: 'missing',
  405: 'method',
  408: 'slow',
  410: 'over',
  429: 'tooMany',
  431: 'cookies',
  500: 'internal',
  503: 'unavailable',
}

export const REFUSAL_PAGE_HEADERS = {
  ...styledPageHeaders(STYLE),
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
}

interface Refused {
  readonly status: number
  readonly code: string
}

/** The page, or undefined where a program asks. `header` of what is not there is ''. */
export function refusalPageFor(
  { status, code }: Refused,
  method: string,
  header: (name: string) => string,
): string | undefined {
  const isPerson = isNavigation({
    method,
    secFetchMode: header('sec-fetch-mode'),
    accept: header('accept'),
    requestedWith: header('x-requested-with'),
    isUpgrade: false,
  })
  return isPerson ? refusalPage({ status, code }, languageOf(header('accept-language'))) : undefined
}

function refusalPage({ status, code }: Refused, language: Language): string {
  const words = WORDS[language]
  const { title, text } = words[KINDS[status] ?? 'invalid']
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
      <p><a href="/">${words.home}</a></p>
      ${status === 404 ? '' : html`<small>${code}</small>`}
    </main>
  </body>
</html>`
  return (page as HtmlEscapedString).toString()
}
