/** Puts files back as the journal says they were: judged all together first, then step by step. */
import { dirname, join } from 'node:path'
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import {
  clearJournal,
  copyPath,
  hashOf,
  removeFile,
  removeFolderIfEmpty,
  ROOM,
  syncFolder,
  temporaryPath,
  writeNew,
  type Journal,
  type JournalFile,
} from './record.ts'
import { isFree, look } from './sight.ts'
import { codeOf, type FileSystem } from './world.ts'

interface Restoring {
  readonly steps: readonly Step[]
  /** Changed by somebody since. */
  readonly changed: readonly EditProblem[]
  /** Nothing can be done about them here, whatever a person confirms. */
  readonly problems: readonly EditProblem[]
}

export interface Step {
  readonly index: number
  readonly file: JournalFile
  readonly kind: 'none' | 'remove' | 'restore'
  /** What is there is somebody's work: it is kept under another name. */
  readonly isKept: boolean
}

/** Twice the limit: a file may have grown in a person's hands since. */
const READ_MAX = 2 * LIMITS.editedFileBytesMax

/** Ours by their token, and nobody's work. One may be a second name of a file that was put in place. */
export async function removeTemporaries(root: string, journal: Journal, files: FileSystem) {
  for (const [index, { path }] of journal.files.entries()) {
    const temporary = temporaryPath(journal, path, index)
    const sight = await look(root, temporary, READ_MAX, files, 2)
    if (sight.kind === 'file') await removeFile(join(root, temporary), files)
  }
}

export async function judgeRestoring(
  root: string,
  journal: Journal,
  files: FileSystem,
): Promise<Restoring> {
  const steps: Step[] = []
  const changed: EditProblem[] = []
  const problems: EditProblem[] = []
  for (const [index, file] of journal.files.entries()) {
    const { path, before, after } = file
    const sight = await look(root, path, READ_MAX, files)
    if (sight.kind === 'problem') {
      problems.push({ path, detail: sight.detail })
      steps.push({ index, file, kind: 'none', isKept: false })
      continue
    }
    const hash = sight.kind === 'file' ? hashOf(sight.bytes) : null
    const isBefore = hash === (before?.sha256 ?? null)
    const isKept = hash !== null && hash !== after.sha256
    const kind = isBefore ? 'none' : before === null ? 'remove' : 'restore'
    steps.push({ index, file, kind, isKept })
    if (!isBefore && hash !== after.sha256)
      changed.push({ path, detail: hash === null ? 'has been deleted since' : 'has changed since' })
    const copy = kind === 'restore' ? await copyProblem(root, index, file, files) : null
    if (copy !== null) problems.push({ path, detail: copy })
  }
  return { steps, changed, problems }
}

async function copyProblem(
  root: string,
  index: number,
  { before }: JournalFile,
  files: FileSystem,
) {
  const copy = await look(root, copyPath(index), LIMITS.editedFileBytesMax, files)
  return copy.kind === 'file' && hashOf(copy.bytes) === before?.sha256
    ? null
    : `cannot be restored: its backup ${copyPath(index)} has changed`
}

export interface Restored {
  readonly restored: readonly string[]
  readonly removed: readonly string[]
  /** Where the work of a person is kept that undo was told to pass over. */
  readonly kept: readonly string[]
}

/**
 * A copy is moved into place: that needs no room on a full disk, and there is no moment without
 * the file. The journal goes last, so that whatever is cut off can be done again.
 */
export async function restoreAll(
  root: string,
  journal: Journal,
  steps: readonly Step[],
  files: FileSystem,
): Promise<Restored> {
  const outcome = { restored: [] as string[], removed: [] as string[], kept: [] as string[] }
  for (const step of steps) {
    const { file, kind, isKept } = step
    const { path } = file
    const at = join(root, path)
    if (kind === 'none') continue
    if (isKept) outcome.kept.push(await keep(root, path, files))
    if (kind === 'restore') await takeMode(root, step, files)
    if (kind === 'remove') await removeFile(at, files)
    else await moveCopy(root, journal, step, files)
    await syncFolder(dirname(at), files)
    outcome[kind === 'remove' ? 'removed' : 'restored'].push(path)
  }
  for (const folder of journal.folders.toReversed())
    // really there, and behind no link
    if (await isFree(root, `${folder}/${ROOM}-nothing`, files))
      await removeFolderIfEmpty(join(root, folder), files)
  await clearJournal(root, files)
  return outcome
}

/** As the journal has it, which allows no setuid, whatever the copy was given since. */
async function takeMode(root: string, { index, file }: Step, files: FileSystem) {
  const handle = await files.open(join(root, copyPath(index)), 'r')
  try {
    const { mode } = await handle.stat()
    if (file.before !== null && (mode & 0o7777) !== file.before.mode)
      await handle.chmod(file.before.mode)
  } finally {
    await handle.close()
  }
}

/** Where a folder of the project is another file system, by a copy of the copy. */
async function moveCopy(root: string, journal: Journal, { index, file }: Step, files: FileSystem) {
  const copy = join(root, copyPath(index))
  const at = join(root, file.path)
  try {
    await files.rename(copy, at)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    const sight = await look(root, copyPath(index), LIMITS.editedFileBytesMax, files)
    if (sight.kind !== 'file') throw error
    const temporary = join(root, temporaryPath(journal, file.path, index))
    await writeNew(temporary, sight.bytes, sight.mode, files, sight)
    await files.rename(temporary, at)
  }
}

async function keep(root: string, path: string, files: FileSystem): Promise<string> {
  for (let number = 1; ; number++) {
    const other = `${path}.kept${number === 1 ? '' : `-${number}`}`
    const sight = await look(root, other, 0, files)
    if (sight.kind !== 'absent') continue
    await files.rename(join(root, path), join(root, other))
    return other
  }
}
