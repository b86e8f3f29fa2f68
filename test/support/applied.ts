/** Plans written into projects and taken back, as the command line tool does both. */
import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sealOf } from './journal-trees.ts'
import { prepare } from '../../control-plane/downloads/analyzer/journal/prepare.ts'
import { undo } from '../../control-plane/downloads/analyzer/journal/undo.ts'
import { journalWorld } from '../../control-plane/downloads/analyzer/journal/world.ts'
import { writeEdits } from '../../control-plane/downloads/analyzer/journal/write.ts'
import type { Plan } from '../../control-plane/downloads/analyzer/plan.ts'

const world = { ...journalWorld({ ...process.env, XDG_STATE_HOME: '' }), seal: sealOf('user') }

export async function writePlan(folder: string, { edits }: Plan, sdkUrl: string): Promise<void> {
  const prepared = await prepare(folder, edits, { sdkUrl }, world)
  if (prepared.kind === 'refused') throw new Error(JSON.stringify(prepared.problems))
  const written = await writeEdits(prepared, world)
  if (written.kind !== 'written') throw new Error(JSON.stringify(written))
}

export async function undoPlan(folder: string): Promise<void> {
  const undone = await undo(folder, world)
  if (undone.kind !== 'undone') throw new Error(JSON.stringify(undone))
}

/** Every file with its mode and bytes, every link and every folder; `leftOut` at the top. */
export function treeOf(folder: string, leftOut: readonly string[] = ['node_modules']): string[] {
  const entries = (at: string): string[] =>
    readdirSync(join(folder, at))
      .sort()
      .filter((name) => at !== '' || !leftOut.includes(name))
      .flatMap((name) => {
        const path = join(at, name)
        const stat = lstatSync(join(folder, path))
        if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(folder, path))}`]
        if (stat.isDirectory()) return [`${path}/`, ...entries(path)]
        const hash = createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex')
        return [`${path} ${stat.mode.toString(8)} ${hash}`]
      })
  return entries('')
}
