/**
 * One style sheet for all pages of a realm, written into each page and allowed by its hash: a page
 * needs no second request, also where the realm that it speaks of does not exist.
 */
import { BLOCKS, palette } from '../../pages/palette.ts'
import { sourceOf } from './brand.ts'

const LIGHT = `
  --accent-edge: #2450c8; --link: #2450c8;
  --shadow: 0 1px 2px rgb(20 26 40 / 5%), 0 12px 40px -12px rgb(20 26 40 / 14%);`
const DARK = `
  --accent-edge: #8fadff; --link: #8fadff;
  --shadow: 0 1px 2px rgb(0 0 0 / 40%);`

const STYLE = `${palette(LIGHT, DARK)}${BLOCKS}html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding-top: 1.5rem; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column;
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
.logo { display: block; max-width: 100%; height: 3rem; margin-bottom: 1.5rem; object-fit: contain; object-position: left; }
.wide { max-width: 40rem; }
h1 {
  margin: 0; font-size: 1.625rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em;
  overflow-wrap: anywhere; text-wrap: balance;
}
header p { margin: .5rem 0 0; color: var(--quiet); }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
p + .button { margin-top: 1.5rem; }
strong { font-weight: 600; }
ul { margin: 0; padding: 0; list-style: none; }
form { margin: 0; }
.field { margin-bottom: 1.25rem; }
label { display: block; margin-bottom: .4375rem; font-size: .9375rem; font-weight: 550; }
.hint, .error { margin: -.125rem 0 .4375rem; font-size: .875rem; line-height: 1.4; }
.hint { color: var(--quiet); }
.error { color: var(--bad); font-weight: 550; }
input {
  display: block; width: 100%; height: 3rem; padding: 0 .875rem; font: inherit; font-size: 16px;
  color: var(--text); background: var(--field); border: 1px solid var(--field-line);
  border-radius: .625rem; appearance: none;
}
input:focus-visible { outline: 3px solid var(--link); outline-offset: 1px; border-color: transparent; }
input[aria-invalid='true'] { border-color: var(--bad); }
.code {
  font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: 1.375rem;
  letter-spacing: .2em;
}
button, .button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem;
  padding: .625rem 1.25rem; font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; color: var(--on-accent); background: var(--accent);
  border: 1px solid var(--accent-edge); border-radius: .625rem; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-strong); }
button:focus-visible, .button:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link); outline-offset: 3px; border-radius: .625rem;
}
.reveal {
  display: inline-block; width: auto; min-height: 0; margin-top: .25rem; padding: .25rem 0; font-size: .875rem;
  font-weight: 500; color: var(--link); background: none; border: 0; text-decoration: underline;
  text-underline-offset: .25em;
}
.reveal:hover { background: none; }
.reveal[aria-pressed='true'] { font-weight: 650; }
.reveal[hidden] { display: none; }
form > .field + .button { margin-top: 1.75rem; }
form + form:has(.field) { margin-top: 2rem; }
form > .button + .button, form + form:not(:has(.field)), form + .button, .button + form { margin-top: .75rem; }
.quiet, .small { color: var(--text); background: transparent; border-color: var(--field-line); }
.quiet:hover, .small:hover { background: var(--ground); }
.small { width: auto; min-height: 2.5rem; padding: .375rem .875rem; font-size: .9375rem; font-weight: 550; }
a { color: var(--link); text-underline-offset: .2em; }
a:focus-visible:not(.button) { outline-offset: 2px; border-radius: .25rem; }
.other-way { margin: 1.25rem 0 0; text-align: center; font-size: .9375rem; }
.other-way a { display: inline-block; padding: .25rem; }
.connections .button + .button { margin-top: .75rem; }
.divider {
  display: flex; gap: .75rem; align-items: center; margin: 1.5rem 0; color: var(--quiet); font-size: .875rem;
}
.divider::before, .divider::after { content: ''; flex: 1; border-top: 1px solid var(--line); }
.notice {
  display: flex; gap: .75rem; margin: 0 0 1.5rem; padding: .875rem 1rem; font-size: .9375rem;
  border: 1px solid; border-radius: .75rem; overflow-wrap: anywhere;
}
.info { color: var(--text); background: var(--ground); border-color: var(--line); }
.steps { margin: 0 0 1.75rem; padding-left: 1.25rem; list-style: disc; }
ol.steps { list-style: decimal; }
.steps li { margin-bottom: .5rem; padding-left: .25rem; }
h2 { margin: 2rem 0 .75rem; font-size: 1.125rem; font-weight: 650; }
.items { margin-bottom: 1.5rem; border-top: 1px solid var(--line); }
.items li {
  display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; padding: 1rem 0;
  justify-content: space-between; border-bottom: 1px solid var(--line);
}
.items li > div { flex: 1 1 12rem; min-width: 0; overflow-wrap: anywhere; }
.fact { display: block; color: var(--quiet); font-size: .875rem; }
.mend { display: block; margin-top: .375rem; font-size: .9375rem; }
details + form { margin-top: 1.25rem; }
.below { margin: .5rem 0 1.25rem; }
.badge {
  display: inline-block; margin-left: .375rem; padding: .0625rem .5rem; border-radius: 1rem;
  color: var(--on-tint); background: var(--tint); font-size: .8125rem; font-weight: 550;
}
.empty { color: var(--quiet); }
.secret {
  display: grid; gap: .625rem 1rem; margin: 0 0 1.5rem; padding: 1.125rem 1.25rem;
  background: var(--ground); border: 1px solid var(--line); border-radius: .75rem;
}
.pairs { grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
.secret code { font-size: 1rem; overflow-wrap: anywhere; user-select: all; }
.qr { width: 13rem; max-width: 100%; margin: 0 auto 1.5rem; padding: .75rem; background: #fff; border-radius: .75rem; }
.qr svg { display: block; width: 100%; height: auto; color: #000; }
details { margin-top: 1.5rem; color: var(--quiet); font-size: .875rem; }
summary { cursor: pointer; width: fit-content; padding: .25rem 0; }
details code { display: block; margin-top: .5rem; overflow-wrap: anywhere; }
code { font: .875em/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
footer {
  display: flex; gap: .5rem; align-items: center; justify-content: center; padding: 1.25rem 1.5rem;
  color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere;
}
footer svg { flex: none; width: .9375rem; height: .9375rem; }
@media (max-width: 32rem) {
  body { padding-top: 0; background: var(--card); }
  main { margin: 0 0 auto; padding: 2.5rem 1.5rem 1.5rem; border: 0; border-radius: 0; box-shadow: none; }
  .quiet:hover, .small:hover { background: transparent; }
}
@media (forced-colors: active) { .mark, .notice, .badge { border: 1px solid; } }
@media print {
  body, main { display: block; background: #fff; color: #000; border: 0; box-shadow: none; }
  button, .button, .other-way, .mark, footer svg { display: none; }
  .secret { border-color: #000; background: #fff; break-inside: avoid; }
}
`

export const STYLE_SOURCE = sourceOf(STYLE)

/** Written as one piece: any space between the tags would be part of what the hash allows. */
export const STYLE_ELEMENT = `<style>${STYLE}</style>`
