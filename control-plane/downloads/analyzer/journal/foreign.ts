/**
 * Judges what a journal would do that this user's tool did not write. An edit that passed the rules
 * led from the copies to what is there; so the way back is held to the same rules, and brings no
 * install script, no other package and no file that no edit may touch.
 */
import { changesProblems, type EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { copyPath } from './record.ts'
import type { Step } from './restore.ts'
import { look, textIn, type Sight } from './sight.ts'
import type { FileSystem } from './world.ts'

export async function foreignProblems(
  root: string,
  steps: readonly Step[],
  files: FileSystem,
): Promise<EditProblem[]> {
  const problems: EditProblem[] = []
  const bytesMax = LIMITS.editedFileBytesMax
  for (const { index, file, kind } of steps) {
    const { path } = file
    if (kind === 'none') continue
    const now = textOf(await look(root, path, 2 * bytesMax, files))
    const copy =
      kind === 'remove' ? null : textOf(await look(root, copyPath(index), bytesMax, files))
    const isPackageJson = /(?:^|\/)package\.json$/i.test(path)
    if (kind === 'restore' && copy === null)
      problems.push({ path, detail: 'would be restored to something that is not text' })
    else if (now === null && isPackageJson)
      problems.push({ path, detail: 'was deleted, so its install scripts cannot be checked' })
    else if (now !== null) {
      const edit = { path, before: copy, after: now }
      problems.push(...changesProblems([edit], { sdkUrl: sdkUrlIn(now) }))
    }
  }
  return problems
}

const textOf = (sight: Sight) => (sight.kind === 'file' ? textIn(sight.bytes) : null)

/** It would go: whichever it is, that takes nothing in. */
function sdkUrlIn(manifest: string): string | null {
  return /"service-node"\s*:\s*"(https?:[^"]+)"/.exec(manifest)?.[1] ?? null
}
