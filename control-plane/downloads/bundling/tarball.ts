/** A `.tgz` in memory, always the same bytes: no owner, no time of making, files in their order. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Header } from 'tar'

const gzipLater = promisify(gzip)
const BLOCK_BYTES = 512
/** What npm writes as well: some tools take a time of 0 for a mistake. */
const MODIFIED = new Date('1985-10-26T08:15:00.000Z')
const MODES = { file: 0o644, program: 0o755 } as const

interface TarFile {
  readonly path: string
  readonly content: string | Buffer
  readonly kind?: keyof typeof MODES
}

export async function tarball(files: readonly TarFile[]): Promise<Buffer> {
  const blocks = files.flatMap(({ path, content, kind = 'file' }) => {
    const bytes = Buffer.from(content)
    return [headerOf(path, bytes.length, MODES[kind]), bytes, paddingFor(bytes.length)]
  })
  const end = Buffer.alloc(2 * BLOCK_BYTES)
  return gzipLater(Buffer.concat([...blocks, end]), { level: 9 })
}

function headerOf(path: string, size: number, mode: number): Buffer {
  const header = new Header({ path, size, mode, mtime: MODIFIED, type: 'File', uid: 0, gid: 0 })
  const block = Buffer.alloc(BLOCK_BYTES)
  const needsMore = header.encode(block, 0)
  if (needsMore) throw new Error(`${path}: too long a path for a plain tar header`)
  return block
}

function paddingFor(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES)
}
