/** The one palette of our pages: console, realms, the page of the API. A tenant's colours replace its accents. */
import { GROUNDS } from './accents.ts'

const LIGHT = `
  --ground: ${GROUNDS.light.ground}; --card: ${GROUNDS.light.card}; --line: #dfe2e8; --field: #ffffff; --field-line: #8a92a3;
  --text: #171b26; --quiet: #565e70; --accent: #2450c8; --accent-strong: #1b3fa3; --on-accent: #ffffff;
  --tint: #e8edfb; --on-tint: #1f45ae;
  --bad: #9f1f18; --bad-ground: #fdf0ee; --bad-line: #eab9b4;
  --good: #17603a; --good-ground: #ecf7f0; --good-line: #b0d9c0;
  --warm: #7a4a00; --warm-ground: #fdf4e3;`

const DARK = `
  --ground: ${GROUNDS.dark.ground}; --card: ${GROUNDS.dark.card}; --line: #2b303d; --field: #10131a; --field-line: #747d90;
  --text: #eceef4; --quiet: #a6aebf; --accent: #8fadff; --accent-strong: #adc3ff; --on-accent: #0c1430;
  --tint: #222c4c; --on-tint: #b9ccff;
  --bad: #ffb9b1; --bad-ground: #33191a; --bad-line: #6b312d;
  --good: #9fe0ba; --good-ground: #12291c; --good-line: #2c5a40;
  --warm: #f3cf91; --warm-ground: #33270f;`

/** By the system's choice; with what a page has beside it. */
export const palette = (light = '', dark = ''): string => `
:root { color-scheme: light dark;${LIGHT}${light} }
@media (prefers-color-scheme: dark) { :root {${DARK}${dark} } }
`

/** What `blocks` need wherever they stand; how large and how far apart is the page's own. */
export const BLOCKS = `*, *::before, *::after { box-sizing: border-box }
[hidden] { display: none !important }
.notice p { margin: 0 }
.notice > div { min-width: 0 }
.notice svg { flex: none; width: 1.25rem; height: 1.25rem; margin-top: .125rem }
.notice.problem { color: var(--bad); background: var(--bad-ground); border-color: var(--bad-line) }
.notice.success { color: var(--good); background: var(--good-ground); border-color: var(--good-line) }
`
