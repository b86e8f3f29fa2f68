/** One call of the command line tool: what was asked for, the answer, and how it ended. */
import { resolve } from 'node:path'
import { VERSION } from '../../../shared/version.ts'
import { unexpected, whatIsAsked, type Program } from '../command-line/asked.ts'
import { createAccess } from './access.ts'
import { readArguments, wordsOf, type Arguments } from './arguments.ts'
import { COMMANDS } from './commands.ts'
import type { Command, NextStep, Outcome, ProgramWorld, Task } from './commands/command.ts'
import { commandHelp, helpText } from './commands/help.ts'
import { EXIT, Problem, type Exit } from '../command-line/exit.ts'
import { createProfile, quoted } from './profile.ts'
import { createTerminal, type Terminal } from './terminal/terminal.ts'
import { plainText, visibleJson, wrap } from '../command-line/words.ts'

const SCHEMA_VERSION = 1
const WITH_DOCTOR = 'the command you ran and the output of service-analyzer doctor'

/** Read this first. */
export async function run(args: readonly string[], world: ProgramWorld): Promise<Exit> {
  const isJson = args.includes('--json')
  const isQuiet = args.includes('--quiet') || args.includes('-q')
  const secrets = new Set<string>()
  const hiding = (text: string) => withoutSecrets(text, secrets)
  const terminal = createTerminal(world, {
    isJson,
    isQuiet,
    isColourless: args.includes('--no-color'),
    hiding,
  })
  const warnings: string[] = []
  const warn = (text: string) => {
    warnings.push(plainText(text))
    terminal.remark(plainText(text))
  }

  let name: string | null = null
  try {
    const asked = askedBy(args, terminal.columns)
    if ('text' in asked) {
      terminal.print(isJson ? documentOf({ text: asked.text }) : asked.text)
      return EXIT.done
    }
    name = asked.command.name
    const outcome = await asked.command.run(taskOf(asked.command, asked.given))
    tell(outcome)
    return outcome.exit
  } catch (error) {
    const problem = error instanceof Problem ? error : unexpected(error, WITH_DOCTOR)
    tellProblem(problem)
    return problem.exit
  }

  function taskOf(command: Command, given: Arguments): Task {
    const { environment, homeFolder, userId, nodeVersion, fetch } = world
    const profile = createProfile({ environment, homeFolder, userId })
    const hide = (secret: string) => void secrets.add(secret)
    return {
      given,
      folder: resolve(world.currentFolder, given.folder ?? '.'),
      world,
      terminal,
      profile,
      access: createAccess({ environment, nodeVersion, fetch, terminal, profile, warn, hide }),
      isAgreed: given.flags.has('yes'),
      show: (text) => {
        const isAsked = terminal.isInteractive && !given.flags.has('yes')
        if (!isJson && (!isQuiet || isAsked)) terminal.print(text) // nobody agrees unseen
      },
      warn,
      hide,
      line: (next, ...options) => lineOf(next, options, given, command),
    }
  }

  function tell({ exit, text, fields, next }: Outcome) {
    if (isJson) {
      terminal.print(documentOf({ exit, fields, nextStep: next }))
    } else if (!isQuiet || exit !== EXIT.done) {
      if (text !== '') terminal.print(text)
      if (next !== null) terminal.print(nextText(next, terminal))
    }
  }

  function tellProblem(problem: Problem) {
    if (isJson)
      terminal.print(documentOf({ exit: problem.exit, problem, nextStep: wayOut(problem) }))
    const [first = '', ...advice] = problem.lines
    terminal.complain(first, advice)
  }

  interface Told {
    readonly exit?: Exit
    readonly text?: string
    readonly fields?: Outcome['fields']
    readonly nextStep?: NextStep | null
    readonly problem?: Problem
  }

  function documentOf({ exit = EXIT.done, text, fields, nextStep = null, problem }: Told): string {
    const [message = '', ...advice] = problem?.lines ?? []
    const document = {
      schema_version: SCHEMA_VERSION,
      command: name,
      version: VERSION,
      exit_code: exit,
      problem: problem ? { code: problem.code, message, advice } : null,
      warnings,
      next_step: nextStep,
      text,
      ...fields,
    }
    return visibleJson(JSON.stringify(document, undefined, 2))
  }
}

function lineOf(
  name: string,
  options: readonly string[],
  { folder }: Arguments,
  { takesFolder }: Command,
): string {
  const target = COMMANDS.find((command) => command.name === name)
  const place =
    folder !== null && takesFolder && target?.takesFolder === true ? [quoted(folder)] : []
  return ['service-analyzer', name, ...options, ...place].join(' ')
}

/** The first advice that ends with a command: programs need not look for it in a sentence. */
function wayOut({ lines }: Problem) {
  for (const line of lines.slice(1)) {
    const [, text, command] =
      /^(.+:) ((?:service-analyzer|npm|curl|export) [^\n]+)$/.exec(line) ?? []
    if (text !== undefined && command !== undefined) return { text, command }
  }
  return null
}

/** The command stands alone on its line, to be copied. */
function nextText({ text, command }: NextStep, { columns, paint }: Terminal) {
  return `\n${wrap(text, columns)}\n  ${paint('cyan', command)}`
}

/** Also what a file, an answer or a mistake of ours brings along. */
function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  return [...secrets].reduce((shown, secret) => shown.replaceAll(secret, '[analyzer key]'), text)
}

function askedBy(args: readonly string[], columns: number) {
  const program: Program<Command> = {
    name: 'service-analyzer',
    commands: COMMANDS,
    start: 'To start, in the folder of your application: service-analyzer analyze',
    help: (about) => (about ? commandHelp(about, columns) : helpText(COMMANDS, columns)),
  }
  const words = wordsOf(args)
  const asked = whatIsAsked(program, words)
  if ('text' in asked) return asked
  const { command, names } = asked
  return { command, given: readArguments({ ...words, names }, command) }
}
