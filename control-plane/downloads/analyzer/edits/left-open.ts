/**
 * What of a package's programs would answer without the guard: servers, listeners around an application,
 * applications that listen and are not mounted. A plan tells each by a step, and so does the check
 * of what is there: both lean on this, so that neither claims what the other denies.
 */
import type { Application, FrameworkName } from '../detection/application.ts'
import type { Project } from '../project/project.ts'
import type { Source } from '../syntax/parse.ts'

export interface LeftOpen {
  readonly path: string
  readonly line: number
  /** What the lines to paste are to be those of. */
  readonly framework: FrameworkName
  /** What they are to be put on: `app`, `server`. */
  readonly receiver: string
  readonly modules: Source['modules']
  /** What is the matter: the end of a sentence, without its full stop. */
  readonly problem: string
}

/** `edited`: files as they are going to be, by path; all others are taken as they are. */
export async function leftOpen(
  _project: Project,
  _application: Application,
  _edited: ReadonlyMap<string, Source> = new Map(),
): Promise<LeftOpen[]> {
  return []
}
