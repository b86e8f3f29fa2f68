/** What is right of one published application, as a person read it in its code. */
import type { FrameworkName } from '../../../control-plane/downloads/analyzer/detection/application.ts'
import type { Stranger } from '../strangers.ts'

export interface Expected extends Stranger {
  /** null: it serves no web pages, and nothing should be found. */
  readonly framework: FrameworkName | null
  /** Where the application is made: `server.js:12`. */
  readonly mount: string | null
  /** Any of these is what a start runs. */
  readonly entries: readonly string[]
  /** Where it listens unless it is told otherwise. */
  readonly port: number | null
  /** null: it has no path that is meant for it. */
  readonly health: string | null
}
