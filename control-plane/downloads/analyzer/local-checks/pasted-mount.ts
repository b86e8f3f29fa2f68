/**
 * Applications in other languages: the marks of the code that the contract has to paste, and of the
 * line that mounts it. Found in code, not in comments; a probe through the edge has the last word.
 */
import { type CheckResult, resultsOf } from '../../../../shared/integration/check-result.ts'
import type { FrameworkName } from '../detection/application.ts'
import { blank, type SourceLanguage } from '../detection/source/blank.ts'
import { lineAt } from '../syntax/places.ts'
import { codeFiles } from './code-files.ts'
import type { LookedAt } from './looked-at.ts'
import { notWhole, type Problem } from './pasted-whole.ts'

const { fail, pass, warn } = resultsOf('middleware_mounted')
const PROBE = /X-Service-Probe|HTTP_X_SERVICE_PROBE/i

interface Marks {
  readonly language: SourceLanguage
  readonly extension: RegExp
  /** The line that mounts it. Strings are looked into where `inStrings` says so. */
  readonly mount: RegExp
  readonly inStrings?: true
  /** What must not stand behind it in the same file. */
  readonly behind?: RegExp
  /** Another file that has this, and no mount, goes without. */
  readonly others?: RegExp
  /** The very file that is pasted mounts itself, and no other line does. */
  readonly isMountedByItself?: true
  readonly line: string
}

const PYTHON = { language: 'python', extension: /\.py$/ } as const

const MARKS: Partial<Readonly<Record<FrameworkName, Marks>>> = {
  django: {
    ...PYTHON,
    mount: /^MIDDLEWARE\b[^=\n]*=\s*[[(]\s*(?:#[^\n]*\s*)*['"][\w.]*ServiceClaims['"]/m,
    inStrings: true,
    others: /^MIDDLEWARE\b[^=+\n]*=\s*[[(]/m,
    line: "MIDDLEWARE = ['service_claims.ServiceClaims', …] in settings.py, first of all",
  },
  flask: {
    ...PYTHON,
    mount:
      /@\w+\.before_request\s*\n\s*(?:async )?def sign_in\b|\b\w+\.before_request\(\s*sign_in\s*\)/,
    line: '@app.before_request above def sign_in(), before every other',
  },
  fastapi: {
    ...PYTHON,
    mount: /\.add_middleware\(\s*ServiceClaims\b/,
    behind: /\.add_middleware\(|@\w+\.middleware\(/,
    line: 'app.add_middleware(ServiceClaims), behind every other: the last one is asked first',
  },
  rails: {
    language: 'ruby',
    extension: /\.rb$/,
    mount: /\binsert_before[\s(]+0\s*,\s*ServiceClaims\b/,
    isMountedByItself: true,
    line: 'Rails.application.config.middleware.insert_before 0, ServiceClaims',
  },
  laravel: {
    language: 'php',
    extension: /\.php$/,
    mount:
      /->prepend\([^)]*\bServiceClaims::class|\$middleware\s*=\s*\[\s*\\?[\w\\]*ServiceClaims::class/,
    line: '->withMiddleware(fn ($middleware) => $middleware->prepend(ServiceClaims::class)) in bootstrap/app.php',
  },
  spring: {
    language: 'java',
    extension: /\.(?:java|kt)$/,
    mount: /@Order\(\s*(?:value\s*=\s*)?(?:Ordered\.)?HIGHEST_PRECEDENCE\s*\)/,
    isMountedByItself: true,
    line: '@Component @Order(Ordered.HIGHEST_PRECEDENCE) above the filter',
  },
  aspnet: {
    language: 'csharp',
    extension: /\.cs$/,
    mount: /\.UseMiddleware<\s*ServiceClaims\s*>\(\)/,
    line: 'app.UseMiddleware<ServiceClaims>(), before every other app.Use… and app.Map…',
  },
  go: {
    language: 'go',
    extension: /\.go$/,
    mount: /(?<!func )\bServiceClaims\(|\b(?:Use|WrapMiddleware)\(\s*(?:\w+\.)?ServiceClaims\b/,
    line: 'http.ListenAndServe(address, ServiceClaims(router))',
  },
}

export async function pastedMount(at: LookedAt): Promise<CheckResult> {
  const { application, world } = at
  const marks = MARKS[application.framework]
  const contract = `${world.baseUrl}/api/v1/contract`
  if (marks === undefined)
    return warn('This framework is not supported here.', `See the snippets in ${contract}.`)
  if (world.tenant.mode === 'sdk')
    return fail(
      'Only Node.js applications can use sdk mode.',
      'Ask the operator to change the mode of the tenant to gateway or connector.',
    )
  const { mount: whole } = application
  const placed = whole === null ? '' : ` It belongs in ${whole.path}:${whole.line}.`
  let pasted: string | null = null
  let mounted: { place: string; problem: Problem | null } | null = null
  let without: string | null = null
  for await (const { path, text } of codeFiles(at, marks.extension)) {
    const code = blank(text, marks.language)
    const probe = PROBE.exec(text)
    if (probe !== null) pasted ??= `${path}:${lineAt(text, probe.index)}`
    const isPossible = probe !== null || !marks.isMountedByItself
    const mounts = isPossible ? [...mountsIn(marks.inStrings ? text : code, marks)] : []
    const other = mounts.length > 0 ? null : (marks.others?.exec(code) ?? null)
    if (other !== null) without ??= `${path}:${lineAt(code, other.index)}`
    for (const mount of mounts) {
      if (mounted?.problem === null) break
      mounted = {
        place: `${path}:${lineAt(text, mount.index)}`,
        problem:
          problemOf(application.framework, marks, code, mount) ?? elsewhere(application, path),
      }
    }
  }
  if (pasted === null)
    return fail(
      'Nothing in the code reads X-Service-Probe and X-Service-Claims.',
      `Paste the code for ${application.framework} from ${contract}, or run service-analyzer apply, which shows where it goes.${placed}`,
    )
  if (mounted === null)
    return fail(`${pasted} has the code, but nothing mounts it.${placed}`, marks.line)
  if (mounted.problem !== null)
    return (mounted.problem.isSure ? fail : warn)(
      `${mounted.place} ${mounted.problem.text}`,
      marks.line,
    )
  if (without !== null)
    return warn(
      `${mounted.place} mounts it, but ${without} has its own list without it: started with that one, nothing is protected.`,
      `Check ${without}. If that is the one in use: ${marks.line}`,
    )
  return pass(`${mounted.place} mounts what ${pasted} does.`)
}

const mountsIn = (code: string, { mount }: Marks) =>
  code.matchAll(new RegExp(mount, [...new Set(`${mount.flags}g`)].join('')))

function problemOf(
  framework: FrameworkName,
  { behind }: Marks,
  code: string,
  mount: RegExpExecArray,
): Problem | null {
  const problem = notWhole(framework, { code, index: mount.index, text: mount[0] })
  const end = mount.index + mount[0].length
  const later = behind?.exec(code.slice(end))
  if (problem !== null || !later) return problem
  const line = lineAt(code, end + later.index)
  return { isSure: false, text: `mounts it, but line ${line} comes before it.` }
}

/** These make what they are mounted on in the same file: another file's is another application. */
function elsewhere(
  { framework, mount, confidence }: LookedAt['application'],
  path: string,
): Problem | null {
  if (framework !== 'flask' && framework !== 'fastapi') return null
  if (mount === null || mount.path === path) return null
  const text = `mounts it on another application than the one created in ${mount.path}:${mount.line}, which stays open.`
  return { isSure: confidence !== 'guess', text }
}
