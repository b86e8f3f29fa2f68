/** What a command is, and the world that it gets. */
import type { Environment } from '../../command-line/base-url.ts'
import type { Exit } from '../../command-line/exit.ts'
import type { Proxies } from '../../resident/proxies.ts'
import type { Arguments, OptionName } from '../arguments.ts'
import type { TpmWorld } from '../key/tpm-key.ts'
import type { DeviceFolder } from '../state/device-state.ts'

export interface ProgramWorld {
  readonly environment: Environment
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly hostName: string
  readonly arch: string
  readonly platform: string
  /** undefined where the system has no such thing. */
  readonly userId: number | undefined
  /** `/`, but in tests. */
  readonly root: string
  /** Node itself, and this program. */
  readonly nodeFile: string
  readonly programFile: string
  readonly tpm: TpmWorld
  readonly nowMs: () => number
  /** Of the machine, in seconds. */
  readonly upS: () => number
  readonly random: () => number
  /** Called when it is to stop. */
  readonly onStop: (listen: () => void) => void
}

export interface Task {
  readonly given: Arguments
  readonly world: ProgramWorld
  readonly state: DeviceFolder
  readonly proxies: Proxies
  /** On standard output, as it stands. */
  readonly print: (text: string) => void
  /** On standard error. */
  readonly remark: (text: string) => void
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly about?: string
  readonly options: readonly OptionName[]
  /** The one word that may follow the command's name; none: no word may. */
  readonly actions: readonly string[]
  run(task: Task): Promise<Exit>
}
