/** What was written behind the program's name, checked word by word. A key is taken from nowhere here. */
import { guess, splitArguments, type OptionHelp, type Words } from '../command-line/arguments.ts'
import { Problem } from '../command-line/exit.ts'
import { visibleText } from '../command-line/words.ts'

const MODES = ['gateway', 'connector', 'sdk'] as const
type Mode = (typeof MODES)[number]

export const OPTIONS = {
  'use-ai': { text: 'asks the AI model of the service for a guide; shows what is sent first' },
  mode: {
    value: MODES.join('|'),
    text: 'the mode of the tenant, if the service cannot be asked',
  },
  app: { value: 'FOLDER[:FILE]', text: 'which application, if there are several' },
  'dry-run': { text: 'shows the changes without writing them' },
  install: { text: 'also runs the package manager' },
  rules: { text: 'uses the built-in rules, even if a guide is stored' },
  foreign: { text: 'trusts a journal that was not written here by you' },
  'go-back': { text: 'also turns protection off, once the files are reverted' },
  anyway: { text: 'goes live even if the latest verify found something open; audited' },
  full: { text: 'shows long edits in full' },
  key: { text: 'prompts for the key instead of signing in with the browser' },
  'no-browser': { text: 'shows the address to open, and opens no browser' },
  port: { value: 'NUMBER', text: 'where the application listens on this machine' },
  json: { text: 'prints one JSON document and asks no questions' },
  yes: { short: 'y', text: 'answers yes to every question' },
  quiet: { short: 'q', text: 'prints only problems; see the exit code for the result' },
  'no-color': { text: 'no colors; same as NO_COLOR' },
  help: { short: 'h', text: 'shows help' },
  version: { text: 'shows the version' },
} as const satisfies Record<string, OptionHelp>
export type OptionName = keyof typeof OPTIONS

/** Taken by every command. */
export const GENERAL_OPTIONS: readonly OptionName[] = ['json', 'yes', 'quiet', 'no-color', 'help']

export interface Taking {
  readonly name: string
  readonly options: readonly OptionName[]
  readonly takesFolder: boolean
}

export interface Arguments {
  readonly flags: ReadonlySet<OptionName>
  readonly mode: Mode | null
  /** `--app` may be given more than once. */
  readonly apps: readonly string[]
  readonly port: number | null
  readonly folder: string | null
}

/** Before it is known which command it is. */
export function wordsOf(args: readonly string[]): Words {
  refuseKeys(args)
  return splitArguments(args, OPTIONS)
}

export function readArguments({ options, names }: Words, taking: Taking): Arguments {
  const known: readonly OptionName[] = [...taking.options, ...GENERAL_OPTIONS]
  const flags = new Set<OptionName>()
  const values = new Map<OptionName, string>()
  const apps: string[] = []
  for (const { name, raw, value } of options) {
    const option = known.find((option) => option === name)
    if (option === undefined) throw unknownOption(raw, taking.name, known)
    const wish = (OPTIONS[option] as OptionHelp).value
    if (wish === undefined && value !== undefined) throw invalid(`${raw} takes no value.`)
    if (wish !== undefined && (value ?? '') === '')
      throw invalid(`${raw} requires a value: ${wish}.`)
    if (option === 'app') apps.push(value ?? '')
    else if (wish !== undefined && values.has(option)) throw invalid(`${raw} appears twice.`)
    flags.add(option)
    values.set(option, value ?? '')
  }
  const [folder, ...more] = names
  const unwanted = taking.takesFolder ? more[0] : folder
  if (unwanted !== undefined)
    throw invalid(`${taking.name} does not take ${JSON.stringify(visibleText(unwanted))}.`)
  return {
    flags,
    folder: folder ?? null,
    apps,
    mode: readMode(values.get('mode')),
    port: readPort(values.get('port')),
  }
}

function readMode(text: string | undefined): Mode | null {
  if (text === undefined) return null
  const mode = MODES.find((mode) => mode === text)
  if (mode !== undefined) return mode
  throw invalid(`--mode must be one of ${MODES.join(', ')}${guess(text, MODES)}`)
}

function readPort(text: string | undefined): number | null {
  if (text === undefined) return null
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw invalid('--port must be a number from 1 to 65535.')
}

function unknownOption(raw: string, command: string, known: readonly OptionName[]): Problem {
  const names = known.map((name) => `--${name}`)
  const said = raw.startsWith('--') ? guess(raw, names) : '.'
  return new Problem(
    'unknown_option',
    `${command} does not take ${JSON.stringify(visibleText(raw))}${said}`,
    `See: service-analyzer help ${command}`,
  )
}

function invalid(text: string): Problem {
  return new Problem('option_invalid', text)
}

const KEY_OPTION = /^--?(?:analyzer-?key|api-?key|key|token|secret|password)(?:=|$)/i
const KEY = /(?:^|[=\s])sak_[\w-]{16,}/

function refuseKeys(args: readonly string[]): void {
  const isAsking = (arg: string, at: number) =>
    arg === '--key' && args.includes('login') && !/^[^-]/.test(args[at + 1] ?? '')
  if (!args.some((arg, at) => KEY.test(arg) || (KEY_OPTION.test(arg) && !isAsking(arg, at)))) return
  throw new Problem(
    'key_in_argument',
    'Keys are not accepted as arguments: they would stay in your shell history, and other programs on this machine could read them.',
    'Save the key instead: service-analyzer login',
    'In a pipeline, set it as a secret: SERVICE_ANALYZER_KEY',
    'If you typed a real key, remove it from your shell history and rotate it on the integration page.',
  )
}
