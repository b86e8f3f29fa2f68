/** What the command line tool is given of the machine that it runs on. */
import type { Environment } from './settings.ts'
import type { TerminalWorld } from './terminal/terminal.ts'

export interface ProgramWorld extends TerminalWorld {
  readonly environment: Environment
  readonly currentFolder: string
  readonly homeFolder: string
  /** undefined: a system that has none. */
  readonly userId: number | undefined
  readonly nodeVersion: string
  /** The file that runs, as it was called. */
  readonly programFile: string
  readonly nowMs: () => number
  /** Nobody can interrupt it half-way. */
  readonly uninterrupted: <T>(work: () => Promise<T>) => Promise<T>
  readonly fetch: typeof fetch
}
