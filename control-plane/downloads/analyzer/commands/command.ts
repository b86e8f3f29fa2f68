/** What a command is, and what it is given. One file each; the table of all is `commands.ts`. */
import type { Access } from '../access.ts'
import type { Arguments, Taking } from '../arguments.ts'
import type { Exit } from '../../command-line/exit.ts'
import type { Environment } from '../../command-line/base-url.ts'
import type { Profile } from '../profile.ts'
import type { Terminal, TerminalWorld } from '../terminal/terminal.ts'

/** The machine that the program runs on. */
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

export interface Task {
  readonly given: Arguments
  /** Where the project is: absolute. */
  readonly folder: string
  readonly world: ProgramWorld
  readonly terminal: Terminal
  readonly access: Access
  readonly profile: Profile
  /** `--yes`: nobody is asked. */
  readonly isAgreed: boolean
  /** On standard output before the end, for whoever is about to be asked; not with `--json`. */
  show(text: string): void
  warn(text: string): void
  /** Is shown nowhere from now on. */
  hide(secret: string): void
  /** What to run next, as it is typed here: with the same folder, if one was given. */
  line(command: string, ...options: readonly string[]): string
}

export interface NextStep {
  readonly text: string
  readonly command: string
}

export interface Outcome {
  readonly exit: Exit
  /** For people; '' where nothing is left to say. */
  readonly text: string
  /** For programs: stands in the document beside `command`, `exit_code` and `next_step`. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly next: NextStep | null
}

export interface Command extends Taking {
  readonly summary: string
  /** What else has to be known, a paragraph each. */
  readonly help: readonly string[]
  /** The fields of its document, for `help <command>` and the README. */
  readonly documented: Readonly<Record<string, string>>
  run(task: Task): Promise<Outcome>
}
