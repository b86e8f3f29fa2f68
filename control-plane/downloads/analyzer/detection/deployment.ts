/** What the files beside an application say about how it is started: Dockerfile and Procfile. */
import type { Project } from '../project/project.ts'
import type { Place } from './application.ts'
import { clue, type Clue } from './assemble.ts'
import { under } from './folders.ts'
import { healthRank } from './health.ts'
import { parsedJson, textsOf } from './manifests/tables.ts'

interface StartCommand {
  readonly text: string
  readonly at: Place
}

export interface Deployment {
  readonly commands: readonly StartCommand[]
  readonly port: Clue<number> | null
  readonly health: Clue<string> | null
}

const FILES = ['Procfile', 'Dockerfile', 'Containerfile'] as const

export async function readDeployment(project: Project, folder: string): Promise<Deployment> {
  const commands: StartCommand[] = []
  let port: Clue<number> | null = null
  let health: Clue<string> | null = null
  for (const name of FILES) {
    const path = under(folder, name)
    const text = await project.read(path)
    if (text === null) continue
    if (name === 'Procfile') {
      for (const { line, command } of webCommands(text))
        commands.push({ text: command, at: { path, line } })
      continue
    }
    for (const { line, text: written } of logicalLines(text)) {
      const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/s.exec(written) ?? []
      const at = { path, line }
      if (/^(?:cmd|entrypoint)$/i.test(word)) commands.push({ text: execForm(rest), at })
      if (/^expose$/i.test(word)) port = exposed(rest, at) ?? port
      if (/^healthcheck$/i.test(word)) health = checked(rest, at) ?? health
    }
  }
  const ofCommand = commands.map(({ text, at }) => portOf(text, at)).find((clue) => clue !== null)
  return { commands, port: ofCommand ?? port, health }
}

/** Without comments, and with what continues behind a backslash. */
function logicalLines(text: string): { line: number; text: string }[] {
  const found: { line: number; text: string }[] = []
  let open: { line: number; text: string } | null = null
  text.split(/\r?\n/).forEach((physical, index) => {
    if (/^\s*(?:#|$)/.test(physical)) return
    const part: string = physical.replace(/\\\s*$/, ' ')
    const current: { line: number; text: string } = open ?? { line: index + 1, text: '' }
    const whole = { line: current.line, text: current.text + part }
    open = part === physical ? null : whole
    if (open === null) found.push(whole)
  })
  return open === null ? found : [...found, open]
}

export function webCommands(procfile: string): { command: string; line: number }[] {
  return logicalLines(procfile).flatMap(({ line, text }) => {
    const [, command] = /^web\s*:\s*(.+)$/.exec(text) ?? []
    return command === undefined ? [] : [{ command, line }]
  })
}

/** ENTRYPOINT and CMD of the last stage, as one line of a shell. */
export function dockerCommands(dockerfile: string): { command: string; line: number }[] {
  let entrypoint: string | null = null
  let command: { text: string; line: number } | null = null
  for (const { line, text } of logicalLines(dockerfile)) {
    const [, instruction = '', rest = ''] = /^\s*(FROM|CMD|ENTRYPOINT)\s+(.*)$/i.exec(text) ?? []
    const said = execForm(rest)
    if (/^from$/i.test(instruction)) entrypoint = command = null
    else if (/^cmd$/i.test(instruction)) command = { text: said, line }
    else if (/^entrypoint$/i.test(instruction)) {
      entrypoint = said
      command ??= { text: '', line }
    }
  }
  return command === null
    ? []
    : [{ command: `${entrypoint ?? ''} ${command.text}`, line: command.line }]
}

/** `["gunicorn", "app:app"]` and `gunicorn app:app` are the same command. */
function execForm(written: string): string {
  const words = textsOf(parsedJson(written.trim()))
  return words.length === 0
    ? written
    : words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}

function exposed(text: string, at: Place): Clue<number> | null {
  const [, port] = /^(\d{2,5})(?:\/tcp)?\b/.exec(text.trim()) ?? []
  if (port === undefined) return null
  return clue(Number(port), at, 'likely', 'The image exposes this port.')
}

function checked(text: string, at: Place): Clue<string> | null {
  const [, path = ''] = /https?:\/\/[^/\s'"]+(\/[^\s'"|;)]*)/.exec(text) ?? []
  if (path === '' || (healthRank(path) === null && path === '/')) return null
  return clue(path, at, 'sure', 'The health check of the image asks for it.')
}

/** `--port 8080`, `-p 3000`, `--bind 0.0.0.0:8000`, `-b :8000`, and defaults of `${PORT:-8080}`. */
function portOf(command: string, at: Place): Clue<number> | null {
  const value = String.raw`["']?(?:\$\{?\w+:-)?(?:[\w.[\]*]*:)?(?:\$\{?\w+:-)?(\d{2,5})\b`
  const patterns = [`--(?:port|bind|http-port)[ =]${value}`, `(?<= )-(?:p|b)[ =]?${value}`]
  for (const pattern of patterns) {
    const [, port] = new RegExp(pattern).exec(command) ?? []
    if (port !== undefined)
      return clue(Number(port), at, 'sure', 'The command to start it says so.')
  }
  return null
}
