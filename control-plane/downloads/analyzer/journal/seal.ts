/**
 * Tells the journals that this user's tool wrote from those that came with a repository: a secret
 * in the user's own state folder signs them. Whoever can only write into a project has it not.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import * as files from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

export interface Seal {
  /** null: this machine keeps no secret, and undo asks for consent later. */
  of(text: string): Promise<string | null>
  isOurs(text: string, seal: string | null): Promise<boolean>
}

interface SealSecret {
  read(): Promise<Buffer | null>
  /** The one that is there, or a new one. */
  make(): Promise<Buffer | null>
}

const SECRET_BYTES = 32

export function sealBy(secret: SealSecret): Seal {
  const sealed = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  return {
    async of(text) {
      const key = await secret.make()
      return key && sealed(key, text).toString('hex')
    },
    async isOurs(text, seal) {
      const key = seal === null ? null : await secret.read()
      if (key === null) return false
      const given = Buffer.from(seal ?? '', 'hex')
      const wanted = sealed(key, text)
      return given.length === wanted.length && timingSafeEqual(given, wanted)
    },
  }
}

/** `$XDG_STATE_HOME`, where it is absolute as the specification has it; null: there is no home. */
export function sealSecretOf(
  { XDG_STATE_HOME: configured = '' }: Readonly<Record<string, string | undefined>>,
  homeFolder: string | null,
): SealSecret {
  const home = homeFolder === null ? null : join(homeFolder, '.local', 'state')
  const base = isAbsolute(configured) ? configured : home
  if (base === null) return { read: async () => null, make: async () => null }
  const folder = join(base, 'service-analyzer')
  const at = join(folder, 'seal')
  const read = () => readSecret(at)
  return {
    read,
    async make() {
      const existing = await read()
      if (existing !== null) return existing
      try {
        await files.mkdir(folder, { recursive: true, mode: 0o700 })
        await files.writeFile(at, randomBytes(SECRET_BYTES), { flag: 'wx', mode: 0o600 })
      } catch {
        // another process made one at the same moment, or nothing can be written there
      }
      return read()
    },
  }
}

/** What others can read or could have written is no secret. */
async function readSecret(at: string): Promise<Buffer | null> {
  try {
    const handle = await files.open(at, 'r')
    try {
      const stats = await handle.stat()
      const userId = process.getuid?.()
      const isPrivate = userId === undefined || (stats.uid === userId && (stats.mode & 0o077) === 0)
      if (!stats.isFile() || !isPrivate || stats.size !== SECRET_BYTES) return null
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}
