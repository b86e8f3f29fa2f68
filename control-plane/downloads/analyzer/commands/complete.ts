import { EXIT } from '../../command-line/exit.ts'
import { wrap } from '../../command-line/words.ts'
import type { Command } from './command.ts'
import { checkLines, refusedOutcome } from './show-checks.ts'

export const complete: Command = {
  name: 'complete',
  summary: 'runs one sign-in from end to end and marks the integration complete',
  help: [
    'The service signs in as a browser would, with a test user made for this: front page, sign-in page, callback, application, sign-out. Your application sees that user once, as “sign-in-check-…”.',
  ],
  options: [],
  takesFolder: false,
  documented: {
    completed_at: 'when the integration was completed',
    checks: 'the steps of the sign-in: {check, status, detail, next_action}',
  },
  async run(task) {
    const api = await task.access.api()
    const answer = await task.terminal.during('Running one sign-in from end to end', () =>
      api.complete(),
    )
    if ('refused' in answer) return refusedOutcome(task, answer.refused)
    const { completed_at, checks } = answer.done
    const { columns, paint } = task.terminal
    const said = wrap(`Integration complete since ${completed_at}.`, columns)
    return {
      exit: EXIT.done,
      text: [...checkLines(checks, task.terminal), '', paint('green', said)].join('\n'),
      fields: { completed_at, checks },
      next: { text: 'To see the status at any time:', command: task.line('status') },
    }
  },
}
