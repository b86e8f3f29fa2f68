import { EXIT } from '../exit.ts'
import { visibleText, wrap } from '../terminal/words.ts'
import type { Command } from './command.ts'

export const logout: Command = {
  name: 'logout',
  summary: 'forgets the saved key of this service',
  help: [
    'The key itself stays valid: have it rotated on the integration page of your tenant, if somebody else may have it.',
  ],
  options: [],
  takesFolder: false,
  documented: { removed: 'whether there was one' },
  async run(task) {
    const { text: baseUrl } = task.access.baseUrl()
    const removed = await task.profile.remove(baseUrl)
    const path = visibleText(task.profile.path)
    const text = removed
      ? `The key for ${baseUrl} is no longer in ${path}.`
      : `No key for ${baseUrl} is saved; there is nothing to forget.`
    return {
      exit: EXIT.done,
      text: wrap(text, task.terminal.columns),
      fields: { removed },
      next: removed ? { text: 'To save one again:', command: 'service-analyzer login' } : null,
    }
  },
}
