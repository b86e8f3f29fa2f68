/** Where an application listens: only what reaches `listen` counts, and what is sure is said so. */
import type { LogicalExpression, Node } from '@babel/types'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import { placeOf } from '../../syntax/places.ts'
import { bare } from '../../syntax/references.ts'
import { literal } from '../../syntax/texts.ts'
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { folderOf, under } from '../folders.ts'
import { parsedJsonc, parsedYaml, tableIn } from '../manifests/tables.ts'
import { importedIn, spotsIn, type Codebase, type Reach, type Spot } from './codebase.ts'
import type { Entry } from './entries.ts'
import { isForeignPort } from './foreign-ports.ts'
import { portOf, portsOf, settings, validPort } from './literals.ts'
import { declaredPort } from './option-ports.ts'
import type { NodePackage } from './packages.ts'
import { joined } from './paths.ts'
import type { Served } from './served.ts'

export async function portFinding(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  reach: Reach,
  { serving, tracer }: Served,
): Promise<Finding | null> {
  if (entry.port !== null) {
    const said = `${entry.said} names the port ${entry.port}.`
    return finding('port', entry.port, entry.at, 'sure', said)
  }
  const written = serving?.port ?? null
  const port = written && portOf(written, tracer)
  const told = await portBeside(codebase, one, ['.env', '.env.local'])
  if (port && written) {
    if (told !== null && told.value !== String(port) && readsDotenv(reach)) return told
    const at = placeOf(written.source, written.node)
    const others = portsOf(written, tracer).filter((other) => other !== port)
    const detail =
      others.length === 0
        ? `Listens on ${port} unless the environment sets another port.`
        : `Listens on ${port}, or on ${others.join(' or ')}, depending on how it is started.`
    return finding('port', port, at, others.length === 0 ? 'sure' : 'likely', detail)
  }
  if (told !== null) return told
  const ways = written === null ? [] : waysOf(written)
  const names = new Set(ways.map((way) => way.at(-1) ?? ''))
  return (
    (serving && declaredPort(reach, tracer, names)) ??
    declaredPort(reach, tracer, new Set(['port'])) ??
    (await portOfFiles(codebase, one, reach, ways)) ??
    configuredPort(reach, tracer, names) ??
    portBeside(codebase, one)
  )
}

const readsDotenv = (reach: Reach) =>
  [...importedIn(reach)].some(({ module }) => /^(?:dotenv|localenv|env-cmd)\b/.test(module))

const STEPS_MAX = 8

/** `config.get('www:port')` is `www`, `port`; what a name was given is looked at behind it. */
function waysOf(written: Spot): string[][] {
  const ways: string[][] = []
  const waiting: Node[] = [written.node]
  // it grows while it is walked
  for (const waited of waiting) {
    const node = bare(waited)
    const way = wayOf(node)
    if (way.length > 0) ways.push(way)
    for (const inner of behind(written, node))
      if (waiting.length < STEPS_MAX) {
        waiting.push(inner)
        const deeper = wayOf(bare(inner))
        if (deeper.length > 0) ways.push(deeper)
      }
  }
  return ways
}

function behind({ source }: Spot, node: Node): Node[] {
  if (node.type === 'Identifier')
    return (source.bindings.resolve(node)?.values ?? []).map(({ expression }) => expression)
  if (node.type === 'LogicalExpression') return [node.right, node.left]
  if (node.type === 'AwaitExpression') return [node.argument]
  if (node.type === 'ObjectExpression')
    return node.properties.flatMap((property) =>
      property.type === 'ObjectProperty' && keyOf(property.key) === 'port' ? [property.value] : [],
    )
  if (node.type !== 'CallExpression') return []
  const [first] = node.arguments
  const key = literal(first)
  if (key !== null) return settings(source, key)
  return first ? [first] : []
}

function wayOf(node: Node): string[] {
  if (node.type === 'Identifier') return [node.name]
  if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') {
    const key = keyOf(node.property)
    return key === null ? [] : [...wayOf(node.object), key]
  }
  if (node.type !== 'CallExpression') return []
  const asked = literal(node.arguments[0])
  if (asked !== null && /^[\w.:-]{1,60}$/.test(asked)) return asked.split(/[.:]/)
  const name = methodCall(node)?.name ?? keyOf(node.callee)
  return name !== null && /^get\w*Port$/.test(name) ? ['port'] : []
}

const FILES_MAX = 10

