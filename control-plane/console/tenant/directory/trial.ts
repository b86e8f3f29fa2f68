/** What came of a dry run, step by step. Pure. */
import { html } from 'hono/html'
import type { DryRun, Step } from '../../../user-directory/dry-run.ts'
import { CHECK, WARNING } from '../../../pages/icons.ts'
import { facts, stepItem } from '../../blocks/text.ts'
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
  return html`<ol class="steps">${steps.map(({ step, status, detail }) =>
    stepItem(STATES[status], TITLES[step], html`<p class="hint">${detail}</p>`),
  )}</ol>
    ${
      sample === null
        ? ''
        : html`<h3>Who was found, masked</h3>
            ${facts(Object.entries(sample).map(([name, value]) => [name, shown(value)]))}`
    }`
}

const shown = (value: unknown) =>
  value === null || value === undefined
    ? null
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
