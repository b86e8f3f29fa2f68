/** What a command is, and the world that it gets. */
import type { Arguments, Taking } from '../arguments.ts'
import type { Exit } from '../../command-line/exit.ts'
import type { Proxies } from '../../resident/proxies.ts'
import type { Environment } from '../../command-line/base-url.ts'
import type { StateFolder } from '../state/state-folder.ts'

/** `stop`: SIGTERM, SIGINT and the like; `rotate`: SIGUSR2. */
export type ProgramSignal = 'stop' | 'rotate'

export interface ProgramWorld {
  readonly environment: Environment
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly homeFolder: string
  readonly hostName: string
  /** undefined where the system has no such thing, and guards a home folder by itself. */
  readonly userId: number | undefined
  readonly platform: string
  /** Node itself, and this program. */
  readonly nodeFile: string
  readonly programFile: string
  readonly nowMs: () => number
  /** A clock that nobody sets. */
  readonly upMs: () => number
  readonly random: () => number
  /** Called for each; without a listener a signal ends the program. */
  readonly onSignal: (listen: (signal: ProgramSignal) => void) => void
}

export interface Task {
  readonly given: Arguments
  readonly world: ProgramWorld
  readonly state: StateFolder
  readonly proxies: Proxies
  /** On standard output, as it stands. */
  readonly print: (text: string) => void
  /** On standard error, in lines that fit. */
  readonly remark: (text: string) => void
}

export interface Command extends Taking {
  /** For the list of commands. */
  readonly summary: string
  /** Below its help. */
  readonly about?: string
  run(task: Task): Promise<Exit>
}
