/** What a person finds who opens the control plane's own address: where to go from here. */
import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { ApiEnv } from '../api/api-env.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f2a; --quiet: #596070; --ground: #f4f5f8; --card: #fff;
  --line: #e0e3ea; --accent: #2f4fd8 }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef4; --quiet: #a3aabb; --ground: #12141a;
  --card: #1b1e26; --line: #2e323d; --accent: #9db0ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
main { width: 100%; max-width: 36rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.5rem 2.25rem }
h1 { margin: 0 0 .5rem; font-size: 1.6rem; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 1.5rem; color: var(--quiet) }
dl { margin: 0 } dt { font-weight: 600 } dd { margin: 0 0 1rem; color: var(--quiet) }
a { color: var(--accent); text-underline-offset: .25em; overflow-wrap: anywhere }
code { font-size: .9em }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

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
      <p>The control plane is running. Everything is done through its API.</p>
      <dl>
        <dt>Integration contract</dt>
        <dd><a href="/api/v1/contract">${baseUrl}/api/v1/contract</a></dd>
        <dt>Operator API</dt>
        <dd><code>${baseUrl}/api/v1/operator</code>, with the operator key as bearer</dd>
        <dt>Health</dt>
        <dd><a href="/health/ready">${baseUrl}/health/ready</a></dd>
      </dl>
    </main>
  </body>
</html>`
  const page = (template as HtmlEscapedString).toString()
  const headers = {
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
  return new Hono<ApiEnv>()
    .get('/', (c) => c.html(page, 200, headers))
    .get('/console', (c) => c.html(page, 200, headers))
}
