/** What a command is, and what it is given. One file each; the table of all is `commands.ts`. */
import type { Access } from '../access.ts'
import type { Arguments, Taking } from '../arguments.ts'
import type { Exit } from '../exit.ts'
import type { ProgramWorld } from '../program-world.ts'
import type { Profile } from '../profile.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface Task {
  readonly given: Arguments
  /** Where the project is: absolute. */
  readonly folder: string
  readonly world: ProgramWorld
  readonly terminal: Terminal
  readonly access: Access
  readonly profile: Profile
  readonly isQuiet: boolean
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
