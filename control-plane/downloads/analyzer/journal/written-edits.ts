/** What the apply that stands here has written: each file as it was, and as it is now. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { FileEdit } from '../plan.ts'
import { copyPath, readJournal } from './record.ts'
import { look, textIn } from './sight.ts'
import type { FileSystem } from './world.ts'

export async function writtenEdits(
  root: string,
  files: FileSystem,
): Promise<readonly Pick<FileEdit, 'path' | 'before' | 'after'>[]> {
  const found = await readJournal(root, files)
  if (found.kind !== 'journal' || found.journal.state !== 'written') return []
  const textAt = async (path: string) => {
    const sight = await look(root, path, LIMITS.editedFileBytesMax, files)
    return sight.kind === 'file' ? textIn(sight.bytes) : null
  }
  const edits = await Promise.all(
    found.journal.files.map(async ({ path, before }, index) => ({
      path,
      before: before === null ? null : await textAt(copyPath(index)),
      after: await textAt(path),
    })),
  )
  return edits.flatMap(({ path, before, after }) =>
    after === null ? [] : [{ path, before, after }],
  )
}
