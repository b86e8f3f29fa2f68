/** Results of checks, whoever made them, as people and as programs read them. */
import type { Refused } from '../api.ts'
import { EXIT } from '../../command-line/exit.ts'
import type { Style } from '../terminal/paint.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plainText, wrap, wrapUnder } from '../../command-line/words.ts'
import type { NextStep, Outcome, Task } from './command.ts'

interface ShownCheck {
  readonly check: string
  readonly status: string
  readonly detail: string
  readonly next_action: string
  readonly source?: string
}

const INDENT = ' '.repeat(8)
const STYLES: Readonly<Record<string, Style>> = {
  pass: 'green',
  ok: 'green',
  fail: 'red',
  warn: 'yellow',
  skip: 'dim',
}

/** What is wrong is told with what to do; what is right in one line. */
export function checkLines(
  checks: readonly ShownCheck[],
  look: Pick<Terminal, 'columns' | 'paint'>,
): string[] {
  return checks.map(({ check, status, detail, next_action: action, source }) => {
    const mark = (status === 'fail' ? 'FAIL' : status).padEnd(6)
    const origin = source === 'self_report' ? ' (self-report)' : ''
    const lines = [`  ${look.paint(STYLES[status] ?? 'bold', mark)}${plainText(check)}${origin}`]
    if (detail !== '') lines.push(wrapUnder(INDENT, INDENT, plainText(detail), look.columns))
    if (action !== '' && status !== 'pass')
      lines.push(wrapUnder(`${INDENT}> `, `${INDENT}  `, plainText(action), look.columns))
    return lines.join('\n')
  })
}

/** The one thing to do after these results. */
export function nextOf(task: Task, checks: readonly ShownCheck[], passed: NextStep): NextStep {
  const failing = checks.filter(({ status }) => status === 'fail')
  if (checks.length === 0 || (failing.length === 0 && checks.every(isSkipped)))
    return { text: 'No checks have run yet.', command: task.line('verify') }
  const [first] = failing
  if (first === undefined) return passed
  const count = `${failing.length} of ${checks.length} checks ${failing.length === 1 ? 'fails' : 'fail'}`
  return {
    text: `${count}. Fix ${plainText(first.check)} first, then verify again:`,
    command: task.line('verify'),
  }
}

/** A warning is no failure, and is not passed over. */
export function nothingFails(checks: readonly Pick<ShownCheck, 'status'>[]): string {
  const count = checks.filter((one) => one.status === 'warn').length
  if (count === 0) return 'No check failed.'
  return count === 1
    ? 'No check failed, and 1 warning is for you to judge.'
    : `No check failed, and ${count} warnings are for you to judge.`
}

const isSkipped = ({ status }: ShownCheck) => status === 'skip'

/** 409: the service has understood, and says what is missing. */
export function refusedOutcome(task: Task, refused: Refused): Outcome {
  const { columns, paint } = task.terminal
  const { error, detail, missing, checks } = refused
  const lines = [
    wrapUnder(`${paint('red', 'Refused:')} `, '', detail || 'the service gave no reason', columns),
    ...(missing.length === 0 ? [] : [wrap(`Missing: ${missing.join(', ')}.`, columns)]),
    ...(checks.length === 0 ? [] : ['', ...checkLines(checks, task.terminal)]),
  ]
  return {
    exit: EXIT.notSo,
    text: lines.join('\n'),
    fields: { refused: { error, detail, missing }, checks },
    next:
      missing.length === 0
        ? null
        : { text: 'To see what is missing and how to fix it:', command: task.line('verify') },
  }
}
