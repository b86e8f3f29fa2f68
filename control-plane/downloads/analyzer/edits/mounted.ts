/** What mounting comes to in one file: the edit, or the step that is shown for it. */
import { JAVASCRIPT } from '../../../../shared/integration/snippets/javascript.ts'
import type { Application, FrameworkName, Place } from '../detection/application.ts'
import { NO_PARTS, shown, together, type Parts } from '../plan.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'
import { guardCall, serviceLines } from './guard-call.ts'
import { importCode } from './import-line.ts'
import { mountInSource } from './mount-source.ts'
import { mountedFramework, type MountedFramework } from './mounted-frameworks.ts'
import type { NodePackage } from './node-sources.ts'
import type { Style } from './style.ts'
import { guardOf, type Wishes } from './wishes.ts'
import { wrapListeners } from './wrap-listener.ts'

export interface Planned {
  readonly project: Project
  readonly application: Application
  readonly wishes: Wishes
  readonly pack: NodePackage
}

/** `framework`: what takes the middleware by one line; undefined: servers, whose listeners it is put around. */
export function mountedIn(
  at: Planned,
  source: Source,
  framework: MountedFramework | undefined,
  lineSaid = 1,
): Parts {
  const { mode, baseUrl, tenantId } = at.wishes
  const { type } = at.pack
  const { path, modules, text: before } = source
  const isModule = /\.m[jt]s$/.test(path) || (type === 'module' && !/\.c[jt]s$/.test(path))
  const service = { baseUrl, tenantId }
  const wish = { mode, service, packageType: type, hasTopLevelAwait: isModule && modules === 'esm' }
  const mounting = framework
    ? mountInSource(source, { ...wish, framework })
    : wrapListeners(source, wish, lineSaid)
  if (mounting.kind === 'there already') return NO_PARTS
  const steps = mounting.shown.map(({ line, receiver, problem }) =>
    shownStep(at, { path, line: line ?? lineSaid }, problem, receiver, modules),
  )
  // an edit of what stands beside it would look like the one that is meant
  const isOther = mounting.shown.some(({ line }) => line === lineSaid)
  if (mounting.kind === 'manual' || isOther) return together(...steps)
  const why = 'Runs the sign-in protection before everything else in the application.'
  return { ...together(...steps), edits: [{ path, before, after: mounting.after, why }] }
}

export function shownStep(
  { application, wishes }: Planned,
  place: Place | null,
  problem: string,
  receiver = 'app',
  modules: Source['modules'] = application.modules ?? 'esm',
): Parts {
  const text = `Mount the middleware before everything else, right after the application is created. Not done automatically because ${problem}.`
  const code = snippetFor(application.framework, wishes, receiver, modules)
  return shown(place?.path ?? application.folder, place?.line ?? null, text, code)
}

export const STYLE: Style = {
  quote: "'",
  semicolon: '',
  lineBreak: '\n',
  step: '  ',
  space: ' ',
  constant: 'const',
}

/** The lines that a person puts in by hand: those of the contract, with the names of their file. */
export function snippetFor(
  name: FrameworkName,
  wishes: Wishes,
  receiver: string,
  modules: Source['modules'],
): string {
  const guard = guardOf(wishes)
  const framework = mountedFramework(name)
  if (framework === undefined) {
    const snippet = name === 'next' ? JAVASCRIPT.next : JAVASCRIPT.node
    const { code } = guard === 'enforce' ? snippet.sdk : snippet.edge
    return code.replace(`${guard}()`, guardCall(STYLE, guard, wishes))
  }
  const { method, remark } = framework
  return [
    importCode(modules, STYLE, { guard, local: guard }),
    '',
    ...serviceLines(STYLE, { guard, service: 'service' }, wishes),
    `${receiver}.${method}(service.${framework.name}()) // ${remark}`,
  ].join('\n')
}
