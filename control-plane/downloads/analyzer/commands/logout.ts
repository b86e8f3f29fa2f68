import { EXIT } from '../../command-line/exit.ts'
import { visibleText, wrap } from '../../command-line/words.ts'
import type { Command } from './command.ts'

export const logout: Command = {
  name: 'logout',
  summary: 'deletes the saved key for this service',
  help: [
    'The key itself stays valid. If someone else may have it, rotate it on the integration page of your tenant.',
  ],
  options: [],
  takesFolder: false,
  documented: { removed: 'whether a key was saved' },
  async run(task) {
    const { text: baseUrl } = task.access.baseUrl()
    const removed = await task.profile.remove(baseUrl)
    const path = visibleText(task.profile.path)
    const text = removed
      ? `The key for ${baseUrl} was removed from ${path}.`
      : `No key for ${baseUrl} is saved.`
    return {
      exit: EXIT.done,
      text: wrap(text, task.terminal.columns),
      fields: { removed },
      next: removed ? { text: 'To save a key again:', command: 'service-analyzer login' } : null,
    }
  },
}
