import { EXIT } from '../../command-line/exit.ts'
import type { Api, Facts, VerificationAnswer } from '../api.ts'
import { wrap } from '../../command-line/words.ts'
import type { Command, Outcome, Task } from './command.ts'
import { checkLines, nextOf, nothingFails, refusedOutcome } from './show-checks.ts'

export const HELD_BACK =
  'the checks that the latest self-report fails and go-live is refused for: local_checks_failed'

export const probe: Command = {
  name: 'probe',
  summary: 'asks the service to check your application from outside',
  help: [
    'The service sends genuine and forged probes to each hostname of your tenant, the way visitors reach it. Changes nothing. “verify” also checks this project.',
  ],
  options: [],
  takesFolder: false,
  documented: {
    status: 'pass, fail or unknown',
    checks: 'a list of {check, status, detail, next_action, at, source}',
    held_back: HELD_BACK,
  },
  async run(task) {
    const answer = await probed(task, await task.access.api())
    if ('refused' in answer) return refusedOutcome(task, answer.refused)
    return verificationOutcome(task, answer.done)
  },
}

export function probed(task: Task, api: Api) {
  return task.terminal.during('The service is checking the application', () => api.probe())
}

export function verificationOutcome(
  task: Task,
  { status: seen, checks, held_back: held }: VerificationAnswer,
  { protection, ...fields }: Outcome['fields'] & { readonly protection?: Facts['protection'] } = {},
): Outcome {
  const { paint } = task.terminal
  // what the service has seen meanwhile does not let it go live
  const status = held.length === 0 ? seen : 'fail'
  const verdict = paint(status === 'pass' ? 'green' : status === 'fail' ? 'red' : 'yellow', status)
  const lines = [
    wrap(`Verification: ${verdict} (${task.access.baseUrl().text})`, task.terminal.columns),
    ...(checks.length === 0 ? [] : ['', ...checkLines(checks, task.terminal)]),
    ...(held.length === 0 || protection === 'on' ? [] : ['', heldBack(task, held)]),
  ]
  return {
    exit: status === 'pass' ? EXIT.done : EXIT.notSo,
    text: lines.join('\n'),
    fields: { status, checks, held_back: held, ...fields },
    next: nextOf(task, checks, {
      text: `${nothingFails(checks)} ${protection === 'on' ? 'To test one sign-in' : 'To turn protection on'}:`,
      command: `service-analyzer ${protection === 'on' ? 'complete' : 'go-live'}`,
    }),
  }
}

const heldBack = (task: Task, held: readonly string[]) =>
  wrap(
    `go-live is refused while the latest report of this project fails ${held.join(', ')}. Fix that and run verify in the project, or accept it with ${task.line('go-live --anyway')}.`,
    task.terminal.columns,
  )
