/**
 * In sdk mode the application needs a secret. It goes into `.env` where git ignores that file and
 * the application reads it before the middleware is made, and where nobody else reads it; otherwise a person sets it, having seen it
 * once.
 */
import * as files from 'node:fs/promises'
import type { Application } from '../../detection/application.ts'
import { under, upwards } from '../../detection/folders.ts'
import { readManifest } from '../../detection/node/manifest.ts'
import { Problem } from '../../../command-line/exit.ts'
import { envLinesOf } from '../../journal/env-line.ts'
import { createGit } from '../../journal/git.ts'
import type { Project } from '../../project/project.ts'
import { visibleText } from '../../../command-line/words.ts'
import type { Task } from '../command.ts'
import type { LookedAt } from '../look-at.ts'

const NAME = 'SERVICE_CLIENT_SECRET'
/** Programs that a repository names in its own configuration are not run. */
const SAFE = ['core.fsmonitor=false', 'core.hooksPath=/dev/null']

export async function provideSecret(
  task: Task,
  { project }: LookedAt,
  application: Application,
): Promise<void> {
  const { access, profile, terminal, world } = task
  const { text: baseUrl } = access.baseUrl()
  const saved = await profile.read(baseUrl)
  const secret = saved?.clientSecret
  const folder = packageFolderOf(project, application)
  const path = under(folder ?? application.folder, '.env')
  if (await isSecretSet(task, project, application)) return
  if (saved === null || secret === undefined) {
    terminal.remark(
      `Set ${NAME} in the environment of the application; it was shown when the tenant was created.`,
    )
    return
  }
  task.hide(secret)
  const { key, tenantId } = saved
  const canHold = (await isIgnored(task, project.root, path)) && (await readsEnv(project, application, folder ?? '')) // prettier-ignore
  const lines = envLinesOf({ ...world, files })
  const outcome = canHold ? await lines.add(project.root, path, `${NAME}=${secret}`) : 'impossible'
  if (outcome === 'added') {
    await profile.save(baseUrl, { key, tenantId })
    task.show(`Added ${NAME} to ${visibleText(path)}, which git ignores; undo removes it.`)
    return
  }
  if (outcome === 'readable_by_others') {
    const file = visibleText(path)
    throw new Problem(
      'env_unsafe',
      `Other users of this machine can read ${file}, so ${NAME} was not added to it.`,
      `Make it yours alone, then run service-analyzer setup again: chmod 600 ${file}`,
    )
  }
  terminal.remark(`Set this in the environment of the application. It is shown only once:`)
  if (!terminal.isInteractive) {
    terminal.remark(`  export ${NAME}=…`)
    return
  }
  // past what hides it: nobody else reads this terminal, and no log
  world.stderr.write(`  export ${NAME}=${secret}\n`)
  await profile.save(baseUrl, { key, tenantId })
}

const packageFolderOf = (project: Project, { folder }: Application): string | undefined =>
  upwards(folder).find((at) => project.has(under(at, 'package.json')))

/** Here, or in the `.env` beside its package. */
export async function isSecretSet(
  { world }: Task,
  project: Project,
  application: Application,
): Promise<boolean> {
  if ((world.environment[NAME] ?? '') !== '') return true
  const path = under(packageFolderOf(project, application) ?? application.folder, '.env')
  const text = await files.readFile(`${project.root}/${path}`, 'utf8').catch(() => '')
  return new RegExp(`^(?:export\\s+)?${NAME}=\\S`, 'm').test(text)
}

/** Ignored, and not tracked all the same. */
async function isIgnored({ world }: Task, root: string, path: string): Promise<boolean> {
  const git = createGit(world.environment)
  // names, and no patterns: this one of git's commands takes them as such anyway
  const asked = ['--no-literal-pathspecs', 'check-ignore', '--quiet', '--', path]
  const ignored = await git.ask(root, SAFE, asked)
  return ignored.code === 0
}

const BY_SCRIPT =
  /--env-file(?:-if-exists)?[= ]\.env(?=\s|$)|(?:-r|--require|--import)[= ]dotenv\/config|\b(?:dotenv|env-cmd)\s/
const LOADED = /['"]dotenv\/config['"]|dotenv['"]\)\s*\.config\(|\bdotenv\.config\(|\bloadEnvFile\(/

/** Before the middleware is made, as far as the files tell: an import comes before all code. */
export async function readsEnv(
  project: Project,
  application: Application,
  folder: string,
): Promise<boolean> {
  if (application.framework === 'next') return true
  const manifest = await readManifest(project, under(folder, 'package.json'))
  if (BY_SCRIPT.test(manifest?.scripts.get('start') ?? '')) return true
  const mount = await project.read((application.mount ?? application.entry)?.path ?? '')
  if (mount !== null && isLoadedBefore(mount, /\benforce\d*\(/)) return true
  const entry = await project.read(application.entry?.path ?? '')
  return entry !== null && entry !== mount && isLoadedBefore(entry, /['"]\.{1,2}\//)
}

function isLoadedBefore(text: string, what: RegExp): boolean {
  const loaded = LOADED.exec(text)
  if (loaded === null) return false
  const other = what.exec(text)
  return other === null || loaded.index < other.index
}
