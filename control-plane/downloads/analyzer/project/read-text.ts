/** The text of one file of a project, or why there is none. */
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'

type ReadText =
  | { readonly text: string; readonly problem: null }
  | { readonly text: null; readonly problem: string }

const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** Windows has neither; there no file is a pipe, and none is opened through a link here. */
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants

/** What the path was when it was listed may be something else by now: it is judged again. */
export async function readText(root: string, path: string, bytesMax: number): Promise<ReadText> {
  const target = await realpath(join(root, path))
  if (!isInside(root, target)) return problem('is a link to outside the project')
  // without O_NONBLOCK the opening of a pipe waits until somebody writes
  const file = await open(target, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    const found = await file.stat()
    if (!found.isFile()) return problem('is not a file')
    const tooLarge = `is larger than ${bytesMax} bytes`
    if (found.size > bytesMax) return problem(tooLarge)
    // one byte more than there should be shows that it is growing
    const buffer = Buffer.alloc(found.size + 1)
    let bytes = 0
    while (bytes < buffer.length) {
      const { bytesRead } = await file.read(buffer, bytes, buffer.length - bytes, bytes)
      if (bytesRead === 0) break
      bytes += bytesRead
    }
    if (bytes > found.size) return problem('is being written to')
    return decoded(buffer.subarray(0, bytes))
  } finally {
    await file.close()
  }
}

function decoded(bytes: Buffer): ReadText {
  const start = bytes.toString('latin1', 0, 2)
  if (start === '\xff\xfe' || start === '\xfe\xff') return problem('is UTF-16, not UTF-8')
  if (bytes.includes(0)) return problem('is not text')
  try {
    return { text: UTF8.decode(bytes), problem: null } // without its byte order mark
  } catch {
    return problem('is not UTF-8')
  }
}

const problem = (problem: string): ReadText => ({ text: null, problem })

export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
