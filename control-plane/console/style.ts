/**
 * How the console looks: of one family with the realm's own pages (realm/pages/style.ts), but made
 * for tables and forms at a desk. Light and dark by the system, one column on a phone.
 */
import { BLOCKS, palette } from '../pages/palette.ts'

const LIGHT = `
  --shadow: 0 1px 2px rgb(20 26 40 / 5%);
  --mono: ui-monospace, 'SF Mono', Menlo, Consolas, monospace;`
const DARK = `
  --shadow: none;`

export const STYLE = `${palette(LIGHT, DARK)}${BLOCKS}html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  -webkit-font-smoothing: antialiased;
}
h1 { margin: 0; font-size: 1.6rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; overflow-wrap: anywhere }
h2 { margin: 0 0 .75rem; font-size: 1.0625rem; font-weight: 650; line-height: 1.3 }
h3 { margin: 0 0 .375rem; font-size: .9375rem; font-weight: 650 }
p { margin: 0 0 .75rem; overflow-wrap: anywhere }
h2, h3, li, label, legend { overflow-wrap: anywhere }
p:last-child { margin-bottom: 0 }
ul, ol { margin: 0; padding: 0; list-style: none }
a { color: var(--accent); text-underline-offset: .2em }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .375rem }
main:focus { outline: none }
code, kbd, pre { font-family: var(--mono); font-size: .875em }
code { overflow-wrap: anywhere }
.host { display: inline-block; min-width: 11rem }
form { margin: 0 }
fieldset.plain { min-width: 0; margin: 0; padding: 0; border: 0 }
td > input[type=checkbox] { width: 1.125rem; height: 1.125rem; margin: 0; vertical-align: middle }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.skip { position: absolute; left: .75rem; top: -4rem; z-index: 3; padding: .5rem 1rem; background: var(--card); border-radius: .5rem }
.skip:focus { top: .75rem }
.hint, .none { color: var(--quiet); font-size: .875rem; font-weight: 400 }
.number { text-align: right; font-variant-numeric: tabular-nums }

.top {
  display: flex; align-items: center; gap: .625rem; min-height: 3.5rem; padding: .5rem 1.25rem;
  background: var(--card); border-bottom: 1px solid var(--line);
}
.brand { display: flex; align-items: center; gap: .625rem; color: var(--text); font-weight: 650; text-decoration: none }
.mark { display: grid; place-items: center; width: 1.875rem; height: 1.875rem; border-radius: .5rem; background: var(--tint); color: var(--on-tint) }
.mark svg { width: 1.125rem; height: 1.125rem }
.whose { display: flex; gap: .625rem; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 550 }
.whose [aria-hidden] { color: var(--field-line); font-weight: 400 }
.search {
  display: flex; align-items: center; gap: .5rem; margin-left: auto; padding: .3125rem .75rem; min-height: 2.25rem;
  color: var(--quiet); text-decoration: none; border: 1px solid var(--line); border-radius: .5rem; font-size: .875rem;
}
.search:hover { border-color: var(--field-line) }
kbd { padding: 0 .375rem; border: 1px solid var(--line); border-radius: .25rem; font-size: .75rem; color: var(--quiet) }
.account { position: relative; flex: 0 1 auto; min-width: 0 }
.account summary { list-style: none; max-width: 12rem; width: auto; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding: .375rem .5rem; border-radius: .5rem; cursor: pointer; font-weight: 550 }
.account summary::-webkit-details-marker { display: none }
.account summary::after { content: '▾' / ''; margin-left: .375rem; color: var(--quiet) }
.account summary:hover { background: var(--ground) }
.menu {
  position: absolute; right: 0; top: calc(100% + .375rem); z-index: 2; width: 16rem; max-width: 80vw; padding: 1rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem; box-shadow: 0 12px 40px -12px rgb(20 26 40 / 35%);
}
.menu p { margin-bottom: .375rem }
.menu form { margin-top: .75rem }

.side { padding: .5rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--card) }
.side nav { min-width: 0 }
.side nav + nav { margin-top: .25rem }
.side ul { display: flex; flex-wrap: wrap; gap: .125rem; padding: .25rem; margin: 0 -.25rem }
.side a { display: block; padding: .25rem .5rem; color: var(--text); text-decoration: none; white-space: nowrap; border-radius: .5rem }
.side a:hover { background: var(--ground) }
.side [aria-current] { background: var(--tint); color: var(--on-tint); font-weight: 600 }
.nav-head { display: none }
main { padding: 1.5rem 1.25rem 3rem; min-width: 0 }
@media (min-width: 60rem) {
  .inside { display: grid; grid-template: auto 1fr / 14rem minmax(0, 1fr) }
  .inside .top { grid-column: 1 / -1 }
  .side { border-bottom: 0; border-right: 1px solid var(--line); padding: 1.25rem .875rem }
  .side ul { flex-direction: column }
  .side a { padding: .375rem .625rem }
  .side nav + nav { margin-top: 1.5rem }
  .nav-head { display: block; margin: 0 .625rem .375rem; color: var(--quiet); font-size: .8125rem; font-weight: 600; overflow-wrap: anywhere }
  main { padding: 2rem 2.5rem 4rem; max-width: 78rem }
}
.outside main { max-width: 32rem; margin: 0 auto; padding-top: 3rem }

.page-head { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; margin-bottom: 1.5rem }
.page-head > div:first-child { flex: 1 1 18rem; min-width: 0 }
.intro { margin: .375rem 0 0; color: var(--quiet); max-width: 44rem }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem }
.card { padding: 1.25rem 1.375rem; margin-bottom: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .875rem; box-shadow: var(--shadow) }
.narrow { max-width: 38rem }
.device-code { font: 650 clamp(1.75rem, 9vw, 2.5rem)/1.2 var(--mono); letter-spacing: .06em; margin: 0 0 1rem; overflow-wrap: normal; white-space: nowrap }
.cards { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.cards .card { display: flex; flex-direction: column; margin: 0 }
.cards .submit { margin-top: auto; padding-top: 1.25rem }
.cards + * { margin-top: 1.25rem }

.button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.5rem; padding: .4375rem 1rem;
  font: inherit; font-weight: 600; text-decoration: none; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: .5625rem; cursor: pointer;
}
.button:hover { background: var(--accent-strong) }
.quiet.button, .small.button { color: var(--text); background: transparent; border-color: var(--field-line) }
.quiet.button:hover, .small.button:hover { background: var(--ground) }
.small.button { min-height: 2rem; padding: .25rem .75rem; font-size: .875rem; font-weight: 550 }
.danger.button { color: var(--bad); background: transparent; border-color: var(--bad) }
.danger.button:hover { background: var(--bad-ground) }
.submit { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1.25rem }
.inline { display: inline-block }
.inline .submit { margin: 0 }

.field { margin: 0 0 1.125rem; padding: 0; border: 0; min-width: 0 }
label, legend { display: block; margin-bottom: .3125rem; padding: 0; font-weight: 550; font-size: .9375rem }
.field > .hint, .error { margin: 0 0 .375rem; line-height: 1.4 }
.error { color: var(--bad); font-weight: 550; font-size: .875rem }
input, select, textarea {
  width: 100%; min-height: 2.5rem; padding: .4375rem .75rem; font: inherit; font-size: 16px; color: var(--text);
  background: var(--field); border: 1px solid var(--field-line); border-radius: .5625rem;
}
textarea { font-family: var(--mono); font-size: .875rem; resize: vertical; line-height: 1.5 }
input.number { width: 12rem; text-align: left }
.reveal { margin-top: .25rem; padding: .25rem 0; border: 0; background: none; color: var(--accent); font: inherit; font-size: .875rem; text-decoration: underline; text-underline-offset: .25em; cursor: pointer }
.reveal[aria-pressed='true'] { font-weight: 650 }
.reveal[hidden] { display: none }
input[type='checkbox'] { flex: none; width: 1.125rem; height: 1.125rem; min-height: 0; margin: .1875rem 0 0; accent-color: var(--accent) }
[aria-invalid='true'] { border-color: var(--bad) }
.check { display: flex; flex-wrap: wrap; gap: .125rem .625rem; padding: .25rem 0 }
.check label { flex: 1; margin: 0; font-weight: 400 }
.check > .hint, .check > .error { flex-basis: 100%; margin-left: 1.75rem }
.check label .hint { display: inline-block; margin-left: .25rem }
fieldset.box { padding: .75rem 1rem 0; border: 1px solid var(--field-line); border-radius: .75rem }
fieldset.box legend { padding: 0 .375rem }
.said { font-weight: 400 }
.folded { margin-bottom: 1rem }
.folded summary { padding: .375rem 0; color: var(--accent); cursor: pointer }
.field + h2, .box + h2, .folded + h2 { margin-top: 1.5rem }
.filters { display: flex; flex-wrap: wrap; gap: .75rem; align-items: flex-end; margin-bottom: 1.25rem }
.filters .field { flex: 1 1 8rem; max-width: 22rem; margin: 0 }
.filters .field:has([type=search]) { flex-basis: max-content }
.filters .submit { margin: 0 }

.notice { display: flex; gap: .75rem; margin: 0 0 1.25rem; padding: .8125rem 1rem; border: 1px solid; border-radius: .75rem; overflow-wrap: anywhere }
.notice ul:empty { display: none }
.notice li { margin-top: .25rem; font-size: .875rem }
.info { background: var(--card); border-color: var(--field-line) }
.effects { margin-bottom: 1.25rem; padding-left: 1.125rem; list-style: disc }
.effects li { margin-bottom: .5rem }

.badge { display: inline-block; padding: .0625rem .5rem; border-radius: 1rem; font-size: .8125rem; font-weight: 550; white-space: nowrap; color: var(--on-tint); background: var(--tint) }
.badge.good { color: var(--good); background: var(--good-ground) }
.badge.bad { color: var(--bad); background: var(--bad-ground) }
.badge.warm { color: var(--warm); background: var(--warm-ground) }
.badge.plain { color: var(--quiet); background: var(--ground) }

.table-frame { position: relative; overflow-x: auto; margin-bottom: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .875rem; box-shadow: var(--shadow) }
.card .table-frame { border: 0; box-shadow: none; margin: 0; border-radius: 0 }
table { width: 100%; border-collapse: collapse }
th, td { padding: .625rem .75rem; text-align: left; vertical-align: top; overflow-wrap: break-word }
time, .whole { white-space: nowrap }
th.number, td.number { text-align: right }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; white-space: nowrap; border-bottom: 1px solid var(--line) }
tbody th { font-weight: 600 }
tbody th, td a:not(.button), td code { overflow-wrap: anywhere } tbody th .words { overflow-wrap: break-word }
@media (min-width: 40.01rem) { td .diff { min-width: 14rem } }
tbody tr + tr > * { border-top: 1px solid var(--line) }
@media (max-width: 40rem) { .previews .desk { width: 286px; height: 179px } .desk iframe { transform: scale(.2235) }
  table:not(.chart *), table:not(.chart *) tbody, table:not(.chart *) tr { display: block }
  table:not(.chart *) thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
  table:not(.chart *) tbody tr { padding: .75rem 1rem }
  table:not(.chart *) tbody tr + tr { border-top: 1px solid var(--line) }
  table:not(.chart *) tbody tr > * { display: flex; gap: .75rem; justify-content: space-between; padding: .1875rem 0; border: 0; text-align: right }
  table:not(.chart *) tbody tr > *::before { content: attr(data-label); flex: none; color: var(--quiet); font-size: .875rem; font-weight: 400 }
  table:not(.chart *) tbody tr > :empty { display: none }
  table:not(.chart *) tbody tr > * { overflow-wrap: anywhere }
  table:not(.chart *) tbody tr > th { display: block; text-align: left; font-size: 1.0625rem }
  table:not(.chart *) tbody td:has(.found-out) { flex-direction: column; gap: .125rem; text-align: left }
  table:not(.chart *) tbody th::before, [data-label='']::before { display: none }
}
.pager { display: flex; gap: .75rem; align-items: center }
form + .pager { margin-top: 1rem }
.empty { padding: 2.5rem 1.5rem; text-align: center; border: 1px dashed var(--field-line); border-radius: .875rem; margin-bottom: 1.25rem }
.empty p { color: var(--quiet); max-width: 34rem; margin-inline: auto }
.facts { display: grid; gap: .75rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); margin: 0 }
.facts dt { color: var(--quiet); font-size: .875rem }
.facts dd { margin: 0; overflow-wrap: anywhere }
.facts ~ h3, .facts + form, .facts + .hint, .facts ~ pre, pre ~ h3, .steps ~ h3, .table-frame ~ h3, .card > p ~ h3, .card .table-frame + .submit { margin-top: 1.25rem }
.facts a { display: inline-block; padding: .125rem 0; min-height: 1.625rem }
.copyable { display: flex; gap: .5rem; align-items: flex-start; margin: .5rem 0 }
pre { flex: 1; min-width: 0; margin: 0; padding: .625rem .875rem; overflow-x: auto; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; line-height: 1.6 }
pre code { white-space: pre; overflow-wrap: normal; user-select: all }
.copyable:not(.listing) code { white-space: pre-wrap; overflow-wrap: anywhere }
.copyable button { flex: none }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem; margin: 0 0 1rem; padding: 0 }
.tabs a { padding: .3125rem .6875rem; border: 1px solid var(--line); border-radius: .5rem; color: var(--text); text-decoration: none; font-size: .875rem }
.tabs a:hover { border-color: var(--field-line) }
.tabs [aria-current] { background: var(--tint); color: var(--on-tint); border-color: transparent; font-weight: 600 }
.rows > li { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; justify-content: space-between; align-items: flex-start; padding: 1rem 0; border-top: 1px solid var(--line) }
.rows > li:first-child { border-top: 0; padding-top: 0 } .rows > li:last-child { padding-bottom: 0 }
.rows > li > div { flex: 1 1 18rem; min-width: 0 }
.numbered { list-style: decimal; padding-left: 1.25rem } .numbered li { margin-top: .875rem } .numbered p { margin: 0 }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1.25rem 0 .75rem } .actions .submit { margin: 0 }
.tall pre { max-height: 26rem; overflow: auto }
.found-out { max-width: 34rem; overflow-wrap: anywhere } .found-out p { margin: .25rem 0 0 } .facts + .said { margin-top: .875rem }
.edit { margin: 1.25rem 0 } .further { margin-top: 1.25rem }
.lines { padding: .5rem 0; max-height: 30rem; overflow: auto; line-height: 1.5 }
.lines code { display: block; min-width: max-content; user-select: text }
.lines ins, .lines del, .same { display: block; padding: 0 .875rem; border-radius: 0; direction: ltr; unicode-bidi: isolate }
.same::before { content: '  ' / '' }
.keys { margin-inline: 0 } .keys p { margin: 0 0 .25rem } .keys li { margin-bottom: 1rem } .keys figcaption { margin: 0; font-weight: 400 }
.keys svg { display: block; width: 100%; height: 1rem; border-radius: .25rem; background: var(--ground) }
.signs { fill: var(--accent); background: var(--accent) } .accepts { fill: var(--tint); background: var(--tint); stroke: var(--field-line); vector-effect: non-scaling-stroke }
.kid, .age { white-space: nowrap }
.now { stroke: var(--text); stroke-width: 2; vector-effect: non-scaling-stroke } .swatch.at-now { width: 2px; border: 0; background: var(--text) }
.swatch { display: inline-block; width: .875rem; height: .875rem; border: 1px solid var(--field-line); border-radius: .25rem; vertical-align: -.125rem; margin-left: .5rem } .kept { white-space: nowrap }
details.calls { margin-top: 2rem; color: var(--quiet) }
summary { cursor: pointer; width: fit-content; padding: .25rem 0 }
.diff { margin: 0; display: grid; gap: .375rem }
.diff > div { display: flex; flex-wrap: wrap; gap: .125rem .75rem }
.diff dt { flex: 0 0 8rem; text-align: left; color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere }
.diff dd { flex: 1 1 12rem; margin: 0; min-width: 0; overflow-wrap: anywhere; font-family: var(--mono); font-size: .8125rem; text-align: left }
del, ins { display: block; padding: 0 .5rem; text-decoration: none; border-radius: .25rem }
del { color: var(--bad); background: var(--bad-ground) } del::before { content: '− ' / '' }
ins { color: var(--good); background: var(--good-ground) } ins::before { content: '+ ' / '' }
.steps > li { display: flex; gap: .875rem; padding: .875rem 0; border-top: 1px solid var(--line) }
.steps > li:first-child { border-top: 0; padding-top: 0 }
.steps > li > div { flex: 1; min-width: 0 }
.steps h3 { margin: 0 }
.tick { flex: none; display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border: 2px solid var(--field-line); border-radius: 50% }
.tick svg { width: 1.375rem; height: 1.375rem }
.tick.good { border: 0; color: var(--good) } .tick.bad { border: 0; color: var(--bad) }
.previews { display: flex; flex-wrap: wrap; gap: 1.25rem } .previews figure { margin: 0; min-width: 0 }
.previews .frame { overflow: hidden; border: 1px solid var(--field-line); border-radius: .75rem }
.previews iframe { display: block; border: 0; transform-origin: 0 0 }
.previews .phone { width: 234px; height: 456px } .phone iframe { width: 390px; height: 760px; transform: scale(.6) }
.previews .desk { width: 448px; height: 280px; max-width: 100% } .desk iframe { width: 1280px; height: 800px; transform: scale(.35) }
.chart { margin: 0 } .chart .plot { min-height: 14rem; margin: 0 0 .5rem }
.chart .plot .u-axis { color: var(--quiet) }
.chart .table-frame { max-height: 24rem; overflow: auto; margin-top: .5rem; border: 1px solid var(--line) }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-bottom: .75rem; font-size: .875rem }
.legend li { display: flex; gap: .5rem; align-items: center }
.legend svg { flex: none }
.legend b { min-width: 2ch; white-space: nowrap; font-variant-numeric: tabular-nums }
.line--accent { color: var(--accent) } .line--good { color: var(--good) } .line--bad { color: var(--bad) }
.line--warm { color: var(--warm) } .line--quiet { color: var(--quiet) } .line--text { color: var(--text) }
.tiles { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); margin: 0 0 1.25rem }
.tiles > div { padding: .875rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: .875rem; box-shadow: var(--shadow) }
.tiles dt { color: var(--quiet); font-size: .875rem }
.tiles dd { margin: 0; font-size: 1.5rem; font-weight: 650; letter-spacing: -.01em; font-variant-numeric: tabular-nums }
figcaption { font-weight: 600; margin-bottom: .5rem }
dialog { width: min(36rem, calc(100vw - 2rem)); margin: 12vh auto auto; padding: .75rem; color: var(--text); background: var(--card); border: 1px solid var(--field-line); border-radius: .875rem }
dialog::backdrop { background: rgb(10 14 24 / 45%) }
#found { max-height: 50vh; overflow: hidden auto; margin-top: .5rem; overflow-wrap: anywhere }
/* names may be 200 letters without a space */
.found span { min-width: 0 }
.found a { display: flex; gap: .75rem; align-items: baseline; justify-content: space-between; padding: .5rem .75rem; border-radius: .5rem; color: var(--text); text-decoration: none }
.found a:hover, .found a:focus { background: var(--tint); color: var(--on-tint) }
@media (max-width: 40rem) { .previews .desk { width: 286px; height: 179px } .desk iframe { transform: scale(.2235) } .search kbd { display: none } .account { flex: 1 1 0 } .account summary { max-width: 100%; text-align: right } .top { padding-inline: .875rem; flex-wrap: wrap } .whose { order: 1; flex-basis: 100% } .whose [aria-hidden] { display: none } .page-head { margin-bottom: 1.25rem } }
@media (forced-colors: active) { .badge, .notice, .button, .mark { border: 1px solid } }
@media print { .top, .side, .buttons, .submit, .calls { display: none } .inside { display: block } }
`
