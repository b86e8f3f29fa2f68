/**
 * The journal's folder, for one process at a time. A process that was killed leaves its lock
 * behind: on the same machine that is seen, and one of those who see it takes its place.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as v from 'valibot'
import { objectIn } from '../json.ts'
import { hasNoLinks, JOURNAL, removeFile, removeFolderIfEmpty, ROOM, writeNew } from './record.ts'
import { look } from './sight.ts'
import { codeOf, reasonOf, type FileSystem, type JournalWorld } from './world.ts'

const Holder = v.strictObject({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  host: v.string(),
  token: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
})
type Holder = v.InferOutput<typeof Holder>

const LOCK = `${ROOM}/lock`

type Locked<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'refused'; readonly detail: string }

/** The folder is made when it is not there, and gone again when no journal is left in it. */
export async function withLock<T>(
  root: string,
  world: JournalWorld,
  work: () => Promise<T>,
): Promise<Locked<T>> {
  const { files } = world
  try {
    await files.mkdir(join(root, ROOM), { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
    const refusal = await take(root, LOCK, world)
    if (refusal !== null) return { kind: 'refused', detail: refusal }
  } catch (error) {
    const detail = `Cannot write to ${ROOM}: ${reasonOf(error)}. Nothing was changed.`
    return { kind: 'refused', detail }
  }
  try {
    const problem = await hideFromGit(root, files)
    return problem === null
      ? { kind: 'done', result: await work() }
      : { kind: 'refused', detail: problem }
  } finally {
    await release(root, files)
  }
}

/** null: it is ours now. Otherwise the sentence that says why not. */
async function take(root: string, lock: string, world: JournalWorld): Promise<string | null> {
  const { files } = world
  const holder = await holderOf(root, lock, files)
  if (holder === 'nobody') return place(root, lock, world)
  if (typeof holder === 'string') return holder
  if (!isGone(holder, world)) return atWork(holder, world)

  // Of all who see that it is gone one may take its place: a lock of its own decides, which bears
  // the name of the one that is gone. While that lock stands, nobody else touches it.
  const heir = `${LOCK}.heir-${holder.token}`
  const refusal = await take(root, heir, world)
  if (refusal !== null) return refusal
  try {
    const still = await holderOf(root, lock, files)
    if (typeof still === 'string' || still.token !== holder.token) return TAKEN
    await removeFile(join(root, lock), files)
    return await place(root, lock, world)
  } finally {
    await removeFile(join(root, heir), files)
  }
}

async function holderOf(root: string, lock: string, files: FileSystem): Promise<Holder | string> {
  const sight = await look(root, lock, 1000, files, 2) // two while it is placed, or was
  if (sight.kind === 'absent') return 'nobody'
  if (sight.kind === 'problem') return `${lock} ${sight.detail}. Delete ${ROOM} and try again.`
  const { success, output } = v.safeParse(Holder, objectIn(sight.bytes.toString()))
  return success
    ? output
    : `${lock} cannot be read. If no other service-analyzer is running here, delete it.`
}

export const newToken = () => randomBytes(8).toString('hex')

/** A process cannot be under our own number: it was one before, in a container that began anew. */
const isGone = (holder: Holder, { pid, host, isRunning }: JournalWorld) =>
  holder.host === host && (holder.pid === pid || !isRunning(holder.pid))

function atWork({ pid, host }: Holder, world: JournalWorld): string {
  const where = host === world.host ? '' : ` on ${host.replaceAll(/[^\w.-]/g, '?')}`
  return `Another service-analyzer (process ${pid}${where}) is running in this project. Wait for it to finish; if there is none, delete ${LOCK}.`
}

const TAKEN = 'Another service-analyzer just started here. Wait for it to finish, then try again.'

/** With all that is in it at once, where the file system has hard links. */
async function place(root: string, path: string, world: JournalWorld): Promise<string | null> {
  const { pid, host, files } = world
  const mine: Holder = { pid, host, token: newToken() }
  const lock = join(root, path)
  const own = `${lock}.${mine.token}`
  const bytes = Buffer.from(JSON.stringify(mine))
  try {
    await writeNew(own, bytes, 0o600, files)
    await files.link(own, lock).catch((error: unknown) => {
      if (!hasNoLinks(error)) throw error
      return writeNew(lock, bytes, 0o600, files)
    })
    return null
  } catch (error) {
    if (/^(?:EEXIST|ENOENT)$/.test(codeOf(error))) return TAKEN
    throw error
  } finally {
    await removeFile(own, files)
  }
}

const IGNORE_ALL = '*\n'

async function hideFromGit(root: string, files: FileSystem): Promise<string | null> {
  const path = `${ROOM}/.gitignore`
  const sight = await look(root, path, 1000, files)
  if (sight.kind === 'problem') return `${path} ${sight.detail}. Delete ${ROOM} and try again.`
  if (sight.kind === 'file' && sight.bytes.toString() === IGNORE_ALL) return null
  if (sight.kind === 'file' && !isPartOf(sight.bytes))
    return `${path} was not written by this program. Nothing was changed. Rename that file, then try again.`
  try {
    await removeFile(join(root, path), files)
    await writeNew(join(root, path), Buffer.from(IGNORE_ALL), 0o600, files)
    return null
  } catch (error) {
    return `${path} cannot be written: ${reasonOf(error)}. Nothing was changed.`
  }
}

/** The lock goes last but for the folder; what killed processes left of theirs goes with it. */
async function release(root: string, files: FileSystem) {
  const journal = await look(root, JOURNAL, Infinity, files)
  const isEmpty = journal.kind === 'absent'
  for (const name of await files.readdir(join(root, ROOM)))
    if (name.startsWith('lock.')) await removeFile(join(root, ROOM, name), files)
  if (isEmpty && (await isOurs(root, files)))
    await removeFile(join(root, ROOM, '.gitignore'), files)
  await removeFile(join(root, LOCK), files)
  if (isEmpty) await removeFolderIfEmpty(join(root, ROOM), files)
}

async function isOurs(root: string, files: FileSystem): Promise<boolean> {
  const sight = await look(root, `${ROOM}/.gitignore`, 1000, files)
  return sight.kind === 'file' && isPartOf(sight.bytes)
}

/** A process that was killed may have written half of it. */
const isPartOf = (bytes: Buffer) => IGNORE_ALL.startsWith(bytes.toString())
