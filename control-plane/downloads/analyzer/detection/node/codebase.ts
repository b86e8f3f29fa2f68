/** The sources of a project, parsed once each while there is budget, and what their imports lead to. */
import type { Node } from '@babel/types'
import { LRUCache } from 'lru-cache'
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import { keyOf, methodCall } from '../../syntax/bindings.ts'
import { importsOf } from '../../syntax/imports.ts'
import { oncePer } from '../../syntax/once-per.ts'
import { parseSource, type Source } from '../../syntax/parse.ts'
import { placeOf } from '../../syntax/places.ts'
import { fileText } from '../../syntax/texts.ts'
import { folderOf, isUnder, nameOf, nearest, under } from '../folders.ts'
import { innermost, type NodePackage, type Packages } from './packages.ts'
import { isTest, isWithin, joined } from './paths.ts'
import { createResolver, type Resolver } from './resolve.ts'
import { withServices } from './services.ts'
import { isSettings, settingsSource } from './settings-files.ts'

export interface Codebase {
  readonly project: Project
  readonly packages: Packages
  readonly resolver: Resolver
  /** null: not there, too large, not to be parsed, or no budget is left. */
  source(path: string): Promise<Source | null>
  /** Files that could not be looked at, each with its reason. */
  readonly problems: ReadonlyMap<string, string>
  readonly isSpent: boolean
}

/** What one entry leads to; all of it is at hand, so that following a name waits for nothing. */
export interface Reach {
  readonly entry: Source | null
  /** In order of distance from the entry. */
  readonly sources: ReadonlyMap<string, Source>
  /** undefined: a package, or nothing that was found. */
  target(from: Source, module: string): Source | undefined
}

/** What its sources import for more than types, and where. */
export function* importedIn({ sources }: Reach) {
  for (const source of sources.values())
    for (const { module, isTypeOnly, node } of importsOf(source))
      if (!isTypeOnly) yield { module, at: placeOf(source, node) }
}

/** A node of a source. */
export interface Spot {
  readonly source: Source
  readonly node: Node
}

export function* spotsIn({ sources }: Reach): Generator<Spot> {
  for (const source of sources.values()) for (const node of source.nodes) yield { source, node }
}

export function createCodebase(project: Project, packages: Packages): Codebase {
  const resolver = createResolver(project, packages)
  const problems = new Map<string, string>()
  /** Trees take many times their text: only those of late are kept. */
  const parsed = new LRUCache<string, { readonly source: Source | null }>({
    maxSize: LIMITS.analyzerHeldCharactersMax,
    sizeCalculation: ({ source }) =>
      Math.min(source?.text.length || 1, LIMITS.analyzerHeldCharactersMax),
  })
  let leftCharacters: number = LIMITS.analyzerCharactersMax
  let isSpent = false

  async function parseAt(path: string): Promise<Source | null> {
    const text = await project.read(path)
    if (text === null) return null
    if (isSettings(path)) return settingsSource(path, text)
    if (text.length > leftCharacters) {
      isSpent = true
      return null
    }
    if (isMinified(text)) {
      problems.set(path, 'is minified')
      return null
    }
    leftCharacters -= text.length
    const result = parseSource(path, text, innermost(packages, path)?.manifest.type)
    if ('source' in result) return withServices(project, resolver, result.source)
    problems.set(path, result.problem)
    return null
  }

  return {
    project,
    packages,
    resolver,
    problems,
    get isSpent() {
      return isSpent
    },
    async source(path) {
      const known = parsed.get(path)
      if (known !== undefined) return known.source
      const source = await parseAt(path)
      parsed.set(path, { source })
      return source
    },
  }
}

/** Files of a package without those of packages inside of it. */
export function packageFiles({ packages, project }: Codebase, folder: string): string[] {
  const inner = packages.all.map((one) => one.folder).filter((one) => isUnder(folder, one))
  const innerFolders = new Set(inner.filter((one) => one !== folder))
  return project.files
    .map(({ path }) => path)
    .filter((path) => isWithin(folder, path) && nearest(innerFolders, path) === null)
}

