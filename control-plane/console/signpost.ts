/** What a person finds who opens the control plane's own address: where to go from here. */
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
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

export function signpostRoutes(baseUrl: string) {
  const template = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sign-in protection service</title>
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <main>
      <h1>Sign-in protection service</h1>
      <p>The control plane is running.</p>
      <dl>
        <dt>Console</dt>
        <dd><a href="/console">${baseUrl}/console</a>, for operators and administrators</dd>
        <dt>API reference</dt>
        <dd>
          <a href="/api/v1/docs">${baseUrl}/api/v1/docs</a>, and for tools
          <a href="/api/v1/openapi.json">openapi.json</a>
        </dd>
        <dt>Integration contract</dt>
        <dd><a href="/api/v1/contract">${baseUrl}/api/v1/contract</a></dd>
        <dt>Operator API</dt>
        <dd><code>${baseUrl}/api/v1/operator</code>, with the operator key as bearer token</dd>
        <dt>Health</dt>
        <dd><a href="/health/ready">${baseUrl}/health/ready</a></dd>
      </dl>
    </main>
  </body>
</html>`
  const page = (template as HtmlEscapedString).toString()
  const headers = styledPageHeaders(STYLE)
  return new Hono<ApiEnv>().get('/', (c) => c.html(page, 200, headers))
}
