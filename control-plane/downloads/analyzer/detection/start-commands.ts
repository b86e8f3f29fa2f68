/** Commands that start or ask an application, as shells, images and Procfiles have them. */
import type { Place } from './application.ts'
import { clue, type Clue } from './assemble.ts'
import { healthRank } from './health.ts'
import { parsedJson, textsOf } from './manifests/tables.ts'

export interface StartCommand {
  readonly text: string
  readonly at: Place
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
export function execForm(written: string): string {
  const words = textsOf(parsedJson(written.trim()))
  return words.length === 0
    ? written
    : words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}

/** `--port 8080`, `-p 3000`, `--bind 0.0.0.0:8000`, `-b :8000`, and defaults of `${PORT:-8080}`. */
export function portOf(command: string, at: Place): Clue<number> | null {
  const value = String.raw`["']?(?:\$\{?\w+:-)?(?:tcp:\/\/)?(?:[\w.[\]*]*:)?(?:\$\{?\w+:-)?(\d{2,5})\b`
  const patterns = [
    `--(?:port|bind|http-port|http|http-socket|listen|urls)[ =]${value}`,
    `(?<= )-(?:p|b)[ =]?${value}`,
    String.raw`\brunserver\s+(?:[\w.]+:)?(\d{2,5})\b`,
  ]
  for (const pattern of patterns) {
    const [, port] = new RegExp(pattern).exec(command) ?? []
    if (port !== undefined)
      return clue(Number(port), at, 'sure', 'The command to start it says so.')
  }
  return null
}

const HOST = String.raw`(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])`
/** `http://localhost:8080/up`, `localhost:8080/up`, and `uwsgi_curl localhost:8080 /up`. */
const ASKED = [
  /https?:\/\/[^/\s'"]+(\/[^\s'"|;),\]]*)/,
  new RegExp(String.raw`(?<![\w.])${HOST}(?::\w*)?(\/[^\s'"|;),\]]*)`),
  new RegExp(String.raw`(?<![\w.])${HOST}:\d+["']?,?\s+["']?(\/[^\s'"|;),\]]*)`),
]

export function healthAsked(
  text: string,
  at: Place,
  detail = 'The health check of the image asks for it.',
): Clue<string> | null {
  const path = ASKED.map((pattern) => pattern.exec(text)?.[1]).find((one) => one !== undefined)
  if (path === undefined || (healthRank(path) === null && path === '/')) return null
  return clue(path, at, 'sure', detail)
}

export function portAsked(text: string, at: Place): Clue<number> | null {
  const [, port] =
    /https?:\/\/[^/\s'"]*?:(\d{2,5})\b/.exec(text) ??
    new RegExp(String.raw`(?<![\w.])${HOST}:(\d{2,5})\b`).exec(text) ??
    []
  if (port === undefined) return null
  return clue(Number(port), at, 'likely', 'The health check of the image asks there.')
}
