/** What compose files say of the one service that is built here. */
import type { Project } from '../project/project.ts'
import { lineAt } from '../syntax/places.ts'
import type { Place } from './application.ts'
import { clue, type Clue } from './assemble.ts'
import { folderOf, isUnder, under } from './folders.ts'
import { substituted } from './image.ts'
import { parsedYaml, tableIn, textIn, textsOf, type Table } from './manifests/tables.ts'
import { healthAsked, portAsked, portOf, type StartCommand } from './start-commands.ts'

interface Composed {
  readonly commands: readonly StartCommand[]
  readonly port: Clue<number> | null
  readonly health: Clue<string> | null
}

const NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'] as const
/** What stands beside an application, and is none. */
const BESIDE =
  /(?:^|[/_-])(?:postgres\w*|pgadmin\d?|postgis|pgvector|mysql\w*|mariadb|redis\w*|valkey|keydb|mongo\w*|rabbitmq|memcached|elasticsearch|opensearch|meilisearch|typesense|nginx\w*|traefik|caddy|minio|mailhog|mailpit|mailcatcher|adminer|phpmyadmin|keycloak|prometheus|grafana|loki|jaeger\w*|zipkin|zookeeper|kafka\w*|localstack|selenium\w*|chrome\w*|browserless|mssql|azure-\w+|clamav|gotenberg|tika|influxdb|consul|vault|dex|openldap|watchtower)(?:[:@/]|$)/i

export async function composedFor(
  project: Project,
  folder: string,
  isAlone: boolean,
): Promise<Composed> {
  for (const path of [...new Set([folder, ''])].flatMap((at) =>
    NAMES.map((name) => under(at, name)),
  )) {
    const text = await project.read(path)
    if (text === null) continue
    const found = ofService(text, path, folder, isAlone)
    if (found !== null) return found
  }
  return { commands: [], port: null, health: null }
}

function ofService(text: string, path: string, folder: string, isAlone: boolean): Composed | null {
  const services = Object.entries(tableIn(parsedYaml(text), 'services'))
  const tables = services.map(([name, value]) => ({ name, table: tableIn({ value }, 'value') }))
  const here = tables.filter(({ table }) => isBuiltHere(table, path, folder))
  const built = here.length > 0 || !isAlone ? here : tables.filter(({ table }) => 'build' in table)
  const others = tables.filter(({ table }) => {
    const image = textIn(table, 'image')
    return !('build' in table) && image !== null && !BESIDE.test(image)
  })
  const isOurs = built.length > 0
  const candidates = isOurs
    ? built
    : others.length === 1 && (isAlone || folder === folderOf(path))
      ? others
      : []
  const chosen = candidates.find(({ table }) => portsOf(table).length > 0) ?? candidates[0]
  if (chosen === undefined) return null
  const { name, table } = chosen
  const at: Place = { path, line: lineOf(text, name) }
  const command = wordsOf(table['command'])
  const check = wordsOf(tableIn(table, 'healthcheck')['test'])
  const said = 'Its health check in the compose file asks for it.'
  const [port] = portsOf(table)
  return {
    commands: command === '' ? [] : [{ text: command, at }],
    port:
      (command === '' ? null : portOf(command, at)) ??
      (port === undefined
        ? portAsked(check, at)
        : clue(port, at, 'likely', 'The compose file leads there.')),
    health: check === '' ? null : healthAsked(check, at, said),
  }
}

/** Health checks of services that are not other people's, by what runs them. */
export function checksIn(text: string, path: string): StartCommand[] {
  return Object.entries(tableIn(parsedYaml(text), 'services')).flatMap(([name, value]) => {
    const table = tableIn({ value }, 'value')
    const check = wordsOf(tableIn(table, 'healthcheck')['test'])
    const isBeside = BESIDE.test(textIn(table, 'image') ?? '')
    return check === '' || isBeside ? [] : [{ text: check, at: { path, line: lineOf(text, name) } }]
  })
}

/** `build: .`, or a folder that the application lies in. */
function isBuiltHere(table: Table, path: string, folder: string): boolean {
  const context = textIn(table, 'build') ?? textIn(tableIn(table, 'build'), 'context')
  if (context === null) return 'build' in table && folder === folderOf(path)
  if (/^[a-z]+:\/\/|\$\{/.test(context)) return false
  const at = under(folderOf(path), context)
  return at === folder || (at !== '' && isUnder(at, folder)) || (at === '' && folder === '')
}

/** Of `"3000:80"`, `"127.0.0.1:3000:80/tcp"` and `{ target: 80 }` what is inside. */
function portsOf(table: Table): number[] {
  const listed = [table['ports'], table['expose']].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  )
  return listed.flatMap((one) => {
    const target = typeof one === 'object' ? tableIn({ one }, 'one')['target'] : one
    const plain = substituted(String(target), new Map()).replace(/\/\w+$/, '')
    const [, port] = /(?:^|:)(\d{2,5})$/.exec(plain) ?? []
    return port === undefined || port === '443' || /\/udp$/.test(String(target))
      ? []
      : [Number(port)]
  })
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return substituted(value.replaceAll('$$', '$'), new Map())
  return substituted(textsOf(value).join(' ').replaceAll('$$', '$'), new Map())
}

function lineOf(text: string, name: string): number {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const found = new RegExp(String.raw`^[ \t]+["']?${escaped}["']?:`, 'm').exec(text)
  return found === null ? 1 : lineAt(text, found.index)
}
