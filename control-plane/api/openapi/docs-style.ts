/** How the page of the API looks: one column on a phone, its groups beside it at a desk. */
import { THEME } from '../../pages/theme.ts'

export const DOCS_STYLE = `${THEME}
html { scroll-padding-top: 1rem }
body { max-width: 70rem; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { margin: 0; font-size: 1.8rem; line-height: 1.25; letter-spacing: -.015em }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.25rem; letter-spacing: -.01em }
h3 { margin: 1.25rem 0 .25rem; font-size: .8rem; color: var(--quiet); font-weight: 600;
  text-transform: uppercase; letter-spacing: .04em }
p { margin: 0 0 .5rem }
header p, section > p { color: var(--quiet); max-width: 44rem }
nav ul { list-style: none; margin: 1rem 0 0; padding: 0 }
nav a { display: inline-block; padding: .2rem 0 }
details { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; margin: .5rem 0 }
summary { position: relative; padding: .75rem 2.75rem .75rem 1rem; cursor: pointer; border-radius: .75rem;
  list-style: none }
summary::after { content: '+' / ''; position: absolute; top: .7rem; right: 1.1rem; color: var(--quiet);
  font: 1.2rem/1.4 ui-monospace, monospace }
[open] > summary::after { content: '−' / '' }
summary::-webkit-details-marker { display: none }
summary:hover .what { text-decoration: underline; text-underline-offset: .25em }
.call, .what { display: block }
.call code { font-weight: 600; overflow-wrap: anywhere }
.call b { display: inline-block; min-width: 3.6rem; font-size: .75rem; letter-spacing: .04em; color: var(--accent) }
.what { color: var(--quiet) }
.inside { padding: 0 1rem 1rem; border-top: 1px solid var(--line) }
.inside > p:first-child { margin-top: .75rem }
dl { margin: 0 }
dt { margin-top: .5rem; overflow-wrap: anywhere }
dd { margin: 0 0 .25rem; color: var(--quiet); overflow-wrap: anywhere }
section > dl dt, .inside > dl:not(.fields) > dt { font-weight: 600 }
dd dl.fields { margin-top: .25rem; padding-left: .75rem; border-left: 2px solid var(--line) }
.fields > div { margin-top: .4rem }
.fields dt { margin: 0; color: var(--text) }
.fields dt code { font-weight: 600 }
.fields dt span { color: var(--quiet); font-size: .9rem }
.refusals { margin-top: .75rem; color: var(--quiet) }
.refusals a { display: inline-block; margin-right: .5rem }
pre { margin: .25rem 0 0; padding: .75rem 1rem; background: var(--ground); border: 1px solid var(--line);
  border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 2.5rem; padding-top: 3rem }
  header { grid-column: 1 / -1 }
  nav { position: sticky; top: 1.5rem; align-self: start; margin-top: 2.4rem }
  nav ul { margin: 0 }
  .call b { min-width: 4rem }
}
`
