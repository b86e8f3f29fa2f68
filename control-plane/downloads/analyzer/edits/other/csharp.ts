/** ASP.NET Core: the middleware as a file of its own, and the line behind `builder.Build()`. */
import { CSHARP } from '../../../../../shared/integration/snippets/csharp.ts'
import type { Application } from '../../detection/application.ts'
import { under } from '../../detection/folders.ts'
import { NO_PARTS, shown, together, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { filesEnding, lineOfMatch, newFile, upTo } from './parts.ts'

const CLASS = '/// <summary>Handlers find the user'

/** The class of the snippet without the program around it. */
export function aspnetFile(): string {
  const code = CSHARP['aspnet']?.edge.code ?? ''
  const usings = upTo(code, '\nvar builder =').replace(/^\/\/ Run it with: .*\n\/\/\n/, '')
  return `${usings}\n${code.slice(upTo(code, CLASS).length)}`
}

export async function aspnetParts(project: Project, application: Application): Promise<Parts> {
  const path = under(application.folder, 'ServiceClaims.cs')
  const code = aspnetFile()
  const problem = await reasonAgainst(project, application)
  const file =
    problem === null || project.has(path)
      ? await newFile(project, path, code, 'ServiceClaims')
      : shown(path, null, `Add this file. Not done automatically because ${problem}.`, code)
  return together(file, await mountParts(project, application))
}

async function mountParts(project: Project, application: Application): Promise<Parts> {
  const code = 'app.UseMiddleware<ServiceClaims>();'
  const candidates = [
    application.mount?.path,
    application.entry?.path,
    ...filesEnding(project, application, /(?:^|\/)(?:Program|Startup)\.cs$/),
  ]
  for (const path of new Set(candidates.filter((path) => path !== undefined))) {
    const text = await project.read(path)
    if (text === null) continue
    if (text.includes('UseMiddleware<ServiceClaims>')) return NO_PARTS
    const built = /\b(\w+)\s*=\s*\w+\.Build\(\)/.exec(text)?.[1]
    const line = lineOfMatch(text, /=\s*\w+\.Build\(\)|void\s+Configure\(\s*IApplicationBuilder/)
    if (line === null) continue
    const what = 'Put this right after this line, before redirects, static files and authorization:'
    return shown(path, line, what, built === undefined ? code : code.replace('app', built))
  }
  const what = 'Put this before all other middleware:'
  return shown(under(application.folder, 'Program.cs'), null, what, code)
}

/** It is written for what new projects have switched on. */
async function reasonAgainst(project: Project, application: Application): Promise<string | null> {
  const [path] = filesEnding(project, application, /\.csproj$/)
  const text = path === undefined ? null : await project.read(path)
  if (text === null) return 'no project file was found'
  if (!/<ImplicitUsings>\s*(?:enable|true)/i.test(text))
    return 'ImplicitUsings is not enabled in the project'
  if (!/<Nullable>\s*enable/i.test(text)) return 'Nullable is not enabled in the project'
  if (/<TreatWarningsAsErrors>\s*true/i.test(text)) return 'the project treats warnings as errors'
  return null
}
