/** *.csproj: what a project of .NET is, and which packages it names. */
import type { Project } from '../../project/project.ts'
import type { Place } from '../application.ts'
import { folderOf, isAside, under, upwards } from '../folders.ts'
import type { Dependency } from '../manifests/dependencies.ts'
import { childrenAt, readXml, textAt, type XmlElement } from '../manifests/xml.ts'

export interface DotnetProject {
  readonly folder: string
  readonly path: string
  readonly language: 'csharp' | 'fsharp' | 'vb'
  /** `net8.0` */
  readonly framework: string | null
  readonly isWeb: boolean
  readonly webAt: Place
  readonly isTest: boolean
  readonly packages: readonly Dependency[]
}

const LANGUAGES = { cs: 'csharp', fs: 'fsharp', vb: 'vb' } as const

export async function readDotnetProjects(project: Project): Promise<DotnetProject[]> {
  const found: DotnetProject[] = []
  for (const { path } of project.files) {
    const [, kind] = /\.(cs|fs|vb)proj$/.exec(path) ?? []
    if (kind === undefined || isAside(path)) continue
    const text = await project.read(path)
    const own = text === null ? null : readXml(text)
    if (own === null) continue
    const shared = await sharedBy(project, folderOf(path))
    found.push(describe(path, own, shared, LANGUAGES[kind as keyof typeof LANGUAGES]))
  }
  return found
}

interface Manifest {
  readonly path: string
  readonly root: XmlElement
}

/** Directory.Build.props of every folder around it counts for it as well. */
async function sharedBy(project: Project, folder: string): Promise<Manifest[]> {
  const found: Manifest[] = []
  for (const around of upwards(folder))
    for (const name of ['Directory.Build.props', 'Directory.Packages.props']) {
      const path = under(around, name)
      const text = await project.read(path)
      const root = text === null ? null : readXml(text)
      if (root !== null) found.push({ path, root })
    }
  return found
}

function describe(
  path: string,
  root: XmlElement,
  shared: readonly Manifest[],
  language: DotnetProject['language'],
): DotnetProject {
  const manifests = [{ path, root }, ...shared]
  const packages = manifests.flatMap(({ path, root }) =>
    childrenAt(root, 'ItemGroup', 'PackageReference').map((element) => ({
      name: element.attributes['Include'] ?? '',
      version: element.attributes['Version'] ?? textAt(element, 'Version'),
      isDev: false,
      at: { path, line: element.line },
    })),
  )
  const property = (name: string) =>
    manifests
      .map(({ root }) => textAt(root, 'PropertyGroup', name))
      .find((text) => text !== null) ?? null
  const sdk = root.attributes['Sdk'] ?? childrenAt(root, 'Sdk')[0]?.attributes['Name'] ?? ''
  const reference = childrenAt(root, 'ItemGroup', 'FrameworkReference').find(
    ({ attributes }) => attributes['Include'] === 'Microsoft.AspNetCore.App',
  )
  const runs = /^(?:Exe|WinExe)$/i.test(property('OutputType') ?? '')
  const isWebSdk = /^Microsoft\.NET\.Sdk\.Web(?:\/|$)/.test(sdk)
  return {
    folder: folderOf(path),
    path,
    language,
    framework: property('TargetFramework') ?? property('TargetFrameworks')?.split(';')[0] ?? null,
    // a library may use the same framework; it takes a program to serve with it
    isWeb:
      (isWebSdk && !/^Library$/i.test(property('OutputType') ?? '')) ||
      (reference !== undefined && runs),
    webAt: { path, line: reference?.line ?? root.line },
    isTest:
      packages.some(({ name }) => name === 'Microsoft.NET.Test.Sdk') ||
      property('IsTestProject') === 'true',
    packages,
  }
}
