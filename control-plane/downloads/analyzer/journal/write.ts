/**
 * Writes what was prepared: the copies and the journal first, then file by file, then the journal
 * says that all is written. Whatever cuts it off in between, `undo` finds its way back from there.
 */
import { dirname, join } from 'node:path'
import type { EditProblem } from '../../../../shared/integration/edit-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { newToken, withLock } from './lock.ts'
import { refuse, type Prepared, type PreparedFile, type Refused } from './prepare.ts'
import {
  clearJournal,
  copyPath,
  hasNoLinks,
  hashOf,
  ORIGINALS,
  readJournal,
  ROOM,
  syncFolder,
  temporaryPath,
  writeJournal,
  writeNew,
  type Journal,
} from './record.ts'
import { judgeRestoring, removeTemporaries, restoreAll } from './restore.ts'
import { isFree, look } from './sight.ts'
import { codeOf, reasonOf, type FileSystem, type JournalWorld } from './world.ts'

type Written =
  | { readonly kind: 'written'; readonly paths: readonly string[] }
  | Refused
  /** Cut off by the machine. If not as it was before, the journal stands, and undo can be tried again. */
  | { readonly kind: 'failed'; readonly problem: EditProblem; readonly isAsBefore: boolean }

export async function writeEdits(prepared: Prepared, world: JournalWorld): Promise<Written> {
  const { root, files } = prepared
  if (files.length === 0) return { kind: 'written', paths: [] }
  const locked = await withLock(root, world, () => writeLocked(prepared, world))
  return locked.kind === 'done' ? locked.result : refuse(locked.detail)
}

/** What was prepared is no longer what is there. */
class Stale extends Error {}

async function writeLocked(prepared: Prepared, world: JournalWorld): Promise<Written> {
  const { root } = prepared
  const { files } = world
  const found = await readJournal(root, files)
  const token = found.kind === 'journal' ? found.journal.token : null
  if (found.kind === 'problem' || token !== prepared.earlier)
    return refuse('Another apply just finished here. Review its changes, then run this again.')
  const journal = newJournal(prepared, world)
  let path: string | null = null
  let begun = 0
  try {
    for (const file of prepared.files) {
      path = file.path
      await assertUnchanged(root, file, files)
    }
    path = ROOM
    await clearJournal(root, files) // of an earlier apply, or of a process that was killed
    await copyOriginals(prepared, files)
    await writeJournal(root, journal, world)
    for (const folder of prepared.folders) {
      path = folder
      await makeFolder(root, folder, files)
    }
    for (const [index, file] of prepared.files.entries()) {
      path = file.path
      begun = index + 1
      await writeFile(root, journal, file, index, files)
    }
    path = ROOM
    await writeJournal(root, { ...journal, state: 'written' }, world)
    return { kind: 'written', paths: prepared.files.map(({ path }) => path) }
  } catch (error) {
    return rollBack(root, journal, { path, error, begun }, files)
  }
}

function newJournal({ files, folders }: Prepared, world: JournalWorld): Journal {
  return {
    version: 1,
    state: 'writing',
    written_at: new Date(world.nowMs()).toISOString(),
    token: newToken(),
    folders: [...folders],
    files: files.map(({ path, was, bytes }) => ({
      path,
      before: was && { sha256: hashOf(was.bytes), mode: was.mode },
      after: { sha256: hashOf(bytes) },
    })),
  }
}

async function assertUnchanged(root: string, { path, was }: PreparedFile, files: FileSystem) {
  const sight = await look(root, path, LIMITS.editedFileBytesMax, files)
  if (sight.kind === 'problem') throw new Stale(sight.detail)
  const isSame =
    sight.kind === 'file' && was !== null
      ? sight.bytes.equals(was.bytes) && sight.mode === was.mode
      : sight.kind === 'absent' && was === null
  if (!isSame) throw new Stale('has changed since it was read; run this again')
}

/** With mode and owner, so that going back is a mere rename. */
async function copyOriginals(prepared: Prepared, files: FileSystem) {
  const at = (path: string) => join(prepared.root, path)
  await files.mkdir(at(ORIGINALS), { mode: 0o700 })
  for (const [index, { was }] of prepared.files.entries())
    if (was !== null) await writeNew(at(copyPath(index)), was.bytes, was.mode, files, was)
  await syncFolder(at(ORIGINALS), files)
}

async function makeFolder(root: string, folder: string, files: FileSystem) {
  if (!(await isFree(root, folder, files)))
    throw new Stale('has been created meanwhile; run this again')
  await files.mkdir(join(root, folder))
  await syncFolder(dirname(join(root, folder)), files)
}

async function writeFile(
  root: string,
  journal: Journal,
  file: PreparedFile,
  index: number,
  files: FileSystem,
) {
  const { path, bytes, was } = file
  const at = join(root, path)
  const beside = temporaryPath(journal, path, index)
  const temporary = join(root, beside)
  if (!(await isFree(root, beside, files)))
    throw new Stale('is in a folder that has changed meanwhile; run this again')
  await writeNew(temporary, bytes, was?.mode ?? null, files, was ?? undefined)
  await assertUnchanged(root, file, files)
  if (was !== null) await files.rename(temporary, at)
  else await putNew(temporary, at, files)
  await syncFolder(dirname(at), files)
}

/** A link replaces nothing that came to be in this very moment, as a rename would. */
async function putNew(temporary: string, at: string, files: FileSystem) {
  try {
    await files.link(temporary, at)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new Stale('has been created meanwhile')
    if (!hasNoLinks(error)) throw error
    return files.rename(temporary, at)
  }
  await files.unlink(temporary)
}

interface CutOff {
  readonly path: string | null
  readonly error: unknown
  /** So many files may have been written. */
  readonly begun: number
}

async function rollBack(
  root: string,
  journal: Journal,
  { path, error, begun }: CutOff,
  files: FileSystem,
): Promise<Written> {
  const isStale = error instanceof Stale
  const detail = isStale ? error.message : `could not be written: ${reasonOf(error)}`
  const problem = { path, detail }
  // what somebody else changed was not written here, and is theirs
  const written = new Set(
    journal.files.slice(0, isStale ? begun - 1 : begun).map(({ path }) => path),
  )
  const isOurs = ({ path }: EditProblem) => path !== null && written.has(path)
  try {
    await removeTemporaries(root, journal, files)
    const { steps, changed, problems } = await judgeRestoring(root, journal, files)
    if ([...changed, ...problems].some(isOurs))
      return { kind: 'failed', problem, isAsBefore: false }
    const ours = steps.map((step) =>
      written.has(step.file.path) ? step : { ...step, kind: 'none' as const },
    )
    await restoreAll(root, journal, ours, files)
  } catch {
    return { kind: 'failed', problem, isAsBefore: false }
  }
  return isStale
    ? { kind: 'refused', problems: [problem] }
    : { kind: 'failed', problem, isAsBefore: true }
}
