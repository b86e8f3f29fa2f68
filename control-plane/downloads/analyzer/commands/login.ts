import type { Readable } from 'node:stream'
import { EXIT, Problem } from '../exit.ts'
import { checkedKey, keyMissing } from '../settings.ts'
import { visibleText, wrap } from '../terminal/words.ts'
import type { Command, Task } from './command.ts'

const KEY_BYTES_MAX = 4096

export const login: Command = {
  name: 'login',
  summary: 'asks for the analyzer key, tries it, and saves it for you alone',
  help: [
    'The key is on the integration page of your tenant. It is asked for without being shown, or read from standard input: «service-analyzer login < key.txt». It is saved, one per address of a service, in a file that only you can read.',
    'A key in SERVICE_ANALYZER_KEY goes before the saved one.',
  ],
  options: [],
  takesFolder: false,
  documented: {
    tenant_id: 'whose key it is',
    mode: 'gateway, connector or sdk',
    profile: 'the file that it is saved in',
  },
  async run(task) {
    const { text: baseUrl } = task.access.baseUrl()
    const key = checkedKey(await enteredKey(task, baseUrl), 'What was entered')
    const api = task.access.apiWith(key)
    const facts = await task.terminal.during('Trying the key', () => api.facts())
    await task.profile.save(baseUrl, { key, tenantId: facts.tenant_id })
    if ((task.world.environment['SERVICE_ANALYZER_KEY'] ?? '') !== '')
      task.warn('SERVICE_ANALYZER_KEY is set as well, and goes before what has been saved.')
    const { columns, paint } = task.terminal
    const said = `The key of tenant ${facts.tenant_id} at ${baseUrl} is saved in ${visibleText(task.profile.path)}, for you alone.`
    return {
      exit: EXIT.done,
      text: wrap(said, columns).replace('The key', paint('green', 'The key')),
      fields: { tenant_id: facts.tenant_id, mode: facts.mode, profile: task.profile.path },
      next: { text: 'In the folder of your application:', command: 'service-analyzer analyze' },
    }
  },
}

async function enteredKey(task: Task, baseUrl: string): Promise<string> {
  const { terminal, world } = task
  let key: string
  if (terminal.isInteractive) {
    terminal.remark(`The analyzer key of your tenant is on its integration page at ${baseUrl}.`)
    key = await terminal.askSecret('Analyzer key (not shown):')
  } else {
    if (world.stdin.isTTY) throw keyMissing() // nobody may be asked
    key = await firstLine(world.stdin)
  }
  if (key.trim() === '') throw keyMissing()
  task.hide(key.trim())
  return key.trim()
}

async function firstLine(input: Readable): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += String(chunk)
    if (text.length > KEY_BYTES_MAX)
      throw new Problem('key_malformed', 'What came from standard input is no key.')
  }
  return text.trim()
}
