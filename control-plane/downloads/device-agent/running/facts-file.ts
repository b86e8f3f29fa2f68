/** Facts on their way from the collector, who may look at everything, to the listener, who may not. */
import { constants } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { CollectedSchema, type Collected } from './posture.ts'

const BYTES_MAX = 64 * 1024

/** null: there are none, or they are not from one who may write them. */
export async function readFacts(
  path: string,
  { userId }: { readonly userId: number | undefined },
): Promise<Collected | null> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      const { uid, mode, size } = await handle.stat()
      const isOurs = userId === undefined || ((uid === 0 || uid === userId) && (mode & 0o022) === 0)
      if (!isOurs || size > BYTES_MAX) return null
      return v.parse(CollectedSchema, JSON.parse(await handle.readFile('utf8')))
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}

/** Renamed into place, so that a reader has all of the old ones or all of the new. */
export async function writeFacts(path: string, collected: Collected): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  const draft = `${path}.new`
  const handle = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0),
    0o644,
  )
  try {
    await handle.writeFile(`${JSON.stringify(collected)}\n`)
  } finally {
    await handle.close()
  }
  await rename(draft, path)
}