/** Nobody writes lines of that length; reading on would say nothing that an edit could use. */
function isMinified(text: string): boolean {
  if (text.length < 20_000) return false
  return text.length / text.split('\n').length > 400
}

export async function reachFrom(codebase: Codebase, paths: readonly string[]): Promise<Reach> {
  const sources = new Map<string, Source>()
  const targets = new Map<Source, Map<string, string>>()
  // it grows while it is walked
  const waiting = new Set(paths)
  let characters = 0
  for (const path of waiting) {
    if (sources.size >= LIMITS.analyzerReachFilesMax) break
    const source = await codebase.source(path)
    if (source === null) continue
    characters += source.text.length
    if (characters > LIMITS.analyzerReachCharactersMax) break
    sources.set(path, source)
    const leads = await leadsOf(codebase, source)
    targets.set(source, leads)
    for (const target of leads.values()) waiting.add(target)
  }
  return {
    entry: sources.get(paths[0] ?? '') ?? null,
    sources,
    target: (from, module) => sources.get(targets.get(from)?.get(module) ?? ''),
  }
}

async function leadsOf(codebase: Codebase, source: Source): Promise<Map<string, string>> {
  const leads = new Map<string, string>()
  if (isSettings(source.path)) return leads
  const asked = importsOf(source).filter(({ isTypeOnly }) => !isTypeOnly)
  for (const module of [...asked.map(({ module }) => module), ...namedFiles(source)]) {
    if (leads.has(module)) continue
    const path = await codebase.resolver.resolve(source.path, module)
    if (path !== null) leads.set(module, path)
  }
  const own =
    asked.some(({ module }) => module === 'config') && innermost(codebase.packages, source.path)
  const settings = own ? await defaultsOf(codebase, own) : null
  if (settings !== null) leads.set('config', settings)
  for (const folder of namedFolders(source))
    for (const path of codeIn(codebase, joined(folderOf(source.path), folder)))
      leads.set(`${folder}/${nameOf(path)}`, path)
  return leads
}

/** What the package `config` reads first. */
async function defaultsOf(
  { project, resolver }: Codebase,
  one: NodePackage,
): Promise<string | null> {
  const said = ['json', 'json5', 'yaml', 'yml'].map((ending) =>
    under(one.folder, `config/default.${ending}`),
  )
  return (await resolver.sourceOf(one, 'config/default')) ?? said.find(project.has) ?? null
}

const FOLDER_FILES_MAX = 100

/** Right in the folder, and in folders of it that are modules by their index. */
function codeIn({ project }: Codebase, folder: string | null): string[] {
  if (folder === null || folder === '') return []
  return project.files
    .flatMap(({ path }) => {
      const isIts = isWithin(folder, path) && /\.[cm]?[jt]s$/.test(path) && !isTest(path)
      const rest = isIts ? path.slice(folder.length + 1) : ''
      return /^[^/]+$|^[^/]+\/index\.\w+$/.test(rest) ? [path] : []
    })
    .slice(0, FOLDER_FILES_MAX)
}

/** Loads all files of a folder: `fs.readdirSync(routes)`, yargs' `commandDir`, `@fastify/autoload`. */
const LOADS =
  /^(?:readdir(?:Sync)?|commandDir|requireAll|require[-_]?dir(?:ectory)?|include-?all|importDir|autoload|loadDir|glob(?:by)?(?:Sync)?)$/i

