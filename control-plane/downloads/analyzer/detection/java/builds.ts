/** What Maven and Gradle say about the modules of a project, without running them. */
import type { Project } from '../../project/project.ts'
import type { Place } from '../application.ts'
import { folderOf, isAside, nameOf, upwards } from '../folders.ts'
import type { Dependency } from '../manifests/dependencies.ts'
import { gradleModule } from './gradle.ts'
import { mavenModule } from './maven.ts'

export interface JavaModule {
  readonly folder: string
  readonly tool: 'maven' | 'gradle'
  readonly path: string
  /** `group:artifact` */
  readonly dependencies: readonly Dependency[]
  /** Other modules of the project that it is built on: their artifact, or their folder. */
  readonly own: readonly string[]
  /** What others call it. */
  readonly name: string
  readonly boot: { readonly version: string | null; readonly at: Place } | null
}

export async function readModules(project: Project): Promise<Map<string, JavaModule>> {
  const modules = new Map<string, JavaModule>()
  for (const { path } of project.files) {
    if (!/^(?:pom\.xml|build\.gradle(?:\.kts)?)$/.test(nameOf(path)) || isAside(path)) continue
    const text = await project.read(path)
    if (text === null || modules.has(folderOf(path))) continue
    const read = path.endsWith('.xml') ? mavenModule : gradleModule
    modules.set(folderOf(path), await read(project, path, text))
  }
  return modules
}

/** The module, what it inherits from folders around it, and those that it is built on. */
export function withBases(
  modules: ReadonlyMap<string, JavaModule>,
  start: JavaModule,
): JavaModule[] {
  const found = new Set<JavaModule>([start])
  for (const module of found) {
    for (const folder of upwards(module.folder)) {
      const around = modules.get(folder)
      if (around !== undefined) found.add(around)
    }
    for (const name of module.own)
      for (const other of modules.values())
        if (other.name === name || other.folder === name || other.folder.endsWith(`/${name}`))
          found.add(other)
  }
  return [...found]
}
