/** How the package manager of a project brings in what its package.json names. */
import type { Application } from '../detection/application.ts'
import { under, upwards } from '../detection/folders.ts'
import { LOCKS } from '../detection/node/packages.ts'
import { quoted } from '../profile.ts'
import type { Project } from '../project/project.ts'

/** For a person: to be copied into a shell, in the project's root. */
export function installCommand(project: Project, application: Application): string {
  return installArguments(project, application).map(quoted).join(' ')
}

/** In the project's root: a package with a lock file of its own is installed by itself. */
export function installArguments(
  project: Project,
  { folder: at, packageManager }: Application,
): readonly string[] {
  // an application may lie below the package.json that names what it needs
  const folder = upwards(at).find((above) => project.has(under(above, 'package.json'))) ?? at
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
  const has = (at: string) => LOCKS.some(([name]) => project.has(under(at, name)))
  if (has(folder)) return true
  const [, ...above] = upwards(folder)
  return !above.some(has) && !project.has('package.json')
}
