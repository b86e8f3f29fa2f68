/** How the pages of the control plane look: one palette, light and dark, and no script at all. */
import { createHash } from 'node:crypto'

export const LOOK = `
:root { color-scheme: light dark; --ink: #1b1f2a; --quiet: #596070; --ground: #f4f5f8; --card: #fff;
  --line: #e0e3ea; --accent: #2f4fd8 }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef4; --quiet: #a3aabb; --ground: #12141a;
  --card: #1b1e26; --line: #2e323d; --accent: #9db0ff } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif }
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
