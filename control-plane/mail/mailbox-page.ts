/** The mailbox of an installation without a mail server, for whoever runs it. */
import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { isSameSecret } from '../keys/vault.ts'
import type { Mailbox } from './mailbox.ts'

const STYLE = `
:root { color-scheme: light dark }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif }
article { border: 1px solid #8885; border-radius: .75rem; padding: 1rem 1.25rem; margin: 1rem 0 }
h2 { margin: 0 0 .25rem; font-size: 1.1rem } .meta { margin: 0; opacity: .75 }
p { overflow-wrap: anywhere } nav { display: flex; gap: 1rem; justify-content: center }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}
type Html = ReturnType<typeof html>
const PAGE_MAILS = 20
const LINK = /https?:\/\/\S+/

/** The key follows from the operator's, which may be replaced. */
export function mailboxRoutes(mailbox: Mailbox, key: () => string) {
  return new Hono().get('/mailbox', async (c) => {
    // not in the address, which browsers and proxies write down
    const sent = /^Basic ([A-Za-z0-9+/=]+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
    const password = Buffer.from(sent, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '')
    if (!isSameSecret(password, key())) {
      c.header('WWW-Authenticate', 'Basic realm="mailbox", charset="UTF-8"')
      return c.html(
        document(html`<h1>Sign in to the mailbox</h1>
    <p>The user name is <b>mailbox</b>. The password is the key that <code>npm start</code> prints.</p>
    <p><a href="/mailbox">Try again</a></p>`),
        401,
        HEADERS,
      )
    }
    const mails = await mailbox.list()
    const pages = Math.max(1, Math.ceil(mails.length / PAGE_MAILS))
    const at = Math.min(pageOf(c.req.query('page')), pages)
    const shown = mails.slice((at - 1) * PAGE_MAILS, at * PAGE_MAILS)
    const content = html`<h1>Mailbox</h1>
    <p>No mail server is configured, so emails are kept here. Set SERVICE_SMTP_URL to send them.</p>
    ${mails.length === 0 ? html`<p>No emails yet. Invitations and password resets will appear here.</p>` : ''}
    ${shown.map(
      ({ to, subject, text, at }) => html`<article>
        <h2>${subject}</h2>
        <p class="meta">To ${to}, ${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC</p>
        ${text.split('\n\n').map((line) => html`<p>${linked(line)}</p>`)}
      </article>`,
    )}`
    const page = document(content, pages === 1 ? undefined : pager(at, pages))
    return c.html(page, 200, HEADERS)
  })
}

const document = (content: Html, below?: Html) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Mailbox</title>
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <main>${content}</main>
    ${below ?? ''}
  </body>
</html>`

function linked(line: string) {
  const link = LINK.exec(line)?.[0]
  return link === line.trim() ? html`<a href="${link}">${link}</a>` : line
}

/** The first one for whatever is no page. */
function pageOf(text = '1'): number {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 1
}

function pager(at: number, pages: number) {
  return html`<nav aria-label="Pages">
    ${at > 1 ? html`<a href="/mailbox?page=${at - 1}" rel="prev">Newer</a>` : ''}
    <span>Page ${at} of ${pages}</span>
    ${at < pages ? html`<a href="/mailbox?page=${at + 1}" rel="next">Older</a>` : ''}
  </nav>`
}
