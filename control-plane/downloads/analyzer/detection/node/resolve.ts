/** From what an import says to the file of the project that it means: endings, aliases, workspaces, builds. */
import type { Project } from '../../project/project.ts'
import { folderOf, nameOf, under, upwards, within } from '../folders.ts'
import { parsedJsonc, tableIn, textIn, textsIn, textsOf } from '../manifests/tables.ts'
import { innermost, type NodePackage, type Packages } from './packages.ts'
import { isWithin, joined } from './paths.ts'

export interface Resolver {
  /** null: a package from elsewhere, or nothing that is there. */
  resolve(from: string, module: string): Promise<string | null>
  /** A file as a command names it: built ones lead to what they are built from. */
  sourceOf(one: NodePackage, path: string): Promise<string | null>
}

interface CompilerOptions {
  /** Where they are said. */
  readonly folder?: string
  readonly outFolder?: string | null | undefined
  readonly rootFolder?: string | null | undefined
  readonly baseFolder?: string | null | undefined
  /** Without the star: what a module begins with, and the folders or files that it leads to. */
  readonly paths: readonly {
    readonly prefix: string
    readonly isWhole: boolean
    readonly targets: readonly string[]
  }[]
}

const ENDINGS = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.tsx', '.jsx']
const BUILD_FOLDERS =
  /^(?:\.?\/)?(?:dist|build|out|lib|output|\.build|_build|compiled|release)(?:\/|$)/

