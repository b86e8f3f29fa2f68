/** How to use it, all of it or one command. */
import { VERSION } from '../../../../shared/version.ts'
import { GENERAL_OPTIONS, OPTIONS, type OptionName } from '../arguments.ts'
import { wrap, wrapUnder } from '../../command-line/words.ts'
import type { Command } from './command.ts'

const EXIT_CODES = [
  ['0', 'success'],
  ['1', 'a check failed, or the action was refused or declined'],
  ['2', 'usage error: an unknown option, a missing or wrong key'],
  ['3', 'the service did not respond, or gave an invalid answer'],
  ['130', 'interrupted'],
] as const

const ENVIRONMENT = [
  ['SERVICE_ANALYZER_KEY', 'the analyzer key of your tenant; takes precedence over the saved one'],
  ['SERVICE_BASE_URL', 'the address of the service, if it is not the one you installed from'],
  ['XDG_CONFIG_HOME', 'where the key is saved, if not in ~/.config'],
  ['NO_COLOR, FORCE_COLOR', 'no colors; colors without a terminal'],
  ['NODE_EXTRA_CA_CERTS', 'a CA of your own'],
  ['NODE_USE_ENV_PROXY=1', 'makes Node 24 and later use the proxy in HTTPS_PROXY'],
] as const

export function helpText(commands: readonly Command[], columns: number): string {
  return [
    `service-analyzer ${VERSION}`,
    wrap('Puts a web application behind the sign-in protection service and verifies it.', columns),
    '',
    wrapUnder('Usage: ', '       ', 'service-analyzer <command> [options] [folder]', columns),
    '',
    ...table(
      commands.map(({ name, summary }) => [name, summary]),
      columns,
    ),
    '',
    ...table(optionRows([...GENERAL_OPTIONS, 'version']), columns),
    '',
    'Environment:',
    ...table(ENVIRONMENT, columns),
    '',
    'Exit codes:',
    ...table(EXIT_CODES, columns),
    '',
    wrap('Help for a command: service-analyzer help <command>', columns),
  ].join('\n')
}

export function commandHelp(command: Command, columns: number): string {
  const { name, summary, help, options, takesFolder, documented } = command
  const own = options.map((option) => `[${optionName(option)}]`)
  const usage = ['service-analyzer', name, ...own, ...(takesFolder ? ['[folder]'] : [])].join(' ')
  return [
    wrapUnder('Usage: ', '       ', usage, columns),
    '',
    wrap(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, columns),
    ...help.flatMap((paragraph) => ['', wrap(paragraph, columns)]),
    '',
    ...table(optionRows([...options, ...GENERAL_OPTIONS]), columns),
    ...(takesFolder
      ? ['', wrap('folder: the project; the current folder by default.', columns)]
      : []),
    '',
    wrap(BESIDE, columns),
    ...table(Object.entries(documented), columns),
  ].join('\n')
}

function optionRows(names: readonly OptionName[]): (readonly [string, string])[] {
  return names.map((name) => {
    const { text, short } = OPTIONS[name] as { text: string; short?: string }
    return [`${short === undefined ? '' : `-${short}, `}${optionName(name)}`, text]
  })
}

function optionName(name: OptionName): string {
  const { value } = OPTIONS[name] as { value?: string }
  return `--${name}${value === undefined ? '' : ` ${value}`}`
}

const BESIDE =
  'With --json, in addition to schema_version, command, version, exit_code, problem, warnings and next_step:'

const NARROW_COLUMNS = 60

/** Beside each other where there is room, else below each other. */
function table(rows: readonly (readonly [string, string])[], columns: number): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 4
  return rows.map(([name, text]) =>
    columns < NARROW_COLUMNS || width > columns / 2
      ? `  ${name}\n${wrapUnder('      ', '      ', text, columns)}`
      : wrapUnder(`  ${name}`.padEnd(width), ' '.repeat(width), text, columns),
  )
}
