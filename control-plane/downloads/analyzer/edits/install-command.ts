/** How the package manager of a project brings in what its package.json names. */
import type { Application } from '../detection/application.ts'
import type { Project } from '../project/project.ts'
import { inFolder } from './node-sources.ts'

const LOCK_FILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
]

/** For a person: to be copied into a shell, in the project's root. */
export function installCommand(project: Project, application: Application): string {
  return installArguments(project, application).map(quoted).join(' ')
}

/** In the project's root: a folder with a lock file of its own is installed by itself. */
export function installArguments(
  project: Project,
  { folder, packageManager }: Application,
): readonly string[] {
  const isOwn = folder !== '' && isInstalledByItself(project, folder)
  switch (packageManager) {
    case 'pnpm':
      return isOwn ? ['pnpm', '--dir', folder, 'install'] : ['pnpm', 'install']
    case 'yarn':
      return isOwn ? ['yarn', '--cwd', folder, 'install'] : ['yarn', 'install']
    case 'bun':
      return isOwn ? ['bun', 'install', '--cwd', folder] : ['bun', 'install']
    default:
      return isOwn ? ['npm', 'install', '--prefix', folder] : ['npm', 'install']
  }
}

function isInstalledByItself(project: Project, folder: string): boolean {
  const has = (at: string) => LOCK_FILES.some((name) => project.has(inFolder(at, name)))
  if (has(folder)) return true
  const above = folder.split('/').slice(0, -1)
  for (let length = above.length; length >= 0; length--)
    if (has(above.slice(0, length).join('/'))) return false
  return !project.has('package.json')
}

const quoted = (folder: string) =>
  /^[\w./@-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`
