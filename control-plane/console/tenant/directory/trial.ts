/** What came of a dry run, step by step. Pure. */
import { html } from 'hono/html'
import type { DryRun, Step, StepResult } from '../../../user-directory/dry-run.ts'
import { CHECK, WARNING } from '../../../pages/icons.ts'
import { facts } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'

const TITLES: Readonly<Record<Step, string>> = {
  connect: 'Connect',
  read_only: 'Read only',
  query: 'Query',
  columns: 'Columns',
  look_up: 'Look somebody up',
  person: 'What is known of them',
  hash: 'Their password',
}

const STATES = {
  pass: { word: 'worked', tone: 'good', icon: CHECK },
  fail: { word: 'failed', tone: 'bad', icon: WARNING },
  skip: { word: 'not tried', tone: '', icon: '' },
} as const

export function trialBlock({ steps, sample }: Pick<DryRun, 'steps' | 'sample'>): Html {
  return html`<ol class="steps">${steps.map(stepItem)}</ol>
    ${
      sample === null
        ? ''
        : html`<h3>Who was found, masked</h3>
            ${facts(Object.entries(sample).map(([name, value]) => [name, shown(value)]))}`
    }`
}

function stepItem({ step, status, detail }: StepResult) {
  const { word, tone, icon } = STATES[status]
  return html`<li>
    <span class="tick ${tone}" aria-hidden="true">${icon}</span>
    <div>
      <h3>${TITLES[step]} <span class="unseen">(${word})</span></h3>
      <p class="hint">${detail}</p>
    </div>
  </li>`
}

const shown = (value: unknown) =>
  value === null || value === undefined
    ? null
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
