/** One call of the connector: what was asked for, and how it ended. */
import { resolve } from 'node:path'
import { VERSION } from '../../../shared/version.ts'
import { plainText, visibleText, wrap } from '../analyzer/terminal/words.ts'
import { guess, readArguments, splitArguments, type Arguments } from './arguments.ts'
import { COMMANDS } from './commands.ts'
import type { Command, ProgramWorld, Task } from './commands/command.ts'
import { EXIT, Problem, type Exit } from '../resident/exit.ts'
import { commandHelp, helpText } from './help.ts'
import { readProxies } from '../resident/proxies.ts'
import { defaultStateFolder } from './settings.ts'
import { createStateFolder } from './state/state-folder.ts'

/** Read this first. */
export async function run(args: readonly string[], world: ProgramWorld): Promise<Exit> {
  const { stdout, stderr } = world
  const columns = () => stdout.columns || 80
  const print = (text: string) => void stdout.write(`${text}\n`)
  const remark = (text: string) => {
    const seen = visibleText(text)
    stderr.write(`${stderr.isTTY === true ? wrap(seen, stderr.columns || 80) : seen}\n`)
  }

  try {
    const asked = whatIsAsked(args, columns())
    if ('text' in asked) {
      print(asked.text)
      return EXIT.done
    }
    return await asked.command.run(taskOf(asked.given))
  } catch (error) {
    const problem = error instanceof Problem ? error : unexpected(error)
    for (const line of problem.lines) remark(line)
    return problem.exit
  }

  function taskOf(given: Arguments): Task {
    const { environment, userId } = world
    const path = resolve(given.options.get('state') ?? defaultStateFolder(world))
    const proxies = readProxies(environment)
    return { given, world, state: createStateFolder(path, { userId }), proxies, print, remark }
  }
}

type Asked = { readonly text: string } | { readonly command: Command; readonly given: Arguments }

function whatIsAsked(args: readonly string[], columns: number): Asked {
  const words = splitArguments(args)
  const has = (option: string) => words.options.some(({ name }) => name === option)
  const [name, ...names] = words.names
  if (name === 'help' || has('help')) {
    const about = name === 'help' ? names[0] : name
    const text =
      about === undefined ? helpText(COMMANDS, columns) : commandHelp(commandNamed(about), columns)
    return { text }
  }
  if (has('version')) return { text: VERSION }
  if (name === undefined)
    throw new Problem(
      'unknown_command',
      'No command given.',
      'To start: service-connector join --origin http://127.0.0.1:3000',
      'All commands: service-connector help',
    )
  const command = commandNamed(name)
  return { command, given: readArguments({ ...words, names }, command) }
}

function commandNamed(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name)
  if (command !== undefined) return command
  const near = guess(
    name,
    COMMANDS.map((one) => one.name),
  )
  throw new Problem(
    'unknown_command',
    `Unknown command ${JSON.stringify(visibleText(name).slice(0, 60))}${near}`,
    'All commands: service-connector help',
  )
}

function unexpected(error: unknown): Problem {
  const { message = '' } = (error ?? {}) as Partial<Error>
  return new Problem(
    'unexpected',
    `Unexpected error: ${plainText(message).slice(0, 300)}`,
    'Please report it to the operator of the service, with the command you ran.',
  )
}
