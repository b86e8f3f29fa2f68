/** Programs whose start runs a build: an edit of the code does nothing there before the next build. */
import type { Project } from '../../project/project.ts'
import type { Application } from '../application.ts'
import { under, upwards } from '../folders.ts'
import { runsOf, type Run } from './commands.ts'
import { readManifest } from './manifest.ts'
import { joined } from './paths.ts'

interface BuiltStart {
  /** `dist/server.js` */
  readonly file: string
  /** `npm run build`; null: no script is called so. */
  readonly build: string | null
}

const DEPTH_MAX = 6
const BUILDS = /^(?:pre)?(?:build|compile)\b/

/** null: it runs the code itself, builds before it starts, or does not say how it starts. */
export async function builtStart(
  project: Project,
  { folder, framework, entry, packageManager }: Application,
): Promise<BuiltStart | null> {
  const at = upwards(folder).find((above) => project.has(under(above, 'package.json')))
  if (at === undefined) return null
  const { scripts } = (await readManifest(project, under(at, 'package.json'))) ?? {}
  const start = scripts?.get('start')
  if (scripts === undefined || start === undefined) return null
  const runs = [scripts.get('prestart') ?? '', start].flatMap((line) => spread(scripts, line))
  if (runs.some(isBuild)) return null
  const build = scripts.has('build') ? `${packageManager ?? 'npm'} run build` : null
  if (framework === 'next' && entry === null)
    return runs.some(({ kind }) => kind === 'next') && /\bnext start\b/.test(start)
      ? { file: '.next', build }
      : null
  const files = runs.flatMap((run) => (run.kind === 'file' ? (joined(at, run.path) ?? []) : []))
  // `node server` runs server/index.js
  if (entry === null || files.some((file) => entry.path.startsWith(file))) return null
  const file = files.findLast((one) => !project.has(one))
  return file === undefined ? null : { file, build }
}

/** With what its scripts run. */
function spread(scripts: ReadonlyMap<string, string>, line: string, depth = 0): Run[] {
  return runsOf(line).flatMap((run) => {
    if (run.kind !== 'script' || depth > DEPTH_MAX) return [run]
    const inner = spread(scripts, scripts.get(run.name) ?? '', depth + 1)
    return isBuild(run) ? [run, ...inner] : inner
  })
}

const isBuild = (run: Run) => run.kind === 'script' && BUILDS.test(run.name)

/** For people: before `npm start` there is one thing to do. */
export function buildFirst({ file, build }: BuiltStart): string {
  return `The start script runs ${file}, which is built from the code. ${build === null ? 'Build it' : `Run ${build}`} before every start: an older build answers everybody without a sign-in.`
}
