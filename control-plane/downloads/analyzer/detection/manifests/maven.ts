/** One pom.xml. */
import type { Project } from '../../project/project.ts'
import { BOOT, type BuildModule, type Dependency } from './dependencies.ts'
import { childrenAt, readXml, textAt, type XmlElement } from './xml.ts'

export async function mavenModule(_: Project, path: string, text: string): Promise<BuildModule> {
  const pom = readXml(text)
  const dependencies = childrenAt(pom, 'dependencies', 'dependency').map((element) => ({
    name: `${textAt(element, 'groupId') ?? ''}:${textAt(element, 'artifactId') ?? ''}`,
    version: valueOf(pom, textAt(element, 'version')),
    isDev: textAt(element, 'scope') === 'test',
    at: { path, line: element.line },
  }))
  return {
    tool: 'maven',
    path,
    dependencies,
    own: dependencies.map(({ name }) => name.slice(name.indexOf(':') + 1)),
    name: textAt(pom, 'artifactId') ?? '',
    boot: bootOf(pom, path),
  }
}

/** Its parent, the versions that it manages, its plugin, or a library of its own. */
function bootOf(pom: XmlElement | null, path: string): Dependency | null {
  const named = [
    ['parent'],
    ['dependencyManagement', 'dependencies', 'dependency'],
    ['build', 'plugins', 'plugin'],
    ['dependencies', 'dependency'],
  ]
    .flatMap((names) => childrenAt(pom, ...names))
    .filter((element) => textAt(element, 'groupId') === BOOT)
  const [first] = named
  if (first === undefined) return null
  const versions = named.map((element) => valueOf(pom, textAt(element, 'version')))
  const version = versions.find((version) => version !== null) ?? null
  return { name: BOOT, version, isDev: false, at: { path, line: first.line } }
}

/** `${spring-boot.version}` is said under properties. */
function valueOf(pom: XmlElement | null, text: string | null): string | null {
  const [, name] = /^\$\{([\w.-]+)\}$/.exec(text ?? '') ?? []
  return name === undefined ? text : textAt(pom, 'properties', name)
}
