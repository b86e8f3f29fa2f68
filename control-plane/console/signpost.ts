/** What a person finds who opens the control plane's own address: where to go from here, in both languages. */
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { LANGUAGES, languageOf, type Language } from '../../shared/sign-in/language.ts'
import type { ApiEnv } from '../http/context.ts'
import { THEME, styledPageHeaders } from '../pages/theme.ts'

const STYLE = `${THEME}
body { min-height: 100vh; display: grid; place-items: center; padding: 1.5rem }
main { width: 100%; max-width: 36rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.5rem 2.25rem }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 1.5rem; color: var(--quiet) }
dl { margin: 0 } dt { font-weight: 600 } dd { margin: 0 0 1rem; color: var(--quiet) }
`

const TEXTS = {
  en: {
    running: 'The control plane is running.',
    console: 'Console',
    forWhom: 'for operators and administrators',
    reference: 'API reference',
    forTools: 'and for tools',
    contract: 'Integration contract',
    operatorApi: 'Operator API',
    withKey: 'with the operator key as bearer token',
    health: 'Health',
  },
  de: {
    running: 'Die Steuerung läuft.',
    console: 'Konsole',
    forWhom: 'für Betrieb und Administration (auf Englisch)',
    reference: 'API-Referenz',
    forTools: 'und für Werkzeuge',
    contract: 'Integrationsvertrag',
    operatorApi: 'Operator-API',
    withKey: 'mit dem Operator-Schlüssel als Bearer-Token',
    health: 'Zustand',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>

const HEADERS = { ...styledPageHeaders(STYLE), Vary: 'Accept-Language' }

export function signpostRoutes(baseUrl: string) {
  const pages = new Map(LANGUAGES.map((language) => [language, pageIn(language, baseUrl)]))
  return new Hono<ApiEnv>().get('/', (c) =>
    c.html(pages.get(languageOf(c.req.header('accept-language') ?? ''))!, 200, HEADERS),
  )
}

function pageIn(language: Language, baseUrl: string): string {
  const texts = TEXTS[language]
  const template = html`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sign-in protection service</title>
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <main>
      <h1>Sign-in protection service</h1>
      <p>${texts.running}</p>
      <dl>
        <dt>${texts.console}</dt>
        <dd><a href="/console">${baseUrl}/console</a>, ${texts.forWhom}</dd>
        <dt>${texts.reference}</dt>
        <dd>
          <a href="/api/v1/docs">${baseUrl}/api/v1/docs</a>, ${texts.forTools}
          <a href="/api/v1/openapi.json">openapi.json</a>
        </dd>
        <dt>${texts.contract}</dt>
        <dd><a href="/api/v1/contract">${baseUrl}/api/v1/contract</a></dd>
        <dt>${texts.operatorApi}</dt>
        <dd><code>${baseUrl}/api/v1/operator</code>, ${texts.withKey}</dd>
        <dt>${texts.health}</dt>
        <dd><a href="/health/ready">${baseUrl}/health/ready</a></dd>
      </dl>
    </main>
  </body>
</html>`
  return (template as HtmlEscapedString).toString()
}
