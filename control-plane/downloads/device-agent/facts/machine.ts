/** What probes see of a machine: nothing but reading, each within a deadline. */

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  /** Whose rights it runs with, where that is not our own. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly home: string }
}

/** `missing`: there is no such program. `failed`: it could not be run, or wrote more than we read. */
export type CommandResult =
  | { readonly kind: 'ended'; readonly code: number; readonly text: string }
  | { readonly kind: 'missing' | 'failed' | 'timed_out' }

/** All of it rejects nothing: what is not there, or not ours to read, is null. */
export interface Machine {
  readonly platform: string
  bytes(path: string): Promise<Uint8Array | null>
  /** Names in a folder. */
  names(path: string): Promise<readonly string[] | null>
  /** Where a path leads, through all links. */
  resolved(path: string): Promise<string | null>
  /** When it was last written, by the machine's own clock; `nowMs` is the same clock. */
  writtenMs(path: string): Promise<number | null>
  nowMs(): number
  run(command: Command): Promise<CommandResult>
}

/** What an earlier round found out and what still holds, by the name of its probe; kept by the caller. */
export type Earlier = Map<string, string>

export async function textOf(machine: Machine, path: string): Promise<string | null> {
  const bytes = await machine.bytes(path)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}
