/** What the files beside an application say about how it is started: Dockerfile and Procfile. */
import type { Project } from '../project/project.ts'
import type { Place } from './application.ts'
import { clue, type Clue } from './assemble.ts'
import { folderOf, isAside, under } from './folders.ts'
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

/** `isAlone`: an image of the project that lies elsewhere is one of this application. */
export async function readDeployment(
  project: Project,
  folder: string,
  isAlone = false,
): Promise<Deployment> {
  const commands: StartCommand[] = []
  const images: Image[] = []
  for (const name of FILES) {
    const path = under(folder, name)
    const text = await project.read(path)
    if (text === null) continue
    if (name === 'Procfile')
      for (const { line, command } of webCommands(text))
        commands.push({ text: command, at: { path, line } })
    else images.push(imageIn(text, path))
  }
  commands.push(...images.flatMap(({ commands }) => commands))
  if (isAlone) images.push(...(await imagesElsewhere(project, folder)))
  const first = <T>(clues: readonly (T | null)[]) => clues.find((clue) => clue !== null) ?? null
  return {
    commands,
    port: first([
      ...commands.map(({ text, at }) => portOf(text, at)),
      ...images.map(({ port }) => port),
    ]),
    health: first(images.map(({ health }) => health)),
  }
}

type Image = Deployment

const IMAGES_MAX = 5
const ELSEWHERE = /(?:^|\/)(?:(?:Docker|Container)file(?:\.\w+)?|\w+\.Dockerfile)$/
const FOR_DEVELOPERS = /(?:^|[/.])(?:dev(?:el(?:opment)?)?|tests?|ci|local|debug|\.\w+)(?:[/.]|$)/i

/** Beside other folders, or called after what they are for: `docker/Dockerfile`, `alpine.Dockerfile`. */
async function imagesElsewhere(project: Project, folder: string): Promise<Image[]> {
  const depth = (path: string) => path.split('/').length
  const paths = project.files
    .map(({ path }) => path)
    .filter((path) => ELSEWHERE.test(path) && folderOf(path) !== folder)
    .filter((path) => !isAside(path) && !FOR_DEVELOPERS.test(path))
    .sort((a, b) => depth(a) - depth(b))
    .slice(0, IMAGES_MAX)
  const texts = await Promise.all(paths.map((path) => project.read(path)))
  return texts.map((text, index) => imageIn(text ?? '', paths[index] ?? ''))
}

/** Of the last stage that says so; of several ports the first. */
function imageIn(text: string, path: string): Image {
  const commands: StartCommand[] = []
  const values = new Map<string, string>()
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
        commands.push({ text: execForm(rest), at })
        break
      case 'expose': {
        const found: Clue<number> | null = isSaid ? null : exposed(said, at)
        isSaid ||= found !== null
        port = found ?? port
        break
      }
      case 'healthcheck':
        health = checked(said, at) ?? health
        asked = portAsked(said, at) ?? asked
    }
  }
  return { commands, port: port ?? asked ?? portSet(values, path), health }
}

/** `$PORT`, `${PORT}` and `${PORT:-8080}` by what the image itself sets; what it does not is ''. */
function substituted(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\$(?:\{(\w+)(?::[-=]([^}]*))?\}|([A-Za-z_]\w*))/g,
    (_, braced?: string, otherwise?: string, plain?: string) =>
      values.get(braced ?? plain ?? '') ?? otherwise ?? '',
  )
}

function portAsked(text: string, at: Place): Clue<number> | null {
  const [, port] = /https?:\/\/[^/\s'"]*?:(\d{2,5})\b/.exec(text) ?? []
  if (port === undefined) return null
  return clue(Number(port), at, 'likely', 'The health check of the image asks there.')
}

/** `ENV LISTEN_ADDR=0.0.0.0:8080`, where nothing is exposed. */
function portSet(values: ReadonlyMap<string, string>, path: string): Clue<number> | null {
  for (const [name, value] of values) {
    const [, port] = /^(?:[\w.]*:)?(\d{2,5})$/.exec(value) ?? []
    if (
      port !== undefined &&
      /^(?:\w+_)?(?:PORT|LISTEN(?:_ADDR(?:ESS)?)?|BIND(?:_ADDR(?:ESS)?)?)$/.test(name)
    )
      return clue(Number(port), { path, line: 1 }, 'likely', `The image sets ${name}.`)
  }
  return null
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