/** Folders that a call loads, seen from where the file lies. */
function namedFolders(source: Source): string[] {
  const loadsByName = source.nodes.some(isNamedLater)
  return source.nodes.flatMap((node) => {
    if (node.type === 'ObjectProperty' && keyOf(node.key) === 'dir') {
      const dir = saysWhere(source) ? fileText(source, node.value) : null
      return dir?.startsWith('.') ? [dir] : []
    }
    const begun = folderBegun(source, node, loadsByName)
    if (begun !== null) return [begun]
    if (node.type !== 'CallExpression') return []
    const { callee } = node
    const name = keyOf(callee.type === 'MemberExpression' ? callee.property : callee)
    if (name === null || !LOADS.test(name)) return []
    const folder = fileText(source, node.arguments[0])
    const isHere = folder !== null && (name === 'commandDir' || folder.startsWith('.'))
    return isHere && !/[*{]/.test(folder) ? [folder] : []
  })
}

/** `require(file)`, `import(file)`: which file, only a run knows. */
function isNamedLater(node: Node): boolean {
  const asked =
    node.type === 'ImportExpression'
      ? node.source
      : node.type === 'CallExpression' && keyOf(node.callee) === 'require'
        ? node.arguments[0]
        : null
  return asked !== null && asked !== undefined && asked.type !== 'StringLiteral'
}

/** `path.join(__dirname, 'commands', name)`, `` `./commands/${name}.js` ``, `'./commands/' + name` */
function folderBegun(source: Source, node: Node, loadsByName: boolean): string | null {
  if (node.type === 'CallExpression') {
    if (!loadsByName) return null
    const name = methodCall(node)?.name ?? keyOf(node.callee)
    if (name !== 'join' && name !== 'resolve') return null
    const [first, ...rest] = node.arguments
    const known = rest.findIndex((one) => fileText(source, one) === null)
    const said = rest.slice(0, known).flatMap((one) => fileText(source, one) ?? [])
    const isHere = first?.type === 'Identifier' && first.name === '__dirname'
    return isHere && known > 0 ? inner(said.join('/')) : null
  }
  const begin =
    node.type === 'TemplateLiteral' && node.expressions.length > 0
      ? node.quasis[0]?.value.cooked
      : node.type === 'BinaryExpression' && node.left.type === 'StringLiteral'
        ? node.left.value
        : null
  const parent = begin ? source.parents.get(node) : undefined
  const around = parent?.type === 'ConditionalExpression' ? source.parents.get(parent) : parent
  const isAsked =
    around?.type === 'ImportExpression' ||
    (around?.type === 'CallExpression' && keyOf(around.callee) === 'require')
  const isOfFile = around?.type === 'NewExpression' && keyOf(around.callee) === 'URL'
  if (!begin || !(isAsked || (isOfFile && saysWhere(source)))) return null
  return inner(/^(\.\/)?(.+)\//.exec(begin)?.[isOfFile || begin.startsWith('./') ? 2 : 3] ?? '')
}

/** A folder beside the file or below it. */
const inner = (folder: string) =>
  /^(?:\.\/)?[\w-]+(?:\/[\w-]+)*\/?$/.test(folder)
    ? `./${folder.replace(/^\.\//, '').replace(/\/$/, '')}`
    : null

/** Whether a file says where it lies; asked at every node of it. */
const saysWhere = oncePer(({ text }: Source) =>
  /\b(?:__dirname|__filename|import\.meta)\b/.test(text),
)

/** `fork('./worker.js')`, `new Worker(…)`, `setupPrimary({ exec: … })`, `path.join(__dirname, 'app.js')`. */
function namedFiles(source: Source): string[] {
  return source.nodes.flatMap((node) => {
    if (/^(?:CallExpression|BinaryExpression|TemplateLiteral)$/.test(node.type)) {
      const path = saysWhere(source) ? fileText(source, node) : null
      return path !== null && /\.[cm]?[jt]s$/.test(path) ? [path] : []
    }
    if (node.type !== 'StringLiteral' || !/^(?:\.{0,2}\/)?[\w./-]+\.[cm]?[jt]s$/.test(node.value))
      return []
    const parent = source.parents.get(node)
    const isArgument = parent?.type === 'CallExpression' || parent?.type === 'NewExpression'
    const isExec = parent?.type === 'ObjectProperty' && parent.value === node
    if (!isArgument && !isExec) return []
    return [/^\.{1,2}\//.test(node.value) ? node.value : `./${node.value.replace(/^\//, '')}`]
  })
}
