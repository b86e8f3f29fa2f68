/** One pom.xml. */
import type { Project } from '../../project/project.ts'
import { folderOf } from '../folders.ts'
import { childrenAt, readXml, textAt, type XmlElement } from '../manifests/xml.ts'
import type { JavaModule } from './builds.ts'

const BOOT = 'org.springframework.boot'

export async function mavenModule(_: Project, path: string, text: string): Promise<JavaModule> {
  const pom = readXml(text)
  const dependencies = childrenAt(pom, 'dependencies', 'dependency').map((element) => ({
    name: `${textAt(element, 'groupId') ?? ''}:${textAt(element, 'artifactId') ?? ''}`,
    version: valueOf(pom, textAt(element, 'version')),
    isDev: textAt(element, 'scope') === 'test',
    at: { path, line: element.line },
  }))
  return {
    folder: folderOf(path),
    tool: 'maven',
    path,
    dependencies,
    own: dependencies.map(({ name }) => name.slice(name.indexOf(':') + 1)),
    name: textAt(pom, 'artifactId') ?? '',
    boot: bootOf(pom, path),
  }
}

/** Its parent, the versions that it manages, or its plugin. */
function bootOf(pom: XmlElement | null, path: string): JavaModule['boot'] {
  const [parent] = childrenAt(pom, 'parent')
  const managed = childrenAt(pom, 'dependencyManagement', 'dependencies', 'dependency')
  const plugins = childrenAt(pom, 'build', 'plugins', 'plugin')
  const used = childrenAt(pom, 'dependencies', 'dependency')
  const all = [...(parent === undefined ? [] : [parent]), ...managed, ...plugins, ...used]
  const [first] = all.filter((element) => textAt(element, 'groupId') === BOOT)
  if (first === undefined) return null
  const version = all
    .filter((element) => textAt(element, 'groupId') === BOOT)
    .map((element) => valueOf(pom, textAt(element, 'version')))
    .find((version) => version !== null)
  return { version: version ?? null, at: { path, line: first.line } }
}

/** `${spring-boot.version}` is said under properties. */
function valueOf(pom: XmlElement | null, text: string | null): string | null {
  const [, name] = /^\$\{([\w.-]+)\}$/.exec(text ?? '') ?? []
  return name === undefined ? text : textAt(pom, 'properties', name)
}
