/** A chart with its numbers: the script draws it, and without one the table says the same. */
import { html } from 'hono/html'
import type { Html } from '../layout.ts'

export interface ChartLine {
  readonly label: string
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[]
  readonly tone?: 'good' | 'bad' | 'plain'
}

export interface ChartView {
  readonly title: string
  /** Seconds since 1970, as uPlot takes them. */
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
}

/** A page with one of these sets `hasCharts`. */
export function chart({ title, times, lines }: ChartView): Html {
  const plotted = JSON.stringify({ times, lines })
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    <div class="plot" data-chart="${plotted}" role="img" aria-label="${title}; the numbers are in the table below" hidden></div>
    <details>
      <summary>The numbers</summary>
      <div class="table-frame" role="region" aria-label="${title}" tabindex="0">
        <table>
          <caption class="unseen">${title}</caption>
          <thead>
            <tr><th scope="col">Time</th>${lines.map(({ label }) => html`<th scope="col" class="number">${label}</th>`)}</tr>
          </thead>
          <tbody>
            ${times.map((seconds, index) => {
              const iso = new Date(seconds * 1000).toISOString()
              return html`<tr>
                <th scope="row"><time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time></th>
                ${lines.map(({ values }) => html`<td class="number">${values[index] ?? ''}</td>`)}
              </tr>`
            })}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`
}
