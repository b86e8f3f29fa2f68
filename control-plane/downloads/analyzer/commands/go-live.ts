/** `go-live`, and the way back from it. */
import type { OrRefused, ProtectionAnswer } from '../api.ts'
import { EXIT } from '../../command-line/exit.ts'
import { wrap } from '../../command-line/words.ts'
import type { Command, Outcome, Task } from './command.ts'
import { refusedOutcome } from './show-checks.ts'

const PROTECTION_FIELDS = {
  tenant_id: 'the tenant',
  protection: 'on or pass-through',
  at: 'since when',
} as const

export const goLive: Command = {
  name: 'go-live',
  summary: 'turns protection on: every request requires a sign-in',
  help: [
    'Requires that verification confirmed the middleware and the key within the last day, and that the latest “verify” found nothing open. Running it again is safe.',
  ],
  options: ['anyway'],
  takesFolder: false,
  documented: PROTECTION_FIELDS,
  async run(task) {
    const api = await task.access.api()
    const wish = { isAnyway: task.given.flags.has('anyway') }
    return protectionOutcome(task, await task.terminal.during('Going live', () => api.goLive(wish)))
  },
}

export const goBack: Command = {
  name: 'go-back',
  summary: 'turns protection off again; always allowed',
  help: ['Every request passes through to the application. The integration stays in place.'],
  options: [],
  takesFolder: false,
  documented: PROTECTION_FIELDS,
  async run(task) {
    const api = await task.access.api()
    return protectionOutcome(
      task,
      await task.terminal.during('Turning protection off', () => api.goBack()),
    )
  },
}

function protectionOutcome(task: Task, answer: OrRefused<ProtectionAnswer>): Outcome {
  if ('refused' in answer) return refusedOutcome(task, answer.refused)
  const { tenant_id, protection, at } = answer.done
  const { columns, paint } = task.terminal
  const isOn = protection === 'on'
  const text = `of ${tenant_id} since ${at}: every request ${isOn ? 'requires a sign-in' : 'passes through'}.`
  const said = wrap(`Protection is ${isOn ? 'on' : 'off'} ${text}`, columns)
  return {
    exit: EXIT.done,
    text: said.replace(/^Protection is \w+/, (start) => paint(isOn ? 'green' : 'yellow', start)),
    fields: { tenant_id, protection, at },
    next: isOn
      ? { text: 'To test one sign-in from end to end:', command: 'service-analyzer complete' }
      : { text: 'To turn it on again:', command: 'service-analyzer go-live' },
  }
}
