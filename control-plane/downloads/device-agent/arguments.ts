/** What was written behind the program's name. A ticket is taken from nowhere here. */
import { parseArgs } from 'node:util'
import { LIMITS } from '../../../shared/limits.ts'
import { visibleText } from '../command-line/words.ts'
import { Problem } from '../command-line/exit.ts'

/** Every option of every command; a command names those that it takes. */
export const OPTIONS = {
  state: {
    type: 'string',
    text: '--state DIR      the folder with the key and state of this device',
  },
  facts: { type: 'string', text: '--facts FILE     the file with the collected facts' },
  port: { type: 'string', text: '--port PORT      where sign-ins reach the agent; default: 18653' },
  again: {
    type: 'boolean',
    text: '--again          enrolls again, even if this device is enrolled',
  },
  print: { type: 'boolean', text: '--print          prints what is found out, and keeps nothing' },
  json: { type: 'boolean', text: '--json           prints JSON' },
  help: { type: 'boolean', text: '--help           shows help' },
  version: { type: 'boolean', text: '--version        shows the version' },
} as const
export type OptionName = keyof typeof OPTIONS

export interface Arguments {
  readonly name: string | undefined
  readonly action: string | undefined
  readonly values: ReadonlyMap<OptionName, string>
}

export function readArguments(args: readonly string[]): Arguments {
  refuseTickets(args)
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, { type }]) => [name, { type }]),
  )
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options,
  })
  const values = new Map<OptionName, string>()
  const names: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') names.push(token.value)
    if (token.kind !== 'option') continue
    const name = (Object.keys(OPTIONS) as OptionName[]).find((one) => one === token.name)
    if (name === undefined)
      throw new Problem('unknown_option', `There is no option ${shown(token.rawName)}.`, SEE_HELP)
    const isEmpty = (token.value ?? '') === ''
    if ((OPTIONS[name].type === 'string') === isEmpty)
      throw invalid(`${token.rawName} ${isEmpty ? 'requires' : 'takes no'} value.`)
    if (values.has(name)) throw invalid(`${token.rawName} appears twice.`)
    values.set(name, token.value ?? '')
  }
  const [name, action, ...more] = names
  if (more[0] !== undefined) throw invalid(`${shown(more[0])} is too much.`)
  return { name, action, values }
}

export const SEE_HELP = 'All commands: service-device-agent help'

export const invalid = (...lines: readonly string[]) => new Problem('option_invalid', ...lines)

/** Any free one, where it is 0: for a test. */
export function portIn(text: string | undefined): number {
  if (text === undefined) return LIMITS.deviceProofPort
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw invalid('--port must be a number up to 65535.')
}

const shown = (text: string) => JSON.stringify(visibleText(text).slice(0, 60))

const TICKET_OPTION = /^--?(?:device-?)?(?:ticket|token|key|secret|password)(?:=|$)/i
/** As tickets are written: nothing else that is typed here is so long a word. */
const TICKET = /^(?:--?[a-z]+=)?(?:[a-z]{2,5}_)?[\w-]{40,}$/i

function refuseTickets(args: readonly string[]): void {
  if (!args.some((arg) => TICKET.test(arg) || TICKET_OPTION.test(arg))) return
  throw new Problem(
    'ticket_in_argument',
    'Tickets are not accepted as arguments: they would stay in your shell history, and other programs on this machine could read them.',
    'Leave it out and paste it when asked, or give it on standard input.',
    'If you typed a real ticket, revoke it on the Devices page and make another.',
  )
}
