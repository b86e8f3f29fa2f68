/** *.csproj: what a project of .NET is, and which packages it names. */
import type { Project } from '../../project/project.ts'
import { clue } from '../assemble.ts'
import { folderOf, under, upwards } from '../folders.ts'
import { joined } from '../node/paths.ts'
import { managedBy, manifestsOf, type Part, type Parts } from '../reader/part.ts'
import { byName } from './dependencies.ts'
import { childrenAt, readXml, textAt, type XmlElement } from './xml.ts'

const LANGUAGES: Readonly<Record<string, string>> = { cs: 'csharp', fs: 'fsharp', vb: 'vb' }

interface Manifest {
  readonly path: string
  readonly root: XmlElement
}

export async function readMsbuildProjects(project: Project): Promise<Parts<Part>> {
  const parts: Part[] = []
  const references = new Map<string, string[]>()
  for await (const { path, folder, text } of manifestsOf(
    project,
    /(?:^|\/)[^/]*\.(?:cs|fs|vb)proj$/,
  )) {
    const root = readXml(text)
    if (root === null) continue
    // those of every folder around it count for it as well
    const around = upwards(folder).flatMap((one) =>
      ['Directory.Build.props', 'Directory.Packages.props'].map((name) => under(one, name)),
    )
    const manifests: Manifest[] = [{ path, root }]
    for (const path of around) {
      const root = readXml((await project.read(path)) ?? '')
      if (root !== null) manifests.push({ path, root })
    }
    const named = childrenAt(root, 'ItemGroup', 'ProjectReference')
    references.set(
      folder,
      named.flatMap(({ attributes }) =>
        folderOf(joined(folder, attributes['Include'] ?? '') ?? ''),
      ),
    )
    parts.push({ folder, ...partOf({ path, root }, manifests) })
  }
  return {
    parts: parts.map((part) => ({ ...part, brings: broughtBy(references, part.folder) })),
    remarks: [],
  }
}

/** Also what those refer to. */
function broughtBy(references: ReadonlyMap<string, readonly string[]>, folder: string): string[] {
  const brought = new Set([folder])
  for (const one of brought) for (const other of references.get(one) ?? []) brought.add(other)
  return [...brought].slice(1)
}

function partOf({ path, root }: Manifest, manifests: readonly Manifest[]): Omit<Part, 'folder'> {
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
    language: clue(LANGUAGES[kind] ?? kind, { path, line: 1 }, 'sure', 'Its project file says so.'),
    dependencies: byName([web, ...packages]),
    packageManager: managedBy('dotnet', path),
    called: path,
    isLibrary: !isWeb || isTest,
  }
}
