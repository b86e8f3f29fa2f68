/** *.csproj: what a project of .NET is, and which packages it names. */
import type { Project } from '../../project/project.ts'
import { folderOf, isAside, under, upwards } from '../folders.ts'
import { managedBy, type Part, type Parts } from '../reader/part.ts'
import { byName } from './dependencies.ts'
import { childrenAt, readXml, textAt, type XmlElement } from './xml.ts'

const LANGUAGES: Readonly<Record<string, string>> = { cs: 'csharp', fs: 'fsharp', vb: 'vb' }

interface Manifest {
  readonly path: string
  readonly root: XmlElement
}

export async function readMsbuildProjects(project: Project): Promise<Parts<Part>> {
  const parts: Part[] = []
  for (const { path } of project.files) {
    if (!/\.(?:cs|fs|vb)proj$/.test(path) || isAside(path)) continue
    const own = await manifestAt(project, path)
    if (own === null) continue
    // those of every folder around it count for it as well
    const around = upwards(folderOf(path)).flatMap((folder) =>
      ['Directory.Build.props', 'Directory.Packages.props'].map((name) => under(folder, name)),
    )
    const shared = await Promise.all(around.map((path) => manifestAt(project, path)))
    parts.push(partOf(own, [own, ...shared.filter((one) => one !== null)]))
  }
  const several = 'It is one of several projects.'
  const workspace = ({ packageManager }: Part) =>
    packageManager && { ...packageManager, value: packageManager.at?.path ?? '', detail: several }
  return {
    parts: parts.length > 1 ? parts.map((one) => ({ ...one, workspace: workspace(one) })) : parts,
    remarks: [],
  }
}

async function manifestAt(project: Project, path: string): Promise<Manifest | null> {
  const text = await project.read(path)
  const root = text === null ? null : readXml(text)
  return root && { path, root }
}

function partOf({ path, root }: Manifest, manifests: readonly Manifest[]): Part {
  const property = (name: string) =>
    manifests.map(({ root }) => textAt(root, 'PropertyGroup', name)).find((one) => one !== null)
  const packages = manifests.flatMap(({ path, root }) =>
    childrenAt(root, 'ItemGroup', 'PackageReference').map((element) => ({
      name: element.attributes['Include'] ?? '',
      version: element.attributes['Version'] ?? textAt(element, 'Version'),
      isDev: false,
      at: { path, line: element.line },
    })),
  )
  const sdk = root.attributes['Sdk'] ?? childrenAt(root, 'Sdk')[0]?.attributes['Name'] ?? ''
  const reference = childrenAt(root, 'ItemGroup', 'FrameworkReference').find(
    ({ attributes }) => attributes['Include'] === 'Microsoft.AspNetCore.App',
  )
  const output = property('OutputType') ?? ''
  // a library may use the same framework; it takes a program to serve with it
  const isWeb =
    (/^Microsoft\.NET\.Sdk\.Web(?:\/|$)/.test(sdk) && !/^Library$/i.test(output)) ||
    (reference !== undefined && /^(?:Exe|WinExe)$/i.test(output))
  const isTest =
    packages.some(({ name }) => name === 'Microsoft.NET.Test.Sdk') ||
    property('IsTestProject') === 'true'
  const web = {
    name: 'Microsoft.NET.Sdk.Web',
    version: property('TargetFramework') ?? property('TargetFrameworks')?.split(';')[0] ?? null,
    isDev: false,
    at: { path, line: reference?.line ?? root.line },
  }
  const [, kind = ''] = /\.(\w\w)proj$/.exec(path) ?? []
  return {
    folder: folderOf(path),
    language: {
      value: LANGUAGES[kind] ?? kind,
      at: { path, line: 1 },
      confidence: 'sure',
      detail: 'Its project file says so.',
    },
    dependencies: byName([web, ...packages]),
    packageManager: managedBy('dotnet', path),
    isLibrary: !isWeb || isTest,
  }
}
