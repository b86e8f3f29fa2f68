/** What an image is made to run, and where it listens and is asked, by its Dockerfile. */
import type { Place } from './application.ts'
import { clue, type Clue } from './assemble.ts'
import {
  execForm,
  healthAsked,
  logicalLines,
  portAsked,
  type StartCommand,
} from './start-commands.ts'

export interface Image {
  readonly commands: readonly StartCommand[]
  /** A health check that is a file of the project says there what it asks for. */
  readonly checks: readonly StartCommand[]
  readonly port: Clue<number> | null
  readonly health: Clue<string> | null
  readonly values: ReadonlyMap<string, string>
}

/** Of the last stage that says so; of several ports the first. */
export function imageIn(text: string, path: string): Image {
  const commands: StartCommand[] = []
  const checks: StartCommand[] = []
  const values = new Map<string, string>()
  // FastCGI is no HTTP: that port is for a web server beside it
  const isFastCgi = /^\s*FROM\s[^\n]*\bfpm\b/im.test(text)
  let port: Clue<number> | null = null
  let isSaid = false
  let asked: Clue<number> | null = null
  let health: Clue<string> | null = null
  for (const { line, text: written } of logicalLines(text)) {
    const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/s.exec(written) ?? []
    const at = { path, line }
    const said = substituted(rest, values)
    switch (word.toLowerCase()) {
      case 'from':
        isSaid = false
        break
      case 'arg':
      case 'env':
        for (const [, name = '', value = ''] of said.matchAll(
          /(?:^|\s)(\w+)(?:=|(?<=^\w+)\s+)["']?([^\s"']*)/g,
        ))
          values.set(name, value)
        break
      case 'cmd':
      case 'entrypoint':
        commands.push({ text: substituted(execForm(rest), values), at })
        break
      case 'expose': {
        const found: Clue<number> | null = isSaid
          ? null
          : exposed(isFastCgi ? said.replace(/\b9000\b/, '') : said, at)
        isSaid ||= found !== null
        port = found ?? port
        break
      }
      case 'healthcheck':
        health = healthAsked(said, at) ?? health
        asked = portAsked(said, at) ?? asked
        checks.push({ text: execForm(said.replace(/^.*?\bCMD\s+/s, '')), at })
    }
  }
  return { commands, checks, port: port ?? asked ?? portSet(values, path), health, values }
}

/** `$PORT`, `${PORT}` and `${PORT:-8080}` by what is set already; what is not is ''. */
export function substituted(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)(?::?[-=]([^}]*))?\}|([A-Za-z_]\w*))/g,
    (_, braced?: string, otherwise?: string, plain?: string) =>
      values.get(braced ?? plain ?? '') ?? otherwise ?? '',
  )
}

/** `ENV LISTEN_ADDR=0.0.0.0:8080`, where nothing is exposed. */
function portSet(values: ReadonlyMap<string, string>, path: string): Clue<number> | null {
  for (const [name, value] of values) {
    const [, port] = /^(?:(?:https?:\/\/)?[\w.*+]*:)?(\d{2,5})(?:;.*)?$/.exec(value) ?? []
    if (
      port !== undefined &&
      /^(?:\w+_)?(?:PORTS?|URLS|LISTEN(?:_ADDR(?:ESS)?)?|BIND(?:_ADDR(?:ESS)?)?)$/.test(name)
    )
      return clue(Number(port), { path, line: 1 }, 'likely', `The image sets ${name}.`)
  }
  return null
}

function exposed(text: string, at: Place): Clue<number> | null {
  const ports = [...text.matchAll(/(?<![\w.-])["']?(\d{2,5})(?:\/tcp)?["']?(?=\s|$)/g)]
  const [, port] = ports.find(([, number]) => number !== '443') ?? ports[0] ?? []
  if (port === undefined) return null
  return clue(Number(port), at, 'likely', 'The image exposes this port.')
}
