/** One call of the command line tool: what was asked for, the answer, and how it ended. */
import { VERSION } from '../../../shared/version.ts'
import { createApi, ServiceProblem } from './api.ts'
import { COMMANDS, EXIT, type Command } from './commands.ts'
import { readSettings, SettingsProblem } from './settings.ts'
import { wrap } from './words.ts'

export interface ProgramWorld {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Of the terminal. */
  readonly columns: number
  print(text: string): void
  complain(text: string): void
  readonly fetch: typeof fetch
}

export async function run(args: readonly string[], world: ProgramWorld): Promise<number> {
  const { print, complain } = world
  const names = args.filter((arg) => !arg.startsWith('-'))
  const options = new Set(args.filter((arg) => arg.startsWith('-')))
  const [name, ...more] = names
  if (options.has('--help') || options.has('-h') || name === 'help') return tell(world, helpText())
  if (options.has('--version')) return tell(world, VERSION)

  const isJson = options.delete('--json')
  const [unknown] = [...options, ...more]
  const command = COMMANDS.find((command) => command.name === name)
  if (command === undefined || unknown !== undefined) {
    const problem =
      name === undefined
        ? 'What is to be done?'
        : command === undefined
          ? `There is no command ${JSON.stringify(name)}.`
          : `${command.name} does not take ${JSON.stringify(unknown)}.`
    complain(`${problem}\n\n${helpText()}`)
    return EXIT.misused
  }
  try {
    return await answer(command, isJson, world)
  } catch (error) {
    if (error instanceof SettingsProblem || error instanceof ServiceProblem) {
      for (const line of error.lines) complain(wrap(line, world.columns))
      return error instanceof SettingsProblem ? EXIT.misused : error.exit
    }
    complain(`This should not have happened: ${(error as Error).message}`)
    return EXIT.unavailable
  }

  function tell({ print }: ProgramWorld, text: string): number {
    print(text)
    return EXIT.done
  }

  async function answer(command: Command, isJson: boolean, world: ProgramWorld) {
    const settings = readSettings(world.environment)
    for (const warning of settings.warnings) complain(wrap(warning, world.columns))
    const api = createApi(settings, world.fetch)
    const reply = await api.call(command.method, command.path)
    const { text, exit } = command.describe(reply, { ...settings, columns: world.columns })
    print(isJson ? JSON.stringify(reply.body, undefined, 2) : text)
    return exit
  }
}

function helpText(): string {
  const commands = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`)
  return `service-analyzer ${VERSION}

Usage: service-analyzer <command> [--json]

${commands.join('\n')}

  --json      the answer as the service gave it
  --version   the version of this program
  --help      this text

Environment:
  SERVICE_ANALYZER_KEY  the analyzer key of your tenant (needed)
  SERVICE_BASE_URL      the address of the service, if it is not the one you installed from

Exit codes: 0 done; 1 not so (a check fails, or going live is refused); 2 called in a wrong way;
3 the service did not answer, or not as it should.`
}
