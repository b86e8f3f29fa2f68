/** Files of a project that a command runs or reads to start it: scripts, and settings of servers. */
import type { Project } from '../project/project.ts'
import { lineAt } from '../syntax/places.ts'
import { clue, type Clue } from './assemble.ts'
import { isCustomaryElsewhere } from './node/foreign-ports.ts'
import { folderOf, nameOf } from './folders.ts'
import { substituted } from './image.ts'
import { healthAsked, logicalLines, portAsked, type StartCommand } from './start-commands.ts'

const FILES_MAX = 8
const SERVERS =
  /(?:^|[\s/"'=])(?:gunicorn|uvicorn|hypercorn|daphne|granian|waitress-serve|uwsgi|flask|fastapi|python3?|puma|thrust|unicorn|rackup|rails|php|frankenphp|java|dotnet)\b/
/** Of what a script runs these go before migrations and the like. */
const SERVES =
  /\b(?:gunicorn|uvicorn|hypercorn|daphne|granian|waitress-serve|uwsgi|flask\s+run|fastapi\s+run|runserver|puma|thrust|unicorn|rackup|rails\s+s(?:erver)?|octane|artisan\s+serve)\b/
/** Scripts, `gunicorn.conf.py`, `uwsgi.ini`, `supervisord.conf`. */
const NAMED = /(?<![\w$])((?:[\w.-]*\/)*[\w.-]+)(?=["'\s;,]|$)/g
const READ =
  /(?:\.(?:sh|bash|ini|conf)|config[\w.-]*\.(?:ya?ml|toml)|gunicorn\w*(?:[.-]conf(?:ig)?)?\.py|(?:^|[-_])(?:entrypoint|start|run|init|boot|launch|server?)(?:[-_]\w+)*)$/i

interface Started {
  readonly commands: readonly StartCommand[]
  /** What the settings of a server say. */
  readonly port: Clue<number> | null
  readonly health: Clue<string> | null
  /** Where what asks for it asks. */
  readonly asked: Clue<number> | null
}

export async function startedBy(
  project: Project,
  commands: readonly StartCommand[],
  given: ReadonlyMap<string, string>,
): Promise<Started> {
  const values = new Map(given)
  const queue = [...commands]
  const seen = new Set<string>()
  const found: StartCommand[] = []
  let port: Clue<number> | null = null
  let health: Clue<string> | null = null
  let asked: Clue<number> | null = null
  for (const { text, at } of queue) {
    for (const path of filesNamed(project, text, folderOf(at.path))) {
      if (seen.has(path) || seen.size >= FILES_MAX) continue
      seen.add(path)
      const written = (await project.read(path)) ?? ''
      port ??= boundIn(written, path)
      for (const { line, text: said } of logicalLines(written)) {
        const at = { path, line }
        assign(said, values)
        const command = substituted(said, values)
        if (/\b(?:curl|wget)\b/.test(command)) {
          health ??= healthAsked(command, at)
          asked ??= portAsked(command, at)
        }
        const isOfSupervisor = /^\s*command\s*=/.test(command)
        if (
          !isOfSupervisor &&
          !SERVERS.test(command) &&
          !READ.test(command.trim().split(/\s+/)[0] ?? '')
        )
          continue
        found.push({ text: command, at })
        queue.push({ text: command, at })
      }
    }
  }
  const serving = found.filter(({ text }) => SERVES.test(text))
  return { commands: serving.length > 0 ? serving : found, port, health, asked }
}

/** By its name alone: where an image copies it to is not where it lies. The nearest counts. */
function filesNamed({ files }: Project, command: string, from: string): string[] {
  const names = [...command.matchAll(NAMED)]
    .map(([, path = '']) => path)
    .filter((path) => READ.test(nameOf(path)))
  return names.flatMap((named) => {
    const same = files
      .map(({ path }) => path)
      .filter((path) => nameOf(path) === nameOf(named))
      .map((path) => ({ path, common: tailInCommon(path, named), near: path.startsWith(from) }))
      .sort((a, b) => b.common - a.common || Number(b.near) - Number(a.near))
    return same[0]?.path ?? []
  })
}

function tailInCommon(a: string, b: string): number {
  const [left, right] = [a, b].map((path) => path.split('/').toReversed())
  let count = 0
  while (left?.[count] !== undefined && left[count] === right?.[count]) count++
  return count
}

/** `PORT="${PORT:-8000}"`, `: ${PORT:=8000}`, `export PORT=8000` */
function assign(line: string, values: Map<string, string>) {
  for (const [, name = '', value = ''] of line.matchAll(
    /(?:^|[;\s])(?:export\s+|local\s+)?([A-Z_a-z]\w*)=["']?(\$\{[^}]*\}|[^\s"';&|]*)/g,
  )) {
    const known = substituted(value, values)
    if (known !== '' && !values.has(name)) values.set(name, known)
  }
  for (const [, name = '', value = ''] of line.matchAll(/\$\{(\w+):=([^}]*)\}/g))
    if (!values.has(name)) values.set(name, value)
}

const BINDS = /^\s*(?:bind|http|http-socket|http11-socket)\s*=\s*[^#\n]*?(?:[:\s"']|^)(\d{2,5})\b/gm
const SETS =
  /^\s*["']?(?:http|listen|(?:listen|bind|http)?[-_]?(?:addr(?:ess)?|port)|bind)["']?\s*[:=][^#\n]*?(?:[:\s"'=])(\d{4,5})\b/gim

/** `bind = "0.0.0.0:8000"` of Gunicorn, `http-socket = :8080` of uWSGI. */
function boundIn(text: string, path: string): Clue<number> | null {
  const isSettings = /\.(?:ya?ml|toml)$/.test(path)
  const isServer = isSettings || /gunicorn|uwsgi|hypercorn/i.test(path) || /^\[uwsgi\]/m.test(text)
  if (!isServer) return null
  const found = [...text.matchAll(isSettings ? SETS : BINDS)]
  const hit = found.find(([, port]) => !isCustomaryElsewhere(Number(port)))
  if (hit === undefined) return null
  const [whole, port] = hit
  const line = lineAt(text, hit.index + whole.length)
  const confidence = isSettings ? 'likely' : 'sure'
  return clue(
    Number(port),
    { path, line },
    confidence,
    'The settings that it is started with say so.',
  )
}
