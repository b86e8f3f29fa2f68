import type { Readable } from 'node:stream'
import { EXIT, Problem } from '../../command-line/exit.ts'
import { checkedKey, keyMissing } from '../key.ts'
import { signInByCode } from '../sign-in/sign-in-by-code.ts'
import { visibleText, wrap } from '../../command-line/words.ts'
import type { Command, Task } from './command.ts'

const KEY_BYTES_MAX = 4096

export const login: Command = {
  name: 'login',
  summary: 'signs in with the browser and saves the analyzer key for you only',
  help: [
    'Shows an address and a code. An administrator of the tenant opens the address, compares the code and allows the request; there is no key to paste.',
    'With --key it is pasted instead, without being shown: it is on the integration page of your tenant. From a pipe it is read from standard input: “service-analyzer login < key.txt”. It is saved, one per address of a service, in a file that only you can read.',
    'A key in SERVICE_ANALYZER_KEY takes precedence over the saved one.',
  ],
  options: ['key', 'no-browser'],
  takesFolder: false,
  documented: {
    tenant_id: 'whose key it is',
    mode: 'gateway, connector or sdk',
    profile: 'the file that it is saved in',
  },
  async run(task) {
    const { text: baseUrl } = task.access.baseUrl()
    const isAsked = task.terminal.isInteractive && !task.given.flags.has('key')
    const facts = isAsked ? await signIn(task) : await enterKey(task)
    if ((task.world.environment['SERVICE_ANALYZER_KEY'] ?? '') !== '')
      task.warn('SERVICE_ANALYZER_KEY is set too, and takes precedence over the saved key.')
    const { columns, paint } = task.terminal
    const said = `The key of tenant ${facts.tenant_id} at ${baseUrl} is saved in ${visibleText(task.profile.path)}, for you alone.`
    return {
      exit: EXIT.done,
      text: wrap(said, columns).replace('The key', paint('green', 'The key')),
      fields: { tenant_id: facts.tenant_id, mode: facts.mode, profile: task.profile.path },
      next: { text: 'In the folder of your application:', command: 'service-analyzer setup' },
    }
  },
}

/** In the browser; the key is tried and saved. */
export async function signIn(task: Task) {
  const { access, folder, terminal, world, profile, given, hide } = task
  const { text: baseUrl } = access.baseUrl()
  const { environment, nowMs } = world
  const handedOut = await signInByCode({
    api: access.apiWith(null),
    baseUrl,
    folder,
    terminal,
    environment,
    wantsBrowser: !given.flags.has('no-browser'),
    nowMs,
    hide,
  })
  const { analyzer_key: key, client_secret: clientSecret } = handedOut
  access.useKey(key)
  const facts = await (await access.api()).facts()
  const secret = clientSecret !== undefined && { clientSecret }
  await profile.save(baseUrl, { key, tenantId: facts.tenant_id, ...secret })
  return facts
}

async function enterKey(task: Task) {
  const { text: baseUrl } = task.access.baseUrl()
  const key = checkedKey(await enteredKey(task, baseUrl), 'What was entered')
  const api = task.access.apiWith(key)
  const facts = await task.terminal.during('Trying the key', () => api.facts())
  await task.profile.save(baseUrl, { key, tenantId: facts.tenant_id })
  return facts
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
