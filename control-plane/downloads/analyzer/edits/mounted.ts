/** What mounting has come to in one file: the edit, or the step that is shown for it. */
import type { Application, Place } from '../detection/application.ts'
import type { FileEdit, ManualStep } from '../plan.ts'
import type { Source } from '../syntax/parse.ts'
import type { Mounting, MountWish } from './mount-source.ts'
import type { MountedFramework } from './mounted-frameworks.ts'
import type { NodePackage } from './node-sources.ts'
import { snippetFor } from './node-snippets.ts'
import type { Wishes } from './wishes.ts'

/** What is done to the code itself. */
export interface Mounted {
  readonly edits: readonly FileEdit[]
  readonly manual: readonly ManualStep[]
}

export function wishOf(
  source: Source,
  framework: MountedFramework,
  { mode }: Wishes,
  { type }: NodePackage,
): MountWish {
  const isModule =
    /\.m[jt]s$/.test(source.path) || (type === 'module' && !/\.c[jt]s$/.test(source.path))
  return {
    framework,
    mode,
    packageType: type,
    hasTopLevelAwait: isModule && source.modules === 'esm',
  }
}

export function mountedFrom(
  application: Application,
  wishes: Wishes,
  source: Source,
  mounting: Mounting,
  lineSaid = 1,
): Mounted {
  if (mounting.kind === 'there already') return { edits: [], manual: [] }
  const manual = mounting.shown.map(({ line, receiver, problem }) =>
    shownStep(
      application,
      wishes,
      { path: source.path, line: line ?? lineSaid },
      problem,
      receiver,
      source.modules,
    ),
  )
  if (mounting.kind === 'manual') return { edits: [], manual }
  const why = 'Every request passes the sign-in protection before anything else of the application.'
  return { edits: [{ path: source.path, before: source.text, after: mounting.after, why }], manual }
}

export function shownStep(
  application: Application,
  wishes: Wishes,
  place: Place | null,
  problem: string,
  receiver = 'app',
  modules: Source['modules'] = application.modules ?? 'esm',
): ManualStep {
  const text = `Put the middleware in front of everything else, right behind the place where the application is made. It was not done for you: ${problem}.`
  const code = snippetFor(application.framework, wishes, receiver, modules)
  return { path: place?.path ?? application.folder, line: place?.line ?? null, text, code }
}
