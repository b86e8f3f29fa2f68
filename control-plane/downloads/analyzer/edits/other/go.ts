/** Go: the middleware as a package of its own, and the place where requests enter. */
import { GO } from '../../../../../shared/integration/snippets/go.ts'
import type { Application } from '../../detection/application.ts'
import { under, upwards } from '../../detection/folders.ts'
import { NO_PARTS, shown, together, type Parts } from '../../plan.ts'
import type { Project } from '../../project/project.ts'
import { between, lineOfMatch, newFile, upTo } from './parts.ts'

const PACKAGE = 'serviceclaims'

/** The snippet without its program; what `main` did first is done when the handler is made. */
function goPackage(): string {
  const code = GO['go']?.edge.code ?? ''
  const setUp = between(code, 'func main() {\n', '\n\tpages := ')
  return `${upTo(code, 'func main() {\n')
    .replace(
      '// Run it with: go run main.go\n//\n',
      '// Package serviceclaims lets in what the service has signed.\n//\n',
    )
    .replace('package main', `package ${PACKAGE}`)
    .replace(
      'http.Handler) http.Handler {\n',
      'http.Handler) http.Handler {\n\tsetUp()\n',
    )}func setUp() {\n${setUp.trimEnd()}\n}\n`
}

export async function goParts(project: Project, application: Application): Promise<Parts> {
  const module = await moduleOf(project, application)
  const file = under(module.folder, `${PACKAGE}/${PACKAGE}.go`)
  return together(
    await newFile(project, file, goPackage(), `package ${PACKAGE}`),
    await mountParts(project, application, module.name),
  )
}

/** The nearest go.mod at or above the application. */
async function moduleOf(project: Project, { folder }: Application) {
  for (const at of upwards(folder)) {
    const text = (await project.read(under(at, 'go.mod'))) ?? ''
    const name = /^\s*module\s+"?([^\s"]+)/m.exec(text)?.[1]
    if (name !== undefined) return { folder: at, name }
  }
  return { folder, name: 'your/module' }
}

const SERVES = /\b(?:ListenAndServe(?:TLS)?|Serve(?:TLS)?)\(|http\.Server\s*\{/

async function mountParts(
  project: Project,
  application: Application,
  name: string,
): Promise<Parts> {
  const { mount, entry, variant, folder } = application
  const place = mount ?? entry
  const path = place?.path ?? under(folder, 'main.go')
  const text = await project.read(path)
  if (text?.includes(`${PACKAGE}.ServiceClaims`) === true) return NO_PARTS
  const imported = `import "${name}/${PACKAGE}"\n\n`
  const router =
    /\b(\w+)\s*:?=\s*(?:gin|chi|echo)\.(?:New|Default|NewRouter|NewMux)\(/.exec(text ?? '')?.[1] ??
    'router'
  const placed = text?.split('\n')[(place?.line ?? 0) - 1] ?? ''
  if (variant === 'echo' && /\becho\.New\(/.test(placed)) {
    const call = `${router}.Pre(echo.WrapMiddleware(${PACKAGE}.ServiceClaims))`
    const behind =
      'Put this right after the line that creates the router, before all other middleware:'
    return shown(path, place?.line ?? null, behind, imported + call)
  }
  const line =
    lineOfMatch(text, variant === 'gin' ? /\.Run(?:TLS)?\(|ListenAndServe/ : SERVES) ??
    place?.line ??
    null
  const code =
    variant === 'gin'
      ? `http.ListenAndServe(":8080", ${PACKAGE}.ServiceClaims(${router})) // in the place of ${router}.Run()`
      : `http.ListenAndServe(addr, ${PACKAGE}.ServiceClaims(handler)) // or Handler: of your http.Server`
  const around = 'Wrap the handler of the server in the middleware:'
  return shown(path, line, around, imported + code)
}
