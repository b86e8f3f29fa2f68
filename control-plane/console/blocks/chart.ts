/** A chart with its numbers: the script draws it, and without one the table says the same. */
import { html } from 'hono/html'
import { DAY_MS } from '../../../shared/clock.ts'
import type { Html } from '../../pages/html.ts'
import { lookOf } from './line-looks.ts'

export interface ChartLine {
  readonly label: string
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[]
  readonly tone?: 'good' | 'bad' | 'warm' | 'plain'
  /** A line that is no count, as a threshold: it has no sum. */
  readonly isLevel?: boolean
}

interface ChartView {
  readonly title: string
  /** Seconds since 1970, as uPlot takes them. */
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
  /** From one time to the next; days are days of UTC. */
  readonly stepMs?: number
  /** Whose hours are meant; the viewer's own, if nothing is said. */
  readonly timeZone?: string | undefined
  /** What is said instead of a chart that is all zero. */
  readonly nothing?: string
  /** What is said of a line as a whole; its sum, unless this is set. */
  readonly summary?: 'sum' | 'most'
}

/** A page with one of these sets `hasCharts`. */
export function chart(view: ChartView): Html {
  const { title, lines, nothing = 'No data in this period.' } = view
  const isEmpty = lines.every(
    ({ values, isLevel = false }) => isLevel || values.every((one) => !one),
  )
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    ${isEmpty ? html`<p class="hint">${nothing}</p>` : plot(view)}
  </figure>`
}

function plot({ title, times, lines, stepMs = 0, summary = 'sum', ...view }: ChartView): Html {
  const isByDay = stepMs >= DAY_MS
  const timeZone = isByDay ? 'UTC' : view.timeZone
  const plotted = JSON.stringify({
    times,
    lines: lines.map(({ label, values, tone }) => ({ label, values, tone })),
    timeZone,
  })
  return html`<ul class="legend">
      ${lines.map((line, index) => legendEntry(line, index, summary))}
    </ul>
    <div class="plot" data-chart="${plotted}" role="img" aria-label="${title}; the data is in the table below" hidden></div>
    <details>
      <summary>Show data table</summary>
      ${numbers(title, times, lines, isByDay, timeZone)}
    </details>`
}

function legendEntry({ label, values, tone, isLevel }: ChartLine, index: number, summary: string) {
  const { colour, dash } = lookOf(index, tone)
  const known = values.filter((one) => one !== null)
  const most = known.reduce((max, one) => Math.max(max, one), 0)
  const sum = known.reduce((all, one) => all + one, 0)
  const said = isLevel === true || summary === 'most' ? most : sum
  return html`<li>
    <svg viewBox="0 0 34 10" width="34" height="10" aria-hidden="true" class="line${colour}">
      <path d="M0 5h34" fill="none" stroke="currentColor" stroke-width="2.5" stroke-dasharray="${dash.join(' ')}" />
    </svg>
    <span>${label}</span> <b data-value>${said.toLocaleString('en')}</b>
  </li>`
}

/** Newest first. */
function numbers(
  title: string,
  times: readonly number[],
  lines: readonly ChartLine[],
  isByDay: boolean,
  timeZone: string | undefined,
): Html {
  const rows = times.map((seconds, index) => ({ seconds, index })).reverse()
  return html`<div class="table-frame" role="region" aria-label="${title}" tabindex="0">
    <table>
      <caption class="unseen">${title}</caption>
      <thead>
        <tr><th scope="col">Time${timeZone === undefined ? '' : ` (${timeZone})`}</th>${lines.map(({ label }) => html`<th scope="col" class="number">${label}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(({ seconds, index }) => {
          return html`<tr>
            <th scope="row">${timeOf(seconds, isByDay, timeZone)}</th>
            ${lines.map(({ values }) => html`<td class="number">${values[index] ?? ''}</td>`)}
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}

/** Days of UTC and hours of a zone that is named are the same for every viewer. */
function timeOf(seconds: number, isByDay: boolean, timeZone: string | undefined): Html {
  const iso = new Date(seconds * 1000).toISOString()
  if (isByDay) return html`${iso.slice(0, 10)}`
  if (timeZone !== undefined) {
    const there = Temporal.Instant.from(iso).toZonedDateTimeISO(timeZone).toPlainDateTime()
    return html`${there.toString({ smallestUnit: 'minute' }).replace('T', ' ')}`
  }
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`
}
