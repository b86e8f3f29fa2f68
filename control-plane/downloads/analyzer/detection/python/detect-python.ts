/** Python applications: Django, Flask and FastAPI, in as many parts as a project has manifests. */
import { LIMITS } from '../../../../../shared/limits.ts'
import type { Project } from '../../project/project.ts'
import type { Detection } from '../application.ts'
import type { Clue } from '../assemble.ts'
import { readDeployment } from '../deployment.ts'
import { isAside, nearest, under, upwards } from '../folders.ts'
import { byName } from '../manifests/dependencies.ts'
import { readSources } from '../source/source.ts'
import {
  lockedBy,
  manifestFolder,
  readPythonManifests,
  type PythonManifests,
} from './dependencies.ts'
import { djangoApplications } from './django.ts'
import { microApplications } from './micro.ts'
import type { PythonUnit } from './python-project.ts'

export async function detectPython(project: Project): Promise<Detection> {
  const paths = project.files.map(({ path }) => path).filter((path) => !isAside(path))
  const code = paths.filter((path) => path.endsWith('.py') && !isTest(path))
  if (code.length === 0) return { applications: [], remarks: [] }
  const folders = new Set(paths.flatMap((path) => manifestFolder(path) ?? []))
  const manifests = new Map<string, PythonManifests>()
  for (const folder of folders) manifests.set(folder, await readPythonManifests(project, folder))

  const remarks = [...manifests.values()].flatMap(({ problems }) => problems)
  const looked = code.slice(0, LIMITS.detectionSourcesMax)
  if (looked.length < code.length)
    remarks.push(`Only ${looked.length} of ${code.length} Python files were looked at.`)
  const applications = []
  // what lies in no part of the project lies in the root
  for (const [folder, own] of byFolder(looked, folders)) {
    const unit = await readUnit(project, folder, own, manifests)
    applications.push(...djangoApplications(unit), ...microApplications(unit))
  }
  return { applications, remarks }
}

function byFolder(paths: readonly string[], folders: ReadonlySet<string>) {
  const parts = new Map<string, string[]>()
  for (const path of paths) {
    const folder = nearest(folders, path) ?? ''
    parts.set(folder, [...(parts.get(folder) ?? []), path])
  }
  return parts
}

const isTest = (path: string) =>
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests|conftest|setup|noxfile)\.py$/.test(path)

async function readUnit(
  project: Project,
  folder: string,
  paths: readonly string[],
  manifests: ReadonlyMap<string, PythonManifests>,
): Promise<PythonUnit> {
  const own = manifests.get(folder)
  // what a whole repository needs is needed by its parts
  const around = upwards(folder).flatMap((folder) => manifests.get(folder) ?? [])
  const manager = own?.packageManager ?? null
  const locked = upwards(folder)
    .map((folder) => lockedBy(project, folder))
    .find((lock) => lock !== null)
  return {
    folder,
    dependencies: byName(around.flatMap(({ dependencies }) => [...dependencies.values()])),
    packageManager: managed(locked ?? manager, around.length > 0),
    isPackaged: own?.isPackaged ?? false,
    scripts: [...(own?.scripts ?? []), (await project.read(under(folder, '.flaskenv'))) ?? ''],
    deployment: await readDeployment(project, folder),
    sources: await readSources(project, paths, 'python'),
  }
}

function managed(
  manager: PythonManifests['packageManager'],
  hasManifest: boolean,
): Clue<string> | null {
  if (manager !== null) {
    const at = { path: manager.path, line: 1 }
    return {
      value: manager.name,
      at,
      confidence: 'sure',
      detail: `${manager.path} is written by it.`,
    }
  }
  if (!hasManifest) return null
  return {
    value: 'pip',
    at: null,
    confidence: 'likely',
    detail: 'No lock of another one is there.',
  }
}
