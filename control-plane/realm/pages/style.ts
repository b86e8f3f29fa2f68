/**
 * One style sheet for all pages of a realm, written into each page and allowed by its hash: a page
 * needs no second request, also where the realm that it speaks of does not exist.
 */
import { createHash } from 'node:crypto'

const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f7; --card: #ffffff; --line: #dfe2e8; --field: #ffffff; --field-line: #8a92a3;
  --text: #171b26; --quiet: #565e70; --accent: #2450c8; --accent-strong: #1b3fa3;
  --on-accent: #ffffff; --tint: #e8edfb; --on-tint: #1f45ae;
  --bad: #9f1f18; --bad-ground: #fdf0ee; --bad-line: #eab9b4;
  --shadow: 0 1px 2px rgb(20 26 40 / 5%), 0 12px 40px -12px rgb(20 26 40 / 14%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1016; --card: #171a22; --line: #282d39; --field: #10131a; --field-line: #747d90;
    --text: #eceef4; --quiet: #a6aebf; --accent: #8fadff; --accent-strong: #adc3ff;
    --on-accent: #0c1430; --tint: #222c4c; --on-tint: #b9ccff;
    --bad: #ffb9b1; --bad-ground: #33191a; --bad-line: #6b312d;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%);
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
  background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  -webkit-font-smoothing: antialiased;
}
main {
  width: 100%; max-width: 27rem; margin: auto; padding: 2.75rem 2.5rem 2.5rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem;
  box-shadow: var(--shadow);
}
header { margin-bottom: 2rem; }
.mark {
  display: grid; place-items: center; width: 3rem; height: 3rem; margin-bottom: 1.5rem;
  border-radius: .875rem; background: var(--tint); color: var(--on-tint);
  font-size: 1.375rem; font-weight: 650; line-height: 1;
}
.mark svg { width: 1.5rem; height: 1.5rem; }
h1 {
  margin: 0; font-size: 1.625rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em;
  overflow-wrap: anywhere; text-wrap: balance;
}
header p { margin: .5rem 0 0; color: var(--quiet); }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
strong { font-weight: 600; }
form { margin: 0; }
.field { margin-bottom: 1.25rem; }
label { display: block; margin-bottom: .4375rem; font-size: .9375rem; font-weight: 550; }
input {
  display: block; width: 100%; height: 3rem; padding: 0 .875rem; font: inherit; font-size: 16px;
  color: var(--text); background: var(--field); border: 1px solid var(--field-line);
  border-radius: .625rem; appearance: none;
}
input:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; border-color: transparent; }
input[aria-invalid='true'] { border-color: var(--bad); }
button, .button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem;
  padding: .625rem 1.25rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: .625rem; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-strong); }
button:focus-visible, .button:focus-visible, a:focus-visible {
  outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .625rem;
}
form button { margin-top: 1.75rem; }
.quiet { color: var(--text); background: transparent; border-color: var(--field-line); margin-top: .75rem; }
.quiet:hover { background: var(--ground); }
a { color: var(--accent); text-underline-offset: .2em; }
.alert {
  display: flex; gap: .75rem; margin: 0 0 1.5rem; padding: .875rem 1rem; font-size: .9375rem;
  color: var(--bad); background: var(--bad-ground); border: 1px solid var(--bad-line);
  border-radius: .75rem;
}
.alert svg { flex: none; width: 1.25rem; height: 1.25rem; margin-top: .125rem; }
.steps { margin: 0 0 1.75rem; padding-left: 1.25rem; }
.steps li { margin-bottom: .5rem; padding-left: .25rem; }
details { margin-top: 1.5rem; color: var(--quiet); font-size: .875rem; }
summary { cursor: pointer; width: fit-content; }
details code { display: block; margin-top: .5rem; overflow-wrap: anywhere; }
code { font: .875em/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
footer {
  display: flex; gap: .5rem; align-items: center; justify-content: center; padding: 1.25rem 1.5rem;
  color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere;
}
footer svg { flex: none; width: .9375rem; height: .9375rem; }
@media (max-width: 32rem) {
  body { background: var(--card); }
  main { margin: 0 0 auto; padding: 2.5rem 1.5rem 1.5rem; border: 0; border-radius: 0; box-shadow: none; }
  .quiet:hover { background: transparent; }
}
@media (forced-colors: active) { .mark, .alert { border: 1px solid; } }
`

export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`

/** Written as one piece: any space between the tags would be part of what the hash allows. */
export const STYLE_ELEMENT = `<style>${STYLE}</style>`