export function createResolver(project: Project, packages: Packages): Resolver {
  const optionsByFolder = new Map<string, Promise<CompilerOptions>>()

  function optionsAt(folder: string): Promise<CompilerOptions> {
    const known = optionsByFolder.get(folder)
    if (known !== undefined) return known
    const path = upwards(folder)
      .flatMap((at) => ['tsconfig.json', 'jsconfig.json'].map((name) => under(at, name)))
      .find((one) => project.has(one))
    const read = path === undefined ? Promise.resolve(NO_OPTIONS) : readOptions(project, path)
    optionsByFolder.set(folder, read)
    return read
  }

  /** `./app` is a file of some ending, or a folder with an index; `./app.js` may be app.ts. */
  function fileAt(path: string | null): string | null {
    if (path === null) return null
    if (project.has(path) && ENDINGS.some((ending) => path.endsWith(ending))) return path
    if (project.has(path) && !/\.\w+$/.test(path)) return path // bin/www
    const written = /^(.*)\.([cm]?)jsx?$/.exec(path)
    const asTypeScript = written
      ? [`${written[1]}.${written[2]}ts`, `${written[1]}.ts`, `${written[1]}.tsx`]
      : []
    const inside = path === '' ? '' : `${path}/`
    const tried = [
      ...asTypeScript,
      ...ENDINGS.map((ending) => `${path}${ending}`),
      ...ENDINGS.map((ending) => `${inside}index${ending}`),
    ]
    return tried.find((one) => project.has(one)) ?? null
  }

  async function byAlias(from: string, module: string): Promise<string | null> {
    const { paths, baseFolder } = await optionsAt(folderOf(from))
    for (const { prefix, isWhole, targets } of paths)
      if (isWhole ? module === prefix : module.startsWith(prefix))
        for (const target of targets) {
          const found = fileAt(joined(target, isWhole ? '' : module.slice(prefix.length)))
          if (found !== null) return found
        }
    const one = innermost(packages, from)
    for (const [alias, target] of one?.manifest.aliases ?? []) {
      const prefix = alias.replace(/\*$/, '')
      const isPrefix =
        module === prefix || module.startsWith(/[*/]$/.test(alias) ? prefix : `${alias}/`)
      if (!isPrefix || !one) continue
      const rest = module.slice(prefix.length)
      const path = target.includes('*') ? target.replace('*', rest) : `${target}/${rest}`
      const found = await sourceOf(one, path.replace(/\/$/, ''))
      if (found !== null) return found
    }
    const byBase = typeof baseFolder === 'string' ? fileAt(joined(baseFolder, module)) : null
    // what bundlers and generators are told elsewhere
    const custom = /^[@~]\/(.+)$/.exec(module)?.[1]
    return (
      byBase ?? (custom && one ? fileAt(joined(joined(one.folder, 'src') ?? '', custom)) : null)
    )
  }

  async function byName(module: string): Promise<string | null> {
    const [scope = '', second] = module.split('/')
    const name = scope.startsWith('@') ? `${scope}/${second}` : scope
    const one = packages.byName.get(name)
    if (one === undefined) return null
    const rest = module.slice(name.length + 1)
    if (rest !== '') return (await sourceOf(one, rest)) ?? sourceOf(one, `src/${rest}`)
    for (const path of [...one.manifest.offered, 'src/index', 'index']) {
      const found = await sourceOf(one, path)
      if (found !== null) return found
    }
    return null
  }

  async function sourceOf(one: NodePackage, written: string): Promise<string | null> {
    const path = joined(one.folder, written)
    const there = fileAt(path)
    if (path === null) return there
    const unbuilt: (string | null)[] = []
    // ts/tsconfig.json says what ts/lib is built from
    for (const options of new Set([await optionsAt(one.folder), await optionsAt(folderOf(path))])) {
      const { outFolder, rootFolder, folder = one.folder } = options
      if (typeof outFolder !== 'string' || outFolder === folder) continue
      if (!isWithin(outFolder, path) || !isWithin(one.folder, folder)) continue
      const rest = path.slice(outFolder.length + 1)
      unbuilt.push(
        joined(rootFolder ?? folder, rest),
        joined(folder, rest),
        joined(folder, `src/${rest}`),
      )
    }
    // a build that was published along with what it was built from
    const compiled = unbuilt.map(fileAt).find((one) => /(?<!\.d)\.[cm]?tsx?$/.test(one ?? ''))
    if (compiled || there !== null) return compiled ?? there
    const relative = within(one.folder, path)
    if (BUILD_FOLDERS.test(relative)) {
      const rest = relative.replace(BUILD_FOLDERS, '')
      const tail = rest.replace(/^(?:cjs|esm|src|server|main)\//, '')
      const places = [
        `src/${rest}`,
        rest,
        `src/${tail}`,
        tail,
        `server/${tail}`,
        rest.replace(/\/main(?=\.|$)/, '/src/main'),
      ]
      unbuilt.push(...places.map((place) => joined(one.folder, place)))
    }
    for (const candidate of unbuilt) {
      const found = fileAt(candidate)
      if (found !== null) return found
    }
    return null
  }

  /** `../lib/cli` of a command leads to what lib is built from; within lib it stays there. */
  async function compiledFrom(from: string, path: string | null): Promise<string | null> {
    const one = path === null ? undefined : innermost(packages, path)
    if (one === undefined || path === null) return null
    const { outFolder } = await optionsAt(one.folder)
    const isInto =
      typeof outFolder === 'string' &&
      outFolder !== one.folder &&
      isWithin(outFolder, path) &&
      !isWithin(outFolder, from)
    return isInto ? sourceOf(one, within(one.folder, path)) : null
  }

  /** `./hono/server/router.js` of a file that is copied beside its build, where server/router.ts lies here. */
  function byTail(from: string, module: string): string | null {
    const one = innermost(packages, from)
    const [, ...segments] = module.split('/')
    for (; one && segments.length > 1; segments.shift()) {
      const found = fileAt(joined(one.folder, segments.join('/')))
      if (found !== null && found !== from) return found
    }
    return null
  }

  return {
    sourceOf,
    async resolve(from, module) {
      if (module.length > 500 || module.startsWith('node:')) return null
      if (/^\.{1,2}(?:\/|$)/.test(module)) {
        const path = joined(folderOf(from), module)
        // require('..') is what the package there says
        const one = packages.all.find(({ folder, manifest }) => folder === path && manifest.main)
        const main = one && (await sourceOf(one, one.manifest.main ?? ''))
        const code = main ?? (await compiledFrom(from, path)) ?? fileAt(path)
        // what lies beside the project on each machine is shown at its root
        return code ?? settingsAt(project, path ?? nameOf(module)) ?? byTail(from, module)
      }
      return (await byAlias(from, module)) ?? byName(module)
    },
  }
}

const SETTINGS = /\.(?:json5?|ya?ml)$/

/** `./config` is `config.json` too, or what is copied to it on each machine. */
function settingsAt(project: Project, path: string | null): string | null {
  if (path === null) return null
  const stem = path.replace(/\.(?:[cm]?js|json)$/, '')
  const copied = ['default', 'example', 'sample', 'template', 'dist'].flatMap((name) =>
    ['js', 'cjs', 'ts', 'json'].flatMap((ending) => [
      `${stem}.${name}.${ending}`,
      `${stem}-${name}.${ending}`,
      `${stem}_${name}.${ending}`,
      `${stem}.${ending}.${name}`,
    ]),
  )
  const tried = SETTINGS.test(path) ? [path] : [`${path}.json`, `${path}/index.json`]
  return [...tried, ...copied].find((one) => project.has(one)) ?? null
}

const NO_OPTIONS: CompilerOptions = { paths: [] }

/** `extends` is followed a few times only: it may lead in a circle. */
async function readOptions(project: Project, path: string, depth = 0): Promise<CompilerOptions> {
  const text = await project.read(path)
  if (text === null || text.length > 256 * 1024 || depth > 4) return NO_OPTIONS
  const whole = tableIn(parsedJsonc(text))
  const folder = folderOf(path)
  const extended = textIn(whole, 'extends')
  let base = NO_OPTIONS
  for (const parent of extended === null ? textsIn(whole, 'extends').slice(0, 5) : [extended]) {
    const at = joined(folder, parent)
    const file = [at, `${at}.json`, `${at}/tsconfig.json`].find(
      (one) => one !== null && project.has(one),
    )
    if (parent.startsWith('.') && file) base = await readOptions(project, file, depth + 1)
  }
  const own = tableIn(whole, 'compilerOptions')
  const at = (key: string) => {
    const value = textIn(own, key)
    return value === null ? null : joined(folder, value)
  }
  const baseFolder = at('baseUrl') ?? base.baseFolder
  const aliases = Object.entries(tableIn(own, 'paths')).slice(0, 200)
  const paths = aliases.map(([key, targets]) => ({
    prefix: key.replace(/\*$/, ''),
    isWhole: !key.endsWith('*'),
    targets: textsOf(targets)
      .slice(0, 5)
      .flatMap((target) => joined(at('baseUrl') ?? folder, target.replace(/\*$/, '')) ?? []),
  }))
  return {
    folder,
    outFolder: at('outDir') ?? base.outFolder,
    rootFolder: at('rootDir') ?? base.rootFolder,
    baseFolder,
    paths: paths.length > 0 ? paths : base.paths,
  }
}
