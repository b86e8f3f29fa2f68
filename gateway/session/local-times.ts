/** The one script on a tenant's hostname: times in the reader's own zone, UTC when pointed at. */
import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { FORM_PAGE_HEADER_LINES, type Html } from '../../shared/sign-in/pages.ts'

/** As the realm's account page does it. Without it the page says UTC, as it was written. */
const SCRIPT = `
const { lang } = document.documentElement
const here = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' })
for (const time of document.querySelectorAll('time')) {
  time.title = time.textContent
  time.textContent = here.format(new Date(time.dateTime))
}
`

const POLICY = 'Content-Security-Policy: '
const ALLOWED = `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'; `

export const localTimesScript: Html = html`<script>${raw(SCRIPT)}</script>`

export const LOCAL_TIMES_HEADER_LINES = FORM_PAGE_HEADER_LINES.map((line) =>
  line.startsWith(POLICY) ? line.replace(POLICY, `${POLICY}${ALLOWED}`) : line,
)
