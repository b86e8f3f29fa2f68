/** One call of the agent: what was asked for, and how it ended. */
import { resolve } from 'node:path'
import { VERSION } from '../../../shared/version.ts'
import { unexpected } from '../command-line/asked.ts'
import { visibleText } from '../command-line/words.ts'
import { EXIT, Problem, type Exit } from '../command-line/exit.ts'
import { readProxies } from '../resident/proxies.ts'
import { invalid, OPTIONS, readArguments, SEE_HELP, type OptionName } from './arguments.ts'
import { COMMANDS } from './commands.ts'
import type { Command, ProgramWorld } from './commands/command.ts'
import { stateFolder } from './places.ts'
import { createDeviceFolder } from './state/device-state.ts'

/** Taken by every command. */
const GENERAL_OPTIONS: readonly OptionName[] = ['state', 'help']

/** Read this first. */
export async function run(args: readonly string[], world: ProgramWorld): Promise<Exit> {
  const print = (text: string) => void world.stdout.write(`${text}\n`)
  const remark = (text: string) => void world.stderr.write(`${visibleText(text)}\n`)
  try {
    const given = readArguments(args)
    const { name, values } = given
    if (name === 'help' || (name === undefined && values.has('help'))) {
      print(helpText())
      return EXIT.done
    }
    if (values.has('version')) {
      print(VERSION)
      return EXIT.done
    }
    const command = COMMANDS.find((one) => one.name === name)
    if (command === undefined)
      throw new Problem(
        'unknown_command',
        name === undefined
          ? 'No command given.'
          : `Unknown command ${JSON.stringify(visibleText(name).slice(0, 60))}.`,
        SEE_HELP,
      )
    if (values.has('help')) {
      print(commandHelp(command))
      return EXIT.done
    }
    checkTaken(command, given.action, [...values.keys()])
    const { environment, userId } = world
    const path = resolve(values.get('state') ?? stateFolder(world))
    const state = createDeviceFolder(path, { userId })
    return await command.run({
      given,
      world,
      state,
      proxies: readProxies(environment),
      print,
      remark,
    })
  } catch (error) {
    const problem = error instanceof Problem ? error : unexpected(error)
    for (const line of problem.lines) remark(line)
    return problem.exit
  }
}

function checkTaken(
  { name, options, actions }: Command,
  action: string | undefined,
  given: readonly OptionName[],
): void {
  const foreign = given.find((one) => ![...options, ...GENERAL_OPTIONS].includes(one))
  if (foreign !== undefined) throw invalid(`${name} does not take --${foreign}.`)
  if (actions.length === 0 && action === undefined) return
  if (actions.includes(action ?? '')) return
  throw invalid(
    actions.length === 0
      ? `${name} does not take ${JSON.stringify(visibleText(action ?? ''))}.`
      : `${name} must be followed by ${actions.join(' or ')}.`,
  )
}

function helpText(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return [
    `service-device-agent ${VERSION} reports the state of this machine to the sign-in protection service, and proves at sign-in that the browser runs on it.`,
    '',
    'Usage: service-device-agent COMMAND [OPTIONS]',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'It takes no commands from the service and does not read your files.',
    'Exit codes: 0 success · 1 failed · 2 usage error · 3 service not available · 130 interrupted',
  ].join('\n')
}

function commandHelp({ name, summary, about, options, actions }: Command): string {
  return [
    `Usage: service-device-agent ${[name, actions.join('|')].join(' ').trim()} [OPTIONS]`,
    '',
    summary,
    ...(about === undefined ? [] : ['', about]),
    '',
    ...[...options, ...GENERAL_OPTIONS].map((option) => `  ${OPTIONS[option].text}`),
  ].join('\n')
}
