/** One call of the connector: what was asked for, and how it ended. */
import { resolve } from 'node:path'
import { unexpected, whatIsAsked, type Program } from '../command-line/asked.ts'
import { visibleText, wrap } from '../command-line/words.ts'
import { readArguments, wordsOf, type Arguments } from './arguments.ts'
import { COMMANDS } from './commands.ts'
import type { Command, ProgramWorld, Task } from './commands/command.ts'
import { EXIT, Problem, type Exit } from '../command-line/exit.ts'
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
    const asked = askedBy(args, columns())
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

function askedBy(args: readonly string[], columns: number) {
  const program: Program<Command> = {
    name: 'service-connector',
    commands: COMMANDS,
    start: 'To start: service-connector join --origin http://127.0.0.1:3000',
    help: (about) => (about ? commandHelp(about, columns) : helpText(COMMANDS, columns)),
  }
  const words = wordsOf(args)
  const asked = whatIsAsked(program, words)
  if ('text' in asked) return asked
  const { command, names } = asked
  return { command, given: readArguments({ ...words, names }, command) }
}
