/** Something to download: made when it is first asked for, once for all who ask. */
import { createHash } from 'node:crypto'

export interface Download {
  readonly bytes: Buffer
  /** Strong, as it stands in an ETag. */
  readonly etag: string
  /** Hexadecimal, for whoever checks what arrived. */
  readonly sha256: string
}

/** What could not be made is tried again for the next one who asks. */
export function madeOnce(make: () => Promise<Buffer>): () => Promise<Download> {
  let made: Promise<Download> | undefined
  return () => {
    made ??= make().then(downloadOf)
    made.catch(() => (made = undefined))
    return made
  }
}

function downloadOf(bytes: Buffer): Download {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { bytes, sha256, etag: `"${sha256.slice(0, 32)}"` }
}
