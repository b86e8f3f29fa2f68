/** Where an application listens: only what reaches `listen` counts, and what is sure is said so. */
import type { LogicalExpression } from '@babel/types'
import { keyOf } from '../../syntax/bindings.ts'
import { placeOf } from '../../syntax/places.ts'
import type { Finding } from '../application.ts'
import { finding } from '../assemble.ts'
import { folderOf, under } from '../folders.ts'
import { parsedJsonc, parsedYaml, tableIn } from '../manifests/tables.ts'
import { importedIn, spotsIn, type Codebase, type Reach, type Spot } from './codebase.ts'
import type { Entry } from './entries.ts'
import { isOfCommand, isOfEnvironment, type Outcome } from './outcomes.ts'
import { isForeignName, isForeignPort } from './foreign-ports.ts'
import { asPort, portOf, portOutcomes, validPort } from './literals.ts'
import { declaredPort } from './option-ports.ts'
import type { NodePackage } from './packages.ts'
import { isAside, isWithin, joined } from './paths.ts'
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
  const ofCommand = await portOfGivenFile(codebase, one, entry)
  if (ofCommand !== null) return ofCommand
  const written = serving?.port ?? null
  const asked = written === null ? [] : portOutcomes(written, tracer)
  const variables = asked.flatMap(({ way }) => way.at(-1)?.match(/^[A-Z0-9_]*PORT$/)?.[0] ?? [])
  const told = await portBeside(codebase, one, ['.env', '.env.local'], variables)
  const found = written && (await settled(codebase, one, reach, tracer, written, asked))
  if (found) {
    const isOther = told !== null && told.value !== found.value && readsDotenv(reach)
    return isOther ? told : found
  }
  if (told !== null) return told
  const ways = asked.map(({ way }) => way).filter((way) => way.length > 0)
  const names = new Set(ways.map((way) => way.at(-1) ?? ''))
  return (
    (serving && declaredPort(reach, tracer, names)) ??
    declaredPort(reach, tracer, new Set(['port'])) ??
    soughtPort(reach) ??
    (await portOfFiles(codebase, one, reach, ways)) ??
    (variables.length > 0 ? await portBeside(codebase, one, BESIDE, variables) : null) ??
    configuredPort(reach, tracer, names) ??
    portBeside(codebase, one)
  )
}

const readsDotenv = (reach: Reach) =>
  [...importedIn(reach)].some(({ module }) => /^(?:dotenv|localenv|env-cmd)\b/.test(module))

/** The first in order that says a port: code, or what an option of the command line says by itself. */
async function settled(
  codebase: Codebase,
  one: NodePackage,
  reach: Reach,
  tracer: Served['tracer'],
  written: Spot,
  outcomes: readonly Outcome[],
): Promise<Finding | null> {
  const at = placeOf(written.source, written.node)
  let isOpen = false
  for (const [index, outcome] of outcomes.entries()) {
    const port = asPort(outcome)
    if (port !== null) {
      const rest = outcomes.slice(index + 1).flatMap((other) => asPort(other) ?? [])
      const others = [...new Set(rest)].filter((other) => other !== port).slice(0, OTHERS_MAX)
      const isSure = others.length === 0 && !isOpen && !TEMPLATE.test(outcome.at.source.path)
      const detail =
        others.length === 0
          ? `Listens on ${port} unless the environment sets another port.`
          : `Listens on ${port}, or on ${others.join(' or ')}, depending on how it is started.`
      return finding('port', port, at, isSure ? 'sure' : 'likely', detail)
    }
    if (outcome.value !== null || isOfEnvironment(outcome)) continue
    const said = await saidElsewhere(codebase, one, reach, tracer, outcome)
    if (said !== null) return said
    isOpen ||= !isOfCommand(outcome)
  }
  return null
}

const OTHERS_MAX = 3
/** A file of settings that is copied, and changed in the copy. */
const TEMPLATE = /[.-](?:default|example|sample|template|dist)\.\w+$/

/** By the last of the names that the code asks for, or by all of them in a file of settings. */
async function saidElsewhere(
  codebase: Codebase,
  one: NodePackage,
  reach: Reach,
  tracer: Served['tracer'],
  { way }: Outcome,
): Promise<Finding | null> {
  const name = way.at(-1) ?? ''
  if (name === '') return null
  return (
    (way.length > 1 ? await portOfFiles(codebase, one, reach, [way]) : null) ??
    declaredPort(reach, tracer, new Set([name]))
  )
}

const FILES_MAX = 20

