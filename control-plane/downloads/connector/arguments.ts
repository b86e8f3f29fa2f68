/** What was written behind the program's name, checked word by word. A token is taken from nowhere here. */
import { guess, splitArguments, type OptionHelp, type Words } from '../command-line/arguments.ts'
import { visibleText } from '../command-line/words.ts'
import { Problem } from '../command-line/exit.ts'

/** Every option of every command; a command names those that it takes. */
export const OPTIONS = {
  origin: { value: 'URL', text: 'your application, such as http://127.0.0.1:3000' },
  'origin-ca': {
    value: 'FILE',
    text: "the CA that your application's certificate is from, if it is one of your own",
  },
  'token-file': { value: 'FILE', text: 'the file with the join token' },
  name: { value: 'NAME', text: 'what the console calls this connector; default: the host name' },
  state: { value: 'DIR', text: 'the folder with the key and state of this connector' },
  'local-port': {
    value: 'PORT',
    text: 'where the connector answers programs on this machine, or none; default: 20317, or what it runs with',
  },
  json: { text: 'prints JSON' },
  print: { text: 'shows what would be installed, and installs nothing' },
  help: { short: 'h', text: 'shows help' },
  version: { text: 'shows the version' },
} as const satisfies Record<string, OptionHelp>
export type OptionName = keyof typeof OPTIONS

/** Taken by every command. */
export const GENERAL_OPTIONS: readonly OptionName[] = ['state', 'help']

export interface Taking {
  readonly name: string
  readonly options: readonly OptionName[]
  /** The one word that may follow the command's name, such as `install`; none: no word may. */
  readonly actions: readonly string[]
}

export interface Arguments {
  /** '' for an option that takes no value. */
  readonly options: ReadonlyMap<OptionName, string>
  readonly action: string | undefined
}

/** Before it is known which command it is. */
export function wordsOf(args: readonly string[]): Words {
  refuseTokens(args)
  return splitArguments(args, OPTIONS)
}

export function readArguments({ options, names }: Words, taking: Taking): Arguments {
  const known = [...taking.options, ...GENERAL_OPTIONS]
  const values = new Map<OptionName, string>()
  for (const { name, raw, value } of options) {
    const option = known.find((one) => one === name)
    if (option === undefined) throw unknownOption(raw, taking.name, known)
    const { value: wish }: OptionHelp = OPTIONS[option]
    if (wish === undefined && value !== undefined) throw invalid(`${raw} takes no value.`)
    if (wish !== undefined && (value ?? '') === '')
      throw invalid(`${raw} requires a value: ${wish}.`)
    if (values.has(option)) throw invalid(`${raw} appears twice.`)
    values.set(option, value ?? '')
  }
  const [action, ...more] = names
  const unwanted = taking.actions.length === 0 ? action : more[0]
  if (unwanted !== undefined)
    throw invalid(`${taking.name} does not take ${JSON.stringify(visibleText(unwanted))}.`)
  if (taking.actions.length > 0 && !taking.actions.includes(action ?? ''))
    throw invalid(
      `${taking.name} must be followed by ${taking.actions.join(' or ')}${guess(action ?? '', taking.actions)}`,
    )
  return { options: values, action }
}

function unknownOption(raw: string, command: string, known: readonly OptionName[]): Problem {
  const said = raw.startsWith('--')
    ? guess(
        raw,
        known.map((name) => `--${name}`),
      )
    : '.'
  return new Problem(
    'unknown_option',
    `${command} does not take ${JSON.stringify(visibleText(raw).slice(0, 60))}${said}`,
    `See: service-connector help ${command}`,
  )
}

export const invalid = (...lines: readonly string[]) => new Problem('option_invalid', ...lines)

const TOKEN_OPTION = /^--?(?:join-?)?(?:token|key|secret|password)(?:=|$)/i
/** As join tokens are written. */
const TOKEN = /sct_[\w-]{16,}/

function refuseTokens(args: readonly string[]): void {
  if (!args.some((arg) => TOKEN.test(arg) || TOKEN_OPTION.test(arg))) return
  throw new Problem(
    'token_in_argument',
    'Join tokens are not accepted as arguments: they would stay in your shell history, and other programs on this machine could read them.',
    'Leave it out and paste it when asked, or put it into a file: --token-file FILE',
    'In scripts, set SERVICE_CONNECTOR_TOKEN.',
    'If you typed a real token, delete it on the Connectors page and make another.',
  )
}
