/** What a tenant's Overview and the operators' Metrics have in common. */
import { html } from 'hono/html'
import type { Series } from '../../monitoring/series.ts'
import { chart } from '../blocks/chart.ts'
import { emptyState, table } from '../blocks/table.ts'
import { card } from '../blocks/text.ts'
import type { Html } from '../../pages/html.ts'
import type { Tenant } from '../../tenants/tenants.ts'
import {
  areRequestsCounted,
  outcomesAndReasons,
  refusalLines,
  requestLines,
  signInLines,
} from './chart-lines.ts'
import { outcomeText, reasonText } from './wording.ts'
import { FIGURE_OUTCOMES } from '../../store/monitoring-names.ts'

const REASONS_LISTED_MAX = 30

/** Big numbers first: what one looks at a page for. */
export function tiles(pairs: readonly (readonly [string, number | string | Html])[]): Html {
  const written = (value: number | string | Html) =>
    typeof value === 'number' ? value.toLocaleString('en') : value
  return html`<dl class="tiles">
    ${pairs.map(([label, value]) => html`<div><dt>${label}</dt><dd>${written(value)}</dd></div>`)}
  </dl>`
}

/** Of one tenant, or of all; in the hours of `timeZone`, where a tenant has chosen one. */
export function seriesCharts(
  series: Series,
  stepWords: string,
  {
    timeZone,
    mode,
  }: { readonly timeZone?: string | undefined; readonly mode?: Tenant['mode'] } = {},
): Html {
  const times = series.times.map((ms) => ms / 1000)
  const step = series.times.length > 1 ? (series.times[1] ?? 0) - (series.times[0] ?? 0) : 0
  const chartCard = (title: string, lines: ReturnType<typeof requestLines>, nothing: string) =>
    html`<div class="card">${chart({ title: `${title}, ${stepWords}`, times, lines, nothing, stepMs: step, timeZone })}</div>`
  return html`${chartCard(areRequestsCounted(series, mode) ? 'Requests' : 'Refused requests', requestLines(series, mode), 'No requests in this period.')}
  ${chartCard('Refusals by reason', refusalLines(series), 'No refusals in this period.')}
  ${chartCard('Sign-ins', signInLines(series), 'No sign-ins in this period.')}`
}

export const STEP_WORDS = { minute: 'per minute', hour: 'per hour', day: 'per day' } as const

export function reasonsCard(series: Series): Html {
  const rows = outcomesAndReasons(series)
  const left = rows.length - REASONS_LISTED_MAX
  return card(
    'Access decisions',
    html`${table({
      caption: 'Outcomes and reasons',
      rows: rows.slice(0, REASONS_LISTED_MAX),
      columns: [
        { label: 'Outcome', isName: true, cell: ({ outcome }) => outcomeText(outcome) },
        { label: 'Reason', cell: ({ reason }) => (reason === '' ? '—' : reasonText(reason)) },
        {
          label: 'Meaning',
          cell: ({ outcome }) => html`<span class="hint">${FIGURE_OUTCOMES[outcome]}</span>`,
        },
        { label: 'Count', isNumber: true, cell: ({ total }) => total.toLocaleString('en') },
      ],
      empty: emptyState('No data in this period', 'Choose a longer period above.'),
    })}
    ${left > 0 ? html`<p class="hint">And ${left} more with lower counts.</p>` : ''}`,
  )
}
