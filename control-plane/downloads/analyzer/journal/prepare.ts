/** Judges all edits, each and together, before anything is written: whole, or every reason why not. */
import { constants } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  changesProblems,
  type EditProblem,
  type EditRules,
} from '../../../../shared/integration/edit-rules.ts'
import { foldedPath, pathProblem } from '../../../../shared/integration/path-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import type { FileEdit } from '../plan.ts'
import { readJournal, type Journal } from './record.ts'
import { look, textIn, type SeenFile } from './sight.ts'
import { codeOf, reasonOf, visible, type FileSystem, type JournalWorld } from './world.ts'
import { judgeWorkTree } from './work-tree.ts'

export interface PreparedFile extends FileEdit {
  /** As it is on the disk. null: it is not there. */
  readonly was: SeenFile | null
  /** `after` as it will be on the disk: with the byte order mark and line ends that were there. */
  readonly bytes: Buffer
}

export interface Prepared {
  readonly kind: 'prepared'
  /** Absolute and without links. */
  readonly root: string
  /** In order of path, without those that change nothing. What a diff shows is what is written. */
  readonly files: readonly PreparedFile[]
  /** To be made, the outermost first. */
  readonly folders: readonly string[]
  /** Of the journal of an earlier apply, all of which is committed: it makes room for this one. */
  readonly earlier: string | null
  readonly remarks: readonly string[]
}

export interface Refused {
  readonly kind: 'refused'
  readonly problems: readonly EditProblem[]
}

export async function prepare(
  givenRoot: string,
  edits: readonly FileEdit[],
  rules: EditRules,
  world: JournalWorld,
): Promise<Prepared | Refused> {
  const { files } = world
  const root = await files.realpath(givenRoot).catch(() => null)
  if (root === null)
    return refuse(`The folder ${visible(givenRoot)} does not exist or cannot be read.`)
  const wanted = edits.filter(({ before, after }) => before !== after)
  if (wanted.length === 0)
    return { kind: 'prepared', root, files: [], folders: [], earlier: null, remarks: [] }

  const found = await readJournal(root, files)
  if (found.kind === 'problem') return refuse(found.detail)
  const earlier = found.kind === 'journal' ? found.journal : null
  if (earlier?.state === 'writing') return refuse(CUT_OFF)

  const problems = changesProblems(wanted, rules)
  const prepared: PreparedFile[] = []
  const folders = new Set<string>()
  for (const edit of wanted.filter(({ path }) => pathProblem(path) === null)) {
    const outcome = await judge(root, edit, files)
    if (typeof outcome === 'string') problems.push({ path: edit.path, detail: outcome })
    else {
      prepared.push(outcome.file)
      for (const folder of outcome.folders) folders.add(folder)
    }
  }
  if (problems.length > 0) return { kind: 'refused', problems }

  const paths = prepared.map(({ path }) => path)
  const changed = prepared.flatMap(({ path, was }) => (was === null ? [] : [path]))
  const written = earlier === null ? [] : await thoseThere(root, earlier, files)
  const asked = [...new Set([...changed, ...written])]
  const tree = await judgeWorkTree(root, paths, asked, world)
  problems.push(...tree.problems)
  if (earlier !== null && !tree.isKept) problems.push({ path: null, detail: STANDS })
  if (problems.length > 0) return { kind: 'refused', problems }
  return {
    kind: 'prepared',
    root,
    files: prepared.sort((left, right) => (left.path < right.path ? -1 : 1)),
    folders: [...folders].sort(),
    earlier: earlier?.token ?? null,
    remarks: tree.remarks,
  }
}

export const refuse = (detail: string): Refused => ({
  kind: 'refused',
  problems: [{ path: null, detail }],
})

const CUT_OFF = 'An earlier apply was interrupted. Run service-analyzer undo to restore every file.'

/** There is one way back at a time: undo's, or git's once all that was written is committed. */
const STANDS =
  'An earlier apply is still in place, and undo only handles one. Commit its changes or run service-analyzer undo first; to keep them without git, delete the folder .service.'

async function thoseThere(root: string, journal: Journal, files: FileSystem): Promise<string[]> {
  const there: string[] = []
  for (const { path } of journal.files) {
    const sight = await look(root, path, 0, files)
    if (sight.kind !== 'absent') there.push(path)
  }
  return there
}

type Judged = { readonly file: PreparedFile; readonly folders: readonly string[] } | string

async function judge(root: string, edit: FileEdit, files: FileSystem): Promise<Judged> {
  const sight = await look(root, edit.path, LIMITS.editedFileBytesMax, files)
  if (sight.kind === 'problem') return sight.detail
  if (sight.kind === 'absent') return judgeNew(root, edit, sight.missing, files)
  if (edit.before === null) return 'should be created, but already exists'
  const text = textIn(sight.bytes)
  if (text === null) return 'is not text in UTF-8'
  if (text !== edit.before) return 'has changed since it was read; run this again'
  const refusal = await notWritable(root, edit.path, files)
  if (refusal !== null) return refusal
  const after = withLineEnds(edit.before, edit.after)
  const bytes = Buffer.from((hasMark(sight.bytes) ? MARK : '') + after)
  if (bytes.length > LIMITS.editedFileBytesMax)
    return `would be larger than ${LIMITS.editedFileBytesMax} bytes`
  return { file: { ...edit, after, was: sight, bytes }, folders: [] }
}

async function judgeNew(
  root: string,
  edit: FileEdit,
  folders: readonly string[],
  files: FileSystem,
): Promise<Judged> {
  if (edit.before !== null) return 'no longer exists; run this again'
  const outermost = folders[0] ?? edit.path
  const parent = join(root, dirname(outermost))
  const other = await sameName(parent, basename(outermost), files)
  if (other !== null)
    return `differs from the existing ${visible(other)} only in upper and lower case`
  try {
    await files.access(parent, constants.W_OK | constants.X_OK)
  } catch (error) {
    return `cannot be created: ${reasonOf(error)}`
  }
  return { file: { ...edit, was: null, bytes: Buffer.from(edit.after) }, folders }
}

/** On macOS and Windows it would be the same file; a project is to be the same everywhere. */
async function sameName(parent: string, name: string, files: FileSystem): Promise<string | null> {
  try {
    for await (const entry of await files.opendir(parent))
      if (foldedPath(entry.name) === foldedPath(name)) return entry.name
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error // said by the next question
  }
  return null
}

async function notWritable(root: string, path: string, files: FileSystem): Promise<string | null> {
  try {
    await files.access(join(root, path), constants.W_OK)
    await files.access(join(root, dirname(path)), constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    return `cannot be written: ${reasonOf(error)}`
  }
}

const MARK = '\ufeff'
const hasMark = (bytes: Buffer) => bytes.subarray(0, 3).equals(Buffer.from(MARK))

/** A file with one kind of line end keeps to it; one with both is as whoever edits it says. */
function withLineEnds(before: string, after: string): string {
  const isCrlf = /\r\n/.test(before)
  const isLf = /(?<!\r)\n/.test(before)
  if (isCrlf === isLf) return after
  const plain = after.replaceAll('\r\n', '\n')
  return isCrlf ? plain.replaceAll('\n', '\r\n') : plain
}
