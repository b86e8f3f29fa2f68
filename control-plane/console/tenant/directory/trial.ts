/** What came of a dry run, step by step. Pure. */
import { html } from 'hono/html'
import type { DryRun, Step } from '../../../user-directory/dry-run.ts'
import { CHECK, WARNING } from '../../../pages/icons.ts'
import { facts, stepItem } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'

const TITLES: Readonly<Record<Step, string>> = {
  connect: 'Connect',
  read_only: 'Read-only access',
  query: 'Run the query',
  columns: 'Find the columns',
  look_up: 'Look up the test user',
  person: 'User details',
  hash: 'Password hash',
}

const STATES = {
  pass: { word: 'passed', tone: 'good', icon: CHECK },
  fail: { word: 'failed', tone: 'bad', icon: WARNING },
  skip: { word: 'skipped', tone: '', icon: '' },
} as const

export function trialBlock({ steps, sample }: Pick<DryRun, 'steps' | 'sample'>): Html {
  return html`<ol class="steps">${steps.map(({ step, status, detail }) =>
    stepItem(STATES[status], TITLES[step], html`<p class="hint">${detail}</p>`),
  )}</ol>
    ${
      sample === null
        ? ''
        : html`<h3>User found (masked)</h3>
            ${facts(Object.entries(sample).map(([name, value]) => [name, shown(value)]))}`
    }`
}

const shown = (value: unknown) =>
  value === null || value === undefined
    ? null
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
