/** Where the programs are that probes ask: never looked up by a path that others may write to. */
import type { CommandResult, Machine } from '../machine.ts'

const FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

export async function ask(
  machine: Machine,
  name: string,
  args: readonly string[],
): Promise<CommandResult> {
  for (const folder of FOLDERS) {
    const result = await machine.run({ file: `${folder}/${name}`, args })
    if (result.kind !== 'missing') return result
  }
  return { kind: 'missing' }
}
