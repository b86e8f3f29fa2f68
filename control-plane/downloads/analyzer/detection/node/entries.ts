/** The files that a start runs: what scripts, Procfile, Dockerfile and pm2 say, then main, bin and custom. */
import { lineAt } from '../../syntax/places.ts'
import { keyOf } from '../../syntax/bindings.ts'
import { parseSource } from '../../syntax/parse.ts'
import type { Project } from '../../project/project.ts'
import type { Place } from '../application.ts'
import { dockerCommands, webCommands } from '../start-commands.ts'
import { under } from '../folders.ts'
import { parsedJsonc, tableIn, textIn } from '../manifests/tables.ts'
import type { Codebase } from './codebase.ts'
import { runsOf, type Run } from './commands.ts'
import { manifestPlace, type NodePackage } from './packages.ts'
import { joined } from './paths.ts'

export interface Entry {
  /** A source of the project; of Next.js without a server of its own there is none. */
  readonly path: string | null
  readonly framework: 'next' | 'fastify-cli' | null
  /** A command says so, a manifest offers it, or it is only called as such files are. */
  readonly by: 'command' | 'manifest' | 'custom'
  readonly said: string
  readonly at: Place | null
  readonly port: number | null
  /** What the command gives it behind its name. */
  readonly given?: readonly string[]
}

const SCRIPTS = [
  'start',
  'start:prod',
  'start:production',
  'serve',
  'server',
  'start:server',
  'start:dev',
  'dev',
  'develop',
  'dev:server',
  'watch',
]
const FURTHER_SCRIPTS = /^(?:start|serve|dev|server|api)[:-]/
const CUSTOM = [
  ...['server', 'app', 'main', 'index', 'start', 'www'],
  ...['src/server', 'src/main', 'src/app', 'src/index', 'server/index', 'server/server'],
  ...['bin/www', 'server/app', 'server/main', 'api/index', 'app/server', 'app/index', 'lib/server'],
]
const ENTRIES_MAX = 30

/** In the order in which they are to be believed. */
export async function entriesOf(codebase: Codebase, one: NodePackage): Promise<Entry[]> {
  const { project, resolver } = codebase
  const found: Entry[] = []

  async function add(run: Run, by: Entry['by'], said: string, at: Place | null) {
    if (found.length >= ENTRIES_MAX) return
    if (run.kind === 'next')
      found.push({ path: null, framework: 'next', by, said, at, port: run.port })
    const paths =
      run.kind === 'nest'
        ? await nestFiles(codebase, one, run.project)
        : await filesOf(codebase, one, run)
    for (const written of paths) {
      const inside = joined('', written)
      const path =
        (written.startsWith('/') ? await fromRoot(written) : null) ??
        (inside === null ? null : await resolver.sourceOf(one, inside))
      const framework = run.kind === 'plugin' ? 'fastify-cli' : null
      const port = ((run.kind === 'file' || run.kind === 'plugin') && run.port) || null
      const given = (run.kind === 'file' && run.given) || []
      if (path !== null) found.push({ path, framework, by, said, at, port, given })
    }
  }
  /** `/usr/src/app/dist/main.js` of a container, and hints that count from the project's root. */
  async function fromRoot(written: string): Promise<string | null> {
    const segments = written.slice(1).split('/')
    for (let from = 0; from < Math.min(segments.length, 6); from++) {
      const rest = segments.slice(from).join('/')
      const root = from === 0 ? codebase.packages.all[0] : one
      const path = root && (await resolver.sourceOf(root, rest))
      if (path) return path
    }
    return null
  }

  for (const hint of one.entryHints)
    await add({ kind: 'file', path: hint }, 'command', 'its project file', null)
  if (one.entryHints.length === 0) {
    const { scripts, path } = one.manifest
    const text = (await project.read(path)) ?? ''
    const further = [...scripts.keys()].filter((name) => FURTHER_SCRIPTS.test(name))
    for (const name of new Set([...SCRIPTS, ...further]))
      for (const run of unscripted(scripts, [{ kind: 'script', name }])) {
        const at = { path, line: lineAt(text, text.indexOf(`"${name}":`)) }
        await add(run, 'command', `the script ${name}`, at)
      }
    if (path !== '' && !scripts.has('start') && one.manifest.bins.length === 0)
      await add({ kind: 'file', path: './server.js' }, 'command', 'npm start', { path, line: 1 })
    for (const { runs, path, line } of await otherCommands(codebase, one))
      for (const run of runs) await add(run, 'command', path, { path, line })
    const manifest = manifestPlace(one)
    // what is run goes before what is imported
    for (const bin of [...one.manifest.bins.slice(0, 5), one.manifest.main])
      if (bin !== null) await add({ kind: 'file', path: bin }, 'manifest', path, manifest)
    if (one.manifest.main === '.')
      await add({ kind: 'file', path: 'index' }, 'manifest', path, manifest)
  }
  for (const name of CUSTOM) await add({ kind: 'file', path: name }, 'custom', 'its name', null)
  // the first that says so is believed
  const distinct = new Map<string, Entry>()
  for (const entry of found) {
    const key = `${entry.path} ${entry.framework}`
    if (!distinct.has(key)) distinct.set(key, entry)
  }
  return [...distinct.values()]
}

