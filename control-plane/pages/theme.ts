/** How the plain pages of the control plane look: light and dark, and no script at all. */
import { createHash } from 'node:crypto'
import { palette } from './palette.ts'

export const THEME = `${palette()}* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif }
a { color: var(--accent); text-underline-offset: .25em; overflow-wrap: anywhere }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code { font-size: .9em; overflow-wrap: anywhere }
`

/** A page may hold this style and nothing else. */
export function styledPageHeaders(style: string): Record<string, string> {
  const hash = createHash('sha256').update(style).digest('base64')
  return {
    'Content-Security-Policy':
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; ` +
      `form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
}
