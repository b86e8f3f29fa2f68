/**
 * The application that a newcomer sees first. An ordinary `node:http` server behind the edge: it
 * believes nothing but the signature on `X-Service-Claims`, which it verifies itself.
 */
import { createServer, type Server } from 'node:http'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { TokenClaims } from '../../shared/enforcement/token.ts'
import { verifyClaims } from '../downloads/sdk-node/index.ts'

interface DemoSettings {
  readonly tenantId: string
  readonly baseUrl: string
}

export function createDemoApplication(settings: DemoSettings): Server {
  const service = verifyClaims({ ...settings, excluded: ['/health'] })
  return createServer(
    service.node((request, response) => {
      const path = request.url?.split('?', 1)[0] ?? '/'
      if (path === '/health') {
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end('healthy\n')
      } else if (path !== '/' || request.serviceClaims === undefined) {
        response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Page not found.\n')
      } else {
        const headers = { 'Content-Type': 'text/html; charset=utf-8' }
        response.writeHead(200, headers).end(greeting(request.serviceClaims))
      }
    }),
  )
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f2a; --quiet: #596070; --ground: #f4f5f8; --card: #fff;
  --line: #e0e3ea; --accent: #2f4fd8 }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef4; --quiet: #a3aabb; --ground: #12141a;
  --card: #1b1e26; --line: #2e323d; --accent: #9db0ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
main { width: 100%; max-width: 34rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 1rem; padding: 2.5rem 2.25rem }
h1 { margin: 0 0 .5rem; font-size: 1.7rem; line-height: 1.25; letter-spacing: -.015em }
p { margin: 0 0 1.75rem; color: var(--quiet) }
dl { margin: 0 0 1.75rem; border-top: 1px solid var(--line) }
dl div { display: flex; gap: 1.5rem; justify-content: space-between; padding: .7rem 0;
  border-bottom: 1px solid var(--line) }
dt { color: var(--quiet) } dd { margin: 0; text-align: right; overflow-wrap: anywhere }
nav { display: flex; gap: 1.5rem }
a { color: var(--accent); font-weight: 600; text-underline-offset: .25em }
`

/** As the token names them (RFC 8176), for people. */
const WAYS: Record<string, string> = {
  pwd: 'password',
  email: 'email',
  otp: 'one-time code',
  hwk: 'passkey',
  mfa: 'two factors',
}

function greeting(claims: TokenClaims) {
  const until = `${new Date(claims.exp * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Hello, ${claims.name}</title>
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <main>
      <h1>Hello, ${claims.name}</h1>
      <p>This application never sees your password. It only checked the signature on your identity.</p>
      <dl>
        <div><dt>User</dt><dd>${claims.sub}</dd></div>
        <div><dt>Email</dt><dd>${claims.email}</dd></div>
        <div><dt>Signed in with</dt><dd>${claims.amr.map((way) => WAYS[way] ?? way).join(', ')}</dd></div>
        <div><dt>Session ends</dt><dd><time>${until}</time></dd></div>
      </dl>
      <nav>
        <a href="/service/me">Your session</a>
        <a href="/service/logout">Sign out</a>
      </nav>
    </main>
  </body>
</html>`
  return (page as HtmlEscapedString).toString()
}
