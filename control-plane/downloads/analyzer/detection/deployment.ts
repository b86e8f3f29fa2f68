/** What the files beside an application say about how it is started: Dockerfile and Procfile. */
import type { Project } from '../project/project.ts'
import type { Place } from './application.ts'
import type { Clue } from './assemble.ts'
import { under } from './folders.ts'
import { healthRank } from './health.ts'

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
    const lines = logicalLines(text)
    if (name === 'Procfile') {
      for (const { line, text } of lines) {
        const [, command] = /^web\s*:\s*(.+)$/.exec(text) ?? []
        if (command !== undefined) commands.push({ text: command, at: { path, line } })
      }
      continue
    }
    for (const { line, text } of lines) {
      const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/s.exec(text) ?? []
      const at = { path, line }
      if (/^(?:cmd|entrypoint)$/i.test(word)) commands.push({ text: words(rest), at })
      if (/^expose$/i.test(word)) port = exposed(rest, at) ?? port
      if (/^healthcheck$/i.test(word)) health = checked(rest, at) ?? health
    }
  }
  const ofCommand = commands.map(({ text, at }) => portOf(text, at)).find((clue) => clue !== null)
  return { commands, port: ofCommand ?? port, health }
}

/** Without comments, and with what continues behind a backslash. */
export function logicalLines(text: string): { line: number; text: string }[] {
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

/** `["gunicorn", "app:app"]` and `gunicorn app:app` are the same command. */
function words(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    if (Array.isArray(parsed)) return parsed.map(String).join(' ')
  } catch {
    // not the form of a list
  }
  return text
}

function exposed(text: string, at: Place): Clue<number> | null {
  const [, port] = /^(\d{2,5})(?:\/tcp)?\b/.exec(text.trim()) ?? []
  if (port === undefined) return null
  return { value: Number(port), at, confidence: 'likely', detail: 'The image exposes this port.' }
}

function checked(text: string, at: Place): Clue<string> | null {
  const [, path = ''] = /https?:\/\/[^/\s'"]+(\/[^\s'"|;)]*)/.exec(text) ?? []
  if (path === '' || (healthRank(path) === null && path === '/')) return null
  return {
    value: path,
    at,
    confidence: 'sure',
    detail: 'The health check of the image asks for it.',
  }
}

/** `--port 8080`, `-p 3000`, `--bind 0.0.0.0:8000`, `-b :8000`, and defaults of `${PORT:-8080}`. */
function portOf(command: string, at: Place): Clue<number> | null {
  const value = String.raw`["']?(?:\$\{?\w+:-)?(?:[\w.[\]*]*:)?(?:\$\{?\w+:-)?(\d{2,5})\b`
  const patterns = [`--(?:port|bind|http-port)[ =]${value}`, `(?<= )-(?:p|b)[ =]?${value}`]
  for (const pattern of patterns) {
    const [, port] = new RegExp(pattern).exec(command) ?? []
    if (port !== undefined)
      return {
        value: Number(port),
        at,
        confidence: 'sure',
        detail: 'The command to start it says so.',
      }
  }
  return null
}