/** `require('./config.json').port`, settings in YAML, and what the package `config` reads first. */
async function portOfFiles(
  { project }: Codebase,
  one: NodePackage,
  reach: Reach,
  ways: readonly (readonly string[])[],
): Promise<Finding | null> {
  const paths = new Set<string>()
  for (const { module } of importedIn(reach))
    if (module === 'config')
      for (const ending of ['json', 'json5', 'yaml', 'yml'])
        paths.add(under(one.folder, `config/default.${ending}`))
  for (const { source, node } of spotsIn(reach)) {
    const text = node.type === 'StringLiteral' ? node.value : null
    if (text === null || !/^[\w./-]{1,100}\.(?:json5?|ya?ml)$/.test(text)) continue
    const relative = text.replace(/^\/+/, '')
    for (const folder of [folderOf(source.path), one.folder])
      paths.add(joined(folder, relative) ?? '')
  }
  const asked = ways.length === 0 ? [['port']] : ways
  for (const path of [...paths].filter((path) => project.has(path)).slice(0, FILES_MAX)) {
    if (/(?:^|\/)(?:package|tsconfig)[^/]*\.json$/.test(path)) continue
    const text = await project.read(path)
    const whole = tableIn(/ya?ml$/.test(path) ? parsedYaml(text) : parsedJsonc(text))
    for (const way of asked)
      for (const from of way.keys()) {
        const rest = way.slice(from)
        const value = tableIn(whole, ...rest.slice(0, -1))[rest.at(-1) ?? '']
        // ${PORT:-3000}
        const port = Number(/^\$\{\w+:-?(\d+)\}$/.exec(String(value))?.[1] ?? value)
        if (!/port$/i.test(rest.at(-1) ?? '') || !Number.isInteger(port) || port < 1) continue
        if (port > 65_535) continue
        const detail = `${path} sets port ${port}.`
        return finding('port', port, { path, line: 1 }, 'likely', detail)
      }
  }
  return null
}

/** `port: env.PORT ?? 3000` of a configuration that the way to it was not found of. */
function configuredPort(
  reach: Reach,
  tracer: Served['tracer'],
  names: ReadonlySet<string>,
): Finding | null {
  const wanted = (name: string | null) =>
    name !== null && (/^port$/i.test(name) || (/port/i.test(name) && names.has(name)))
  for (const { source, node } of spotsIn(reach)) {
    const fallback = node.type === 'LogicalExpression' ? fallbackOf(node, wanted) : null
    if (fallback !== null && !isForeignPort(source, node, fallback)) {
      const detail = `Falls back to port ${fallback} here.`
      return finding('port', fallback, placeOf(source, node), 'guess', detail)
    }
    const isProperty = node.type === 'ObjectProperty' && wanted(keyOf(node.key))
    const isWritten =
      node.type === 'AssignmentExpression' &&
      node.left.type === 'MemberExpression' &&
      wanted(keyOf(node.left.property))
    if (!isProperty && !isWritten) continue
    const value = node.type === 'ObjectProperty' ? node.value : node.right
    const port = portOf({ source, node: value }, tracer)
    if (port === null || isForeignPort(source, node, port)) continue
    const detail = `This configuration sets port ${port}.`
    return finding('port', port, placeOf(source, node), 'likely', detail)
  }
  return null
}

/** `options.port || 3000` */
function fallbackOf(
  { left, right }: LogicalExpression,
  wanted: (name: string | null) => boolean,
): number | null {
  const isMember = left.type === 'MemberExpression' || left.type === 'OptionalMemberExpression'
  const name = isMember ? keyOf(left.property) : null
  const port = wanted(name) && right.type === 'NumericLiteral' ? validPort(right.value) : null
  // what an address without one means is asked, and not listened on
  return port === 80 || port === 443 ? null : port
}

const OF_ENVIRONMENT = /^\s*(?:export\s+)?PORT\s*=\s*["']?(\d{2,5})\b/
const OF_IMAGE = /^\s*(?:ENV\s+PORT[\s=]+|EXPOSE\s+)(\d{2,5})\b(?!\/udp)/i
const BESIDE = ['.env', '.env.local', '.env.example', 'Dockerfile']

/** What lies beside the code and says where it is to listen. */
export async function portBeside(
  codebase: Codebase,
  one: NodePackage,
  names: readonly string[] = BESIDE,
): Promise<Finding | null> {
  for (const name of names) {
    const path = under(one.folder, name)
    const lines = ((await codebase.project.read(path)) ?? '').slice(0, 64 * 1024).split('\n')
    const pattern = name === 'Dockerfile' ? OF_IMAGE : OF_ENVIRONMENT
    for (const [index, line] of lines.entries()) {
      const port = pattern.exec(line)?.[1]
      if (port === undefined) continue
      const detail = `${name} sets port ${port}.`
      return finding('port', port, { path, line: index + 1 }, 'likely', detail)
    }
  }
  return null
}