/** Files as they are named; a file of pm2's leads to what it names. */
async function filesOf({ project }: Codebase, one: NodePackage, run: Run): Promise<string[]> {
  if (run.kind !== 'file' && run.kind !== 'plugin') return []
  if (run.path.endsWith('.sh')) return startedByShell(project, one, run.path)
  if (!PM2_FILES.includes(run.path.replace(/^\.\//, ''))) return [run.path]
  const path = joined(one.folder, run.path) ?? run.path
  return pm2Scripts(path, ((await project.read(path)) ?? '').slice(0, 64 * 1024))
}

const SHELL_FILES_MAX = 10

/** `./start.sh`: what it runs, and files that it gives to functions of its own. */
async function startedByShell(project: Project, one: NodePackage, path: string): Promise<string[]> {
  const text = ((await project.read(joined(one.folder, path) ?? '')) ?? '').slice(0, 64 * 1024)
  const code = text.replace(/^\s*#.*$/gm, '')
  const run = runsOf(code).flatMap((one) => (one.kind === 'file' ? [one.path] : []))
  const named = [...code.matchAll(/(?<=\s)\.?\/?[\w-][\w./-]*\.[cm]?js(?=\s)/g)].map(
    ([file]) => file,
  )
  return [...new Set([...run, ...named])]
    .filter((file) => !file.endsWith('.sh'))
    .slice(0, SHELL_FILES_MAX)
}

const PM2_FILES = [
  ...['js', 'cjs', 'mjs', 'json'].map((ending) => `ecosystem.config.${ending}`),
  ...['ecosystem.json', 'ecosystem.js', 'pm2.json', 'pm2.config.js', 'process.json'],
]

/** A script that runs scripts leads to theirs; one that runs itself ends there. */
function unscripted(
  scripts: ReadonlyMap<string, string>,
  runs: readonly Run[],
  seen: readonly string[] = [],
): Run[] {
  return runs.flatMap((run) => {
    if (run.kind !== 'script') return [run]
    const line = scripts.get(run.name)
    if (line === undefined || seen.includes(run.name) || seen.length > 8) return []
    return unscripted(scripts, runsOf(line).slice(0, 20), [...seen, run.name])
  })
}

const DOCKERFILES = [
  ...['Dockerfile', 'Dockerfile.prod', 'Dockerfile.production'],
  ...['docker/Dockerfile', '.docker/Dockerfile'],
]

async function otherCommands({ project }: Codebase, one: NodePackage) {
  const found: { runs: readonly Run[]; path: string; line: number }[] = []
  for (const name of ['Procfile', ...DOCKERFILES, ...PM2_FILES]) {
    const path = under(one.folder, name)
    const text = await project.read(path)
    if (text === null || text.length > 64 * 1024) continue
    if (PM2_FILES.includes(name)) {
      for (const script of pm2Scripts(path, text))
        found.push({ runs: [{ kind: 'file', path: script }], path, line: 1 })
      continue
    }
    for (const { command, line } of name === 'Procfile' ? webCommands(text) : dockerCommands(text))
      found.push({ runs: unscripted(one.manifest.scripts, runsOf(command)), path, line })
  }
  return found
}

/** Read as code and not run: `script: './dist/server.js'` wherever it stands. */
function pm2Scripts(path: string, text: string): string[] {
  const isJson = path.endsWith('.json')
  const parsed = parseSource(isJson ? 'pm2.js' : path, isJson ? `(${text})` : text)
  if ('problem' in parsed) return []
  const { source } = parsed
  return source.nodes
    .flatMap((node) =>
      node.type === 'ObjectProperty' &&
      keyOf(node.key) === 'script' &&
      node.value.type === 'StringLiteral'
        ? [node.value.value]
        : [],
    )
    .filter((script) => !/^(?:npm|yarn|pnpm|bun)$/.test(script))
    .slice(0, 10)
}

/** What `nest start` runs. */
async function nestFiles(
  { project }: Codebase,
  one: NodePackage,
  name: string | null,
): Promise<string[]> {
  const whole = tableIn(parsedJsonc(await project.read(under(one.folder, 'nest-cli.json'))))
  const named = name === null ? {} : tableIn(whole, 'projects', name)
  const sources = textIn(named, 'sourceRoot') ?? textIn(whole, 'sourceRoot') ?? 'src'
  const file = textIn(named, 'entryFile') ?? textIn(whole, 'entryFile') ?? 'main'
  return [`${sources}/${file}`]
}
