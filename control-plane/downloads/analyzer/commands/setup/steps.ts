/** The way from nothing to live, step by step, and how far it has come. */
import { plainText, wrapUnder } from '../../../command-line/words.ts'
import type { Task } from '../command.ts'

const TITLES = {
  sign_in: 'Sign in',
  application: 'Find the application',
  apply: 'Add the middleware',
  install: 'Install the package',
  dry_run: 'Dry run',
  connector: 'Connect a connector',
  start: 'Start the application',
  verify: 'Verify',
  go_live: 'Go live',
  complete: 'Test one sign-in',
} as const
type StepName = keyof typeof TITLES
const ALL = Object.keys(TITLES) as StepName[]

type State = 'done' | 'failed' | 'open'
const NOT_BEGUN: { state: State; detail: string } = { state: 'open', detail: '' }

export type Steps = ReturnType<typeof createSteps>

export function createSteps({ show, terminal }: Pick<Task, 'show' | 'terminal'>) {
  const states = new Map<StepName, { state: State; detail: string }>()
  let names: readonly StepName[] = ALL.filter((name) => name !== 'connector')
  let current: StepName = 'sign_in'

  function line(step: StepName): string {
    const { state, detail } = states.get(step) ?? NOT_BEGUN
    const { paint, columns } = terminal
    const style = ({ done: 'green', failed: 'red', open: 'dim' } as const)[state]
    const start = `${names.indexOf(step) + 1}/${names.length} ${state.padEnd(6)} `
    const text = detail === '' ? TITLES[step] : `${TITLES[step]}: ${plainText(detail)}`
    const indent = ' '.repeat(start.length)
    return wrapUnder(start, indent, text, columns).replace(state, paint(style, state))
  }

  return {
    /** In connector mode there is one more. */
    withConnector: () => void (names = ALL),
    /** Shown before somebody is asked, or has to wait. */
    begin(step: StepName) {
      current = step
      show(`${names.indexOf(step) + 1}/${names.length}        ${TITLES[step]}`)
    },
    done(step: StepName, detail: string) {
      current = names[names.indexOf(step) + 1] ?? step
      states.set(step, { state: 'done', detail })
      show(line(step))
    },
    /** Whatever has begun and did not end. */
    fail(detail: string) {
      states.set(current, { state: 'failed', detail })
    },
    fields: () => names.map((step) => ({ step, ...(states.get(step) ?? NOT_BEGUN) })),
    /** Those that are not done, as a list. */
    left: () =>
      names
        .filter((step) => states.get(step)?.state !== 'done')
        .map(line)
        .join('\n'),
  }
}
