/** A home folder or a whole disk is rarely the project that somebody meant: they are asked first. */
import { access, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../command-line/exit.ts'
import { isInside } from '../project/read-text.ts'
import { visibleText } from '../../command-line/words.ts'
import type { Task } from './command.ts'

export async function makeSureOfFolder({ folder, world, terminal, isAgreed }: Task): Promise<void> {
  if (isAgreed || !(await isWide(folder, world.homeFolder))) return
  const found = `${visibleText(folder)} is your home folder or above it, so it holds more than one project.`
  if (terminal.isInteractive && (await terminal.confirm(`${found} Continue?`))) return
  throw new Problem(
    'folder_too_wide',
    found,
    'Choose the folder of one application: service-analyzer analyze FOLDER',
    'To continue anyway, add --yes.',
  )
}

async function isWide(folder: string, home: string): Promise<boolean> {
  try {
    const root = await realpath(folder)
    return isInside(root, await realpath(home)) && !(await isProject(root))
  } catch {
    return false // told where it is opened
  }
}

/** Pipelines have their home in the very folder that they work in. */
const MANIFESTS = [
  'package.json',
  'pyproject.toml',
  'requirements.txt',
  'Gemfile',
  'composer.json',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'go.mod',
]

async function isProject(root: string): Promise<boolean> {
  const found = await Promise.allSettled(MANIFESTS.map((name) => access(join(root, name))))
  return found.some(({ status }) => status === 'fulfilled')
}
