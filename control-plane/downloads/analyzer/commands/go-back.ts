import type { Command } from './command.ts'
import { PROTECTION_FIELDS, protectionOutcome } from './go-live.ts'

export const goBack: Command = {
  name: 'go-back',
  summary: 'turns protection off again; never refused',
  help: ['Every request passes through to the application. Nothing of the integration is undone.'],
  options: [],
  takesFolder: false,
  documented: PROTECTION_FIELDS,
  async run(task) {
    const api = await task.access.api()
    return protectionOutcome(task, await task.terminal.during('Going back', () => api.goBack()))
  },
}
