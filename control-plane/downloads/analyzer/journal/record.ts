/**
 * The journal of one apply, in `.service/` of the project: what was there, what was written, and a
 * copy of each file as it was. A folder that came with a stranger's repository can hold one too,
 * so nothing in it is believed that cannot be checked.
 */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { pathProblem } from '../../../../shared/integration/edit-rules.ts'
import { foldedPath } from '../../../../shared/integration/path-rules.ts'
import { LIMITS } from '../../../../shared/limits.ts'
import { objectIn } from '../json.ts'
import { look, textIn, type SeenFile } from './sight.ts'
import { codeOf, type FileSystem, type JournalWorld } from './world.ts'

export const ROOM = '.service'
export const JOURNAL = `${ROOM}/journal.json`
export const ORIGINALS = `${ROOM}/originals`

const Path = v.pipe(
  v.string(),
  v.check((path) => pathProblem(path) === null),
)
const Hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const Mode = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o777))

export const Journal = v.strictObject({
  version: v.literal(1),
  /** writing: cut off, unless somebody is at it. */
  state: v.picklist(['writing', 'written']),
  written_at: v.pipe(v.string(), v.isoTimestamp()),
  /** Of the names of temporary files. */
  token: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
  /** That were made, the outermost first. */
  folders: v.pipe(v.array(Path), v.maxLength(LIMITS.guideEditsMax * LIMITS.editPathSegmentsMax)),
  files: v.pipe(
    v.array(
      v.strictObject({
        path: Path,
        before: v.nullable(v.strictObject({ sha256: Hash, mode: Mode })),
        after: v.strictObject({ sha256: Hash }),
      }),
    ),
    v.maxLength(LIMITS.guideEditsMax),
  ),
})
export type Journal = v.InferOutput<typeof Journal>
export type JournalFile = Journal['files'][number]

/** As it is on the disk: with what only this user's tool can have written. */
const Sealed = v.strictObject({ ...Journal.entries, seal: v.nullish(Hash, null) })

export type FoundJournal =
  | { readonly kind: 'none' }
  | { readonly kind: 'journal'; readonly journal: Journal; readonly seal: string | null }
  | { readonly kind: 'problem'; readonly detail: string }

export const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export const copyPath = (index: number) => `${ORIGINALS}/${index}`

/** In the same folder as the file, so that a rename puts it in place at once. */
export function temporaryPath(journal: Pick<Journal, 'token'>, path: string, index: number) {
  const name = `${ROOM}-${journal.token}-${index}`
  const folder = dirname(path)
  return folder === '.' ? name : `${folder}/${name}`
}

export async function readJournal(root: string, files: FileSystem): Promise<FoundJournal> {
  const sight = await look(root, JOURNAL, LIMITS.journalBytesMax, files)
  if (sight.kind === 'absent') return { kind: 'none' }
  if (sight.kind === 'problem')
    return { kind: 'problem', detail: `The journal is unusable: ${JOURNAL} ${sight.detail}.` }
  const detail = `The journal ${JOURNAL} is damaged or was changed. Nothing was reverted. Use your version control to revert, then delete ${ROOM} to start over.`
  const { success, output } = v.safeParse(Sealed, objectIn(textIn(sight.bytes)))
  if (!success || !isConsistent(output)) return { kind: 'problem', detail }
  const { seal, ...journal } = output
  return { kind: 'journal', journal, seal }
}

function isConsistent({ files, folders }: Journal): boolean {
  const paths = new Set(files.map(({ path }) => foldedPath(path)))
  const created = files.filter(({ before }) => before === null)
  return (
    paths.size === files.length &&
    folders.every((folder) => created.some(({ path }) => path.startsWith(`${folder}/`)))
  )
}

/** The folder is part of it: the journal of another project does not count here. */
const sealedText = (root: string, journal: Journal) =>
  JSON.stringify([root, v.parse(Journal, journal)])

/** Not somebody else's, whatever it says. */
export function isOurs(
  root: string,
  { journal, seal }: { readonly journal: Journal; readonly seal: string | null },
  world: Pick<JournalWorld, 'seal'>,
): Promise<boolean> {
  return world.seal.isOurs(sealedText(root, journal), seal)
}

/** The whole new journal, or the whole old one. */
export async function writeJournal(
  root: string,
  journal: Journal,
  { files, ...world }: Pick<JournalWorld, 'files' | 'seal'>,
) {
  const seal = await world.seal.of(sealedText(root, journal))
  const text = `${JSON.stringify({ ...journal, seal }, undefined, 2)}\n`
  const next = join(root, `${JOURNAL}.next`)
  await removeFile(next, files)
  await writeNew(next, Buffer.from(text), 0o600, files)
  await files.rename(next, join(root, JOURNAL))
  await syncFolder(join(root, ROOM), files)
}

/** A file that is not there yet, on the disk when this returns. mode: null as the umask has it. */
export async function writeNew(
  at: string,
  bytes: Uint8Array,
  mode: number | null,
  files: FileSystem,
  owner?: Pick<SeenFile, 'uid' | 'gid'>,
) {
  const handle = await files.open(at, 'wx', mode === null ? 0o666 : 0o600)
  try {
    await handle.writeFile(bytes)
    if (owner !== undefined) await takeOwner(handle, owner)
    if (mode !== null) await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

type Handle = Awaited<ReturnType<FileSystem['open']>>

/** Only root can give a file away; who cannot owns the new one, as with any editor. */
async function takeOwner(handle: Handle, { uid, gid }: Pick<SeenFile, 'uid' | 'gid'>) {
  const now = await handle.stat()
  if (now.uid === uid && now.gid === gid) return
  try {
    await handle.chown(uid, gid)
  } catch (error) {
    if (!/^(?:EPERM|EINVAL|ENOSYS|ENOTSUP)$/.test(codeOf(error))) throw error
  }
}

export async function syncFolder(at: string, files: FileSystem) {
  try {
    const handle = await files.open(at, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    // Windows and some network file systems have no such thing
    if (!/^(?:EPERM|EISDIR|EINVAL|ENOTSUP|EBADF|EACCES)$/.test(codeOf(error))) throw error
  }
}

/** exFAT and some network file systems. */
export const hasNoLinks = (error: unknown) =>
  /^(?:EPERM|ENOSYS|ENOTSUP|EOPNOTSUPP|EMLINK|EISDIR)$/.test(codeOf(error))

export async function removeFile(at: string, files: FileSystem) {
  try {
    await files.unlink(at)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

export async function removeFolderIfEmpty(at: string, files: FileSystem) {
  try {
    await files.rmdir(at)
  } catch (error) {
    if (!/^(?:ENOENT|ENOTEMPTY|EEXIST)$/.test(codeOf(error))) throw error
  }
}

/** Takes away what was put there and nothing else; the journal last, as it tells of the rest. */
export async function clearJournal(root: string, files: FileSystem) {
  const at = (path: string) => join(root, path)
  for (let index = 0; index < LIMITS.guideEditsMax; index++)
    await removeFile(at(copyPath(index)), files)
  await removeFolderIfEmpty(at(ORIGINALS), files)
  await removeFile(at(`${JOURNAL}.next`), files)
  await removeFile(at(JOURNAL), files)
  await syncFolder(at(ROOM), files)
}