/** Settings in JSON and YAML that the code names, or that lie where settings do. */
async function portOfFiles(
  { project }: Codebase,
  one: NodePackage,
  reach: Reach,
  ways: readonly (readonly string[])[],
): Promise<Finding | null> {
  const paths = new Set<string>()
  for (const { source, node } of spotsIn(reach)) {
    const text = node.type === 'StringLiteral' ? node.value : null
    if (text === null || !/^[\w./-]{1,100}\.(?:json5?|ya?ml)$/.test(text)) continue
    const relative = text.replace(/^\/+/, '')
    for (const folder of [folderOf(source.path), one.folder])
      paths.add(joined(folder, relative) ?? '')
  }
  const ofName = await portOfNamedFile(project, one, ways)
  if (ofName !== null) return ofName
  const named = new Set(paths)
  const isDeep = ways.some((way) => way.length > 1)
  if (isDeep) for (const { path } of project.files) if (isCustom(one, path)) paths.add(path)
  const asked = ways.length === 0 ? [['port']] : ways
  for (const path of [...paths].filter((path) => project.has(path)).slice(0, FILES_MAX)) {
    if (/(?:^|\/)(?:package|tsconfig)[^/]*\.json$/.test(path)) continue
    const text = await project.read(path)
    const whole = tableIn(/ya?ml$/.test(path) ? parsedYaml(text) : parsedJsonc(text))
    for (const way of asked)
      for (const from of way.keys()) {
        const rest = way.slice(from)
        // only a way of two names says that a file is meant which nothing names
        if (rest.length < 2 && !named.has(path)) continue
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

/** `node cli.js --config config.json` */
async function portOfGivenFile(
  { project }: Codebase,
  one: NodePackage,
  { given = [], said }: Entry,
): Promise<Finding | null> {
  const at = given.findIndex((word) => /^(?:-c|--config)$/.test(word))
  const path = at === -1 ? null : joined(one.folder, given[at + 1] ?? '')
  if (path === null || !/\.(?:json|ya?ml)$/.test(path) || !project.has(path)) return null
  const text = await project.read(path)
  const port = validPort(
    Number(tableIn(path.endsWith('json') ? parsedJsonc(text) : parsedYaml(text))['port']),
  )
  const detail = `${path}, which ${said} names, sets port ${port}.`
  return port === null ? null : finding('port', port, { path, line: 1 }, 'likely', detail)
}

/** `config('server').port` of a package that reads a folder: `config/server.json`. */
async function portOfNamedFile(
  project: Codebase['project'],
  one: NodePackage,
  ways: readonly (readonly string[])[],
): Promise<Finding | null> {
  for (const way of ways) {
    const [file = '', name = ''] = way.slice(-2)
    if (!/port$/i.test(name) || !/^[\w-]+$/.test(file)) continue
    for (const folder of ['config', 'conf', 'settings'])
      for (const ending of ['json', 'yml', 'yaml']) {
        const path = under(one.folder, `${folder}/${file}.${ending}`)
        if (!project.has(path)) continue
        const text = await project.read(path)
        const whole = tableIn(ending === 'json' ? parsedJsonc(text) : parsedYaml(text))
        const port = validPort(Number(whole[name]))
        const detail = `${path} sets port ${port}.`
        if (port !== null) return finding('port', port, { path, line: 1 }, 'likely', detail)
      }
  }
  return null
}

/** `config/default.json`, `conf/server.yml`, `gateway.config.yml` */
function isCustom(one: NodePackage, path: string): boolean {
  const inside = isWithin(one.folder, path) && !isAside(path)
  return (
    inside &&
    /(?:^|\/)(?:conf(?:ig)?s?\/(?:default|base|config|settings|index)|(?:[\w-]+\.)?(?:config|settings))\.(?:json5?|ya?ml)$/.test(
      path,
    )
  )
}

/** `portfinder.basePort = 8080`: where a search for a free one begins. */
function soughtPort(reach: Reach): Finding | null {
  for (const { source, node } of spotsIn(reach)) {
    if (node.type !== 'AssignmentExpression' || node.left.type !== 'MemberExpression') continue
    if (keyOf(node.left.property) !== 'basePort' || node.right.type !== 'NumericLiteral') continue
    const port = validPort(node.right.value)
    if (port === null) continue
    const detail = `Looks for a free port from ${port} on.`
    return finding('port', port, placeOf(source, node), 'likely', detail)
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
  // uri.port = 80 is what an address without one means
  let custom: Finding | null = null
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
    const found = finding('port', port, placeOf(source, node), 'likely', detail)
    if (port !== 80 && port !== 443) return found
    custom ??= found
  }
  return custom
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

const OF_ENVIRONMENT = /^\s*(?:export\s+)?([A-Z0-9_]*PORT)\s*=\s*["']?(\d{2,5})\b/
const OF_IMAGE = /^\s*(?:ENV\s+PORT[\s=]+|EXPOSE\s+)(\d{2,5})\b(?!\/udp)/i
const BESIDE = ['.env', '.env.local', '.env.example', 'Dockerfile']

/** What lies beside the code and says where it is to listen. */
export async function portBeside(
  codebase: Codebase,
  one: NodePackage,
  names: readonly string[] = BESIDE,
  variables: readonly string[] = [],
): Promise<Finding | null> {
  const isAsked = (variable: string) =>
    variable === 'PORT' || (variables.includes(variable) && !isForeignName(variable))
  for (const name of names) {
    const path = under(one.folder, name)
    const lines = ((await codebase.project.read(path)) ?? '').slice(0, 64 * 1024).split('\n')
    for (const [index, line] of lines.entries()) {
      const [, variable = '', said] = OF_ENVIRONMENT.exec(line) ?? []
      const port = name === 'Dockerfile' ? OF_IMAGE.exec(line)?.[1] : said
      if (port === undefined || (name !== 'Dockerfile' && !isAsked(variable))) continue
      const detail = `${name} sets port ${port}.`
      return finding('port', port, { path, line: index + 1 }, 'likely', detail)
    }
  }
  return null
}
