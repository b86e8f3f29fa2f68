/** The checks of a tenant: what was found, by whom, when, and what to do next. */
import { html } from 'hono/html'
import type { CheckRow } from '../../../store/queries/verification.ts'
import type { CheckResult } from '../../../verification/checks.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { age, badge, type Tone } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { checkTitle } from '../check-titles.ts'
import { isFresh } from './readiness.ts'

const RESULTS: Readonly<Record<CheckResult['status'], readonly [string, Tone]>> = {
  pass: ['Passed', 'good'],
  fail: ['Failed', 'bad'],
  warn: ['Warning', 'warm'],
  skip: ['Not run', 'plain'],
}

/** The word of the tool is its own: it takes nobody live, and can hold that back. */
const SOURCES: Readonly<Record<CheckRow['source'], string>> = {
  platform: 'This service',
  self_report: 'Command-line tool',
}

export function checksTable(checks: readonly CheckRow[], nowMs: number): Html {
  return table({
    caption: 'Checks',
    rows: checks,
    columns: [
      { label: 'Check', isName: true, cell: ({ check }) => checkTitle(check) },
      { label: 'Result', cell: (row) => resultBadge(row) },
      { label: 'Details and next step', cell: (row) => found(row) },
      { label: 'Checked by', cell: ({ source }) => SOURCES[source] },
      {
        label: 'Last checked',
        cell: (row) =>
          html`${age(row.at, nowMs)}${row.source === 'platform' && row.status === 'pass' && !isFresh(row, nowMs) ? html`<br />${badge('Too old to go live', 'warm')}` : ''}`,
      },
    ],
    empty: emptyState(
      'No checks yet',
      'Checks send valid and forged requests to your application through this service, and tell you what to fix.',
    ),
  })
}

/** The steps of one trial sign-in, which nobody keeps. */
export function trialTable(checks: readonly CheckResult[]): Html {
  return table({
    caption: 'Test sign-in steps',
    rows: checks,
    columns: [
      { label: 'Step', isName: true, cell: ({ check }) => checkTitle(check) },
      { label: 'Result', cell: (row) => resultBadge(row) },
      { label: 'Details and next step', cell: (row) => found(row) },
    ],
    empty: emptyState('The test didn’t start', 'See above what is missing.'),
  })
}

function resultBadge({ status }: Pick<CheckResult, 'status'>): Html {
  const [text, tone] = RESULTS[status]
  return badge(text, tone)
}

function found({
  detail,
  nextAction,
  status,
}: Pick<CheckResult, 'detail' | 'nextAction' | 'status'>) {
  return html`<div class="found-out">
    ${detail === '' ? (status === 'pass' ? 'OK.' : '') : detail}
    ${nextAction === '' ? '' : html`<p><b>Next step:</b> ${nextAction}</p>`}
  </div>`
}
