/** What a call of one of our programs asks for: a text about it, or one of its commands. */
import { VERSION } from '../../../shared/version.ts'
import { guess, type Words } from './arguments.ts'
import { Problem } from './exit.ts'
import { plainText, visibleText } from './words.ts'

export interface Program<Command> {
  readonly name: string
  readonly commands: readonly Command[]
  /** What to begin with, for whoever has named no command. */
  readonly start: string
  /** About all commands, or about one. */
  help(about: Command | undefined): string
}

type Asked<Command> =
  | { readonly text: string }
  | { readonly command: Command; readonly names: readonly string[] }

export function whatIsAsked<Command extends { readonly name: string }>(
  program: Program<Command>,
  words: Words,
): Asked<Command> {
  const has = (option: string) => words.options.some(({ name }) => name === option)
  const [name, ...names] = words.names
  if (name === 'help' || has('help')) {
    const about = name === 'help' ? names[0] : name
    return { text: program.help(about === undefined ? undefined : commandNamed(program, about)) }
  }
  if (has('version')) return { text: VERSION }
  if (name === undefined)
    throw new Problem('unknown_command', 'No command given.', program.start, allCommands(program))
  return { command: commandNamed(program, name), names }
}

function commandNamed<Command extends { readonly name: string }>(
  program: Program<Command>,
  name: string,
): Command {
  const command = program.commands.find((one) => one.name === name)
  if (command !== undefined) return command
  const near = guess(
    name,
    program.commands.map((one) => one.name),
  )
  throw new Problem(
    'unknown_command',
    `Unknown command ${JSON.stringify(visibleText(name).slice(0, 60))}${near}`,
    allCommands(program),
  )
}

const allCommands = ({ name }: { readonly name: string }) => `All commands: ${name} help`

export function unexpected(error: unknown, wanted = 'the command you ran'): Problem {
  const { message = '' } = (error ?? {}) as Partial<Error>
  return new Problem(
    'unexpected',
    `Unexpected error: ${plainText(message).slice(0, 300)}`,
    `Please report it to the operator of the service, with ${wanted}.`,
  )
}
