/** Debian has no .NET; where somebody has installed it, the snippet is run like the others. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CSHARP } from '../../../../control-plane/api/contract/snippets/csharp.ts'
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
const PROJECT = `<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
    <Nullable>enable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
  </PropertyGroup>
</Project>
`

const dotnet = findProgram('dotnet')

keepsItsPromises(CSHARP['aspnet'], {
  missing: dotnet === undefined && '.NET is not installed here, and Debian has none',
  files: { 'application.csproj': PROJECT },
  build: [dotnet ?? '', 'build', '--output', 'out', '--nologo'],
  start: [dotnet ?? '', 'out/application.dll'],
})
