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
  warn: ['Look at it', 'warm'],
  skip: ['Not run', 'plain'],
}

/** The word of the tool is its own: it never counts for going live. */
const SOURCES: Readonly<Record<CheckRow['source'], string>> = {
  platform: 'This service, from outside',
  self_report: 'The command line tool says so',
}

export function checksTable(checks: readonly CheckRow[], nowMs: number): Html {
  return table({
    caption: 'Checks',
    rows: checks,
    columns: [
      { label: 'Check', isName: true, cell: ({ check }) => checkTitle(check) },
      { label: 'Result', cell: (row) => resultBadge(row) },
      { label: 'Found, and what to do', cell: (row) => found(row) },
      { label: 'Who looked', cell: ({ source }) => SOURCES[source] },
      {
        label: 'When',
        cell: (row) =>
          html`${age(row.at, nowMs)}${row.source === 'platform' && row.status === 'pass' && !isFresh(row, nowMs) ? html`<br />${badge('Too old to go live', 'warm')}` : ''}`,
      },
    ],
    empty: emptyState(
      'Nothing has been checked yet',
      'The checks ask your application true and forged questions through the service, and say what to do about the answers.',
    ),
  })
}

/** The steps of one trial sign-in, which nobody keeps. */
export function trialTable(checks: readonly CheckResult[]): Html {
  return table({
    caption: 'Steps of the trial sign-in',
    rows: checks,
    columns: [
      { label: 'Step', isName: true, cell: ({ check }) => checkTitle(check) },
      { label: 'Result', cell: (row) => resultBadge(row) },
      { label: 'Found, and what to do', cell: (row) => found(row) },
    ],
    empty: emptyState('It did not get to the first step', 'What is missing stands above.'),
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
    ${detail === '' ? (status === 'pass' ? 'As it should be.' : '') : detail}
    ${nextAction === '' ? '' : html`<p><b>Do this:</b> ${nextAction}</p>`}
  </div>`
}
