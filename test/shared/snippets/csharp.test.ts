/** Debian has no .NET; where somebody has installed it, the snippet is run like the others. */
// long: builds and starts servers in .NET
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CSHARP } from '../../../shared/integration/snippets/csharp.ts'
import { keepsItsPromises } from './promises.ts'

function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** What `dotnet new web` makes, for whichever .NET is here. */
function projectOf(program: string): string {
  const [version = ''] = execFileSync(program, ['--version']).toString().split('.')
  return `<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net${version}.0</TargetFramework>
    <Nullable>enable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
</Project>
`
}

const dotnet = findProgram('dotnet')

keepsItsPromises(
  CSHARP['aspnet'],
  dotnet === undefined
    ? { missing: '.NET is not installed here, and Debian has none', start: [] }
    : {
        missing: false,
        files: { 'application.csproj': projectOf(dotnet) },
        build: [dotnet, 'build', '--output', 'out', '--nologo'],
        start: [dotnet, 'out/application.dll'],
      },
)
