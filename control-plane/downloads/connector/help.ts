/** What the program says about itself. */
import { VERSION } from '../../../shared/version.ts'
import { wrap } from '../command-line/words.ts'
import { GENERAL_OPTIONS, OPTIONS, type OptionName } from './arguments.ts'
import type { Command } from './commands/command.ts'

const ENVIRONMENT = [
  ['SERVICE_CONNECTOR_TOKEN', 'the join token, for join'],
  ['SERVICE_BASE_URL', 'the address of the service, if it is not the one you installed from'],
  ['HTTPS_PROXY, HTTP_PROXY', 'the proxy to use, such as http://user:password@proxy.example:3128'],
  ['NO_PROXY', 'hosts reached without the proxy'],
  ['NODE_EXTRA_CA_CERTS', 'a file with more CA certificates to trust'],
] as const

export function helpText(commands: readonly Command[], columns: number): string {
  return [
    wrap(
      `service-connector ${VERSION} connects an application that has no open port to the sign-in protection service.`,
      columns,
    ),
    '',
    'Usage: service-connector COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...rows(commands.map(({ name, summary }) => [name, summary])),
    '',
    'Options of every command:',
    ...rows([...GENERAL_OPTIONS, 'version' as const].map(optionRow)),
    '',
    'Environment:',
    ...rows(ENVIRONMENT),
    '',
    'Exit codes: 0 success · 1 failed · 2 usage error · 3 service not available · 130 interrupted',
    'More about one command: service-connector help COMMAND',
  ].join('\n')
}

export function commandHelp(command: Command, columns: number): string {
  const { name, actions, options, summary, about } = command
  const action = actions.length === 0 ? '' : ` ${actions.join('|')}`
  return [
    `Usage: service-connector ${name}${action} [OPTIONS]`,
    '',
    wrap(summary, columns),
    ...(about === undefined ? [] : ['', wrap(about, columns)]),
    '',
    'Options:',
    ...rows([...options, ...GENERAL_OPTIONS].map(optionRow)),
  ].join('\n')
}

function optionRow(name: OptionName): readonly [string, string] {
  const { value, short, text }: { value?: string; short?: string; text: string } = OPTIONS[name]
  const spelling = `${short === undefined ? '' : `-${short}, `}--${name}`
  return [value === undefined ? spelling : `${spelling} ${value}`, text]
}

function rows(all: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...all.map(([left]) => left.length))
  return all.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
