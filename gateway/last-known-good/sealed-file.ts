/**
 * Files that only this gateway can read and nobody can alter unseen: AES-256-GCM under a key that is
 * derived from the fleet key, bound to what the file is and to whom it belongs, so that one tenant's
 * file is worth nothing in another's place. Written beside and renamed, so never half.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'

export type FileKind =
  | 'tenant'
  | 'guard'
  | 'index'
  | 'revoked'
  | 'position'
  | 'settings'
  | 'endings'

export type SealedRead =
  /** `isOld`: under the key before, so it is to be sealed anew. */
  | { readonly kind: 'read'; readonly content: unknown; readonly isOld: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'damaged'; readonly reason: string }

const MAGIC = Buffer.from('SLKG1')
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface FileName {
  readonly path: string
  readonly kind: FileKind
  readonly owner: string
}

export type SealedFiles = ReturnType<typeof createSealedFiles>

/** What is written is under the first key; what the key before it has sealed is read as well. */
export function createSealedFiles(fleetKey: string, previousKey: string | null) {
  let keys = [fleetKey, ...(previousKey === null ? [] : [previousKey])].map(fileKey)

  /** Durable once settled, except for the directory entry: see `syncDirectory`. */
  async function write(path: string, kind: FileKind, owner: string, content: unknown) {
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(seal(keys[0]!, label(kind, owner), JSON.stringify(content)))
      await file.datasync()
    } finally {
      await file.close()
    }
  }

  const old: FileName[] = []

  /** Writes beside and renames into place. */
  async function replace(path: string, kind: FileKind, owner: string, content: unknown) {
    await write(`${path}.tmp`, kind, owner, content)
    await rename(`${path}.tmp`, path)
  }

  function read(path: string, kind: FileKind, owner: string): SealedRead {
    let bytes: Buffer
    try {
      bytes = readFileSync(path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      return code === 'ENOENT' ? { kind: 'missing' } : { kind: 'damaged', reason: code }
    }
    for (const [age, one] of keys.entries()) {
      try {
        const content: unknown = JSON.parse(unseal(one, label(kind, owner), bytes))
        return { kind: 'read', content, isOld: age > 0 }
      } catch {
        continue // under the other key, or under none
      }
    }
    const reason = bytes.length === 0 ? 'the file is empty' : 'the file does not authenticate'
    return { kind: 'damaged', reason }
  }

  return {
    write,
    replace,
    /** Some of it may have to be sealed anew. */
    hasOtherKey: keys.length > 1,
    /** At start, when nothing else runs: a synchronous read is five times faster. */
    read(path: string, kind: FileKind, owner: string) {
      const found = read(path, kind, owner)
      if (found.kind === 'read' && found.isOld) old.push({ path, kind, owner })
      return found
    },
    /** Seals it under the key of now, if the one before has sealed it. */
    async renew({ path, kind, owner }: FileName) {
      const found = read(path, kind, owner)
      if (found.kind === 'read' && found.isOld) await replace(path, kind, owner, found.content)
    },
    /** Read so far, and sealed by the key before. */
    old: () => old,
    /** From now on all is written under this one; what others have sealed is read as before. */
    turnTo(next: string) {
      const key = fileKey(next)
      keys = [key, ...keys.filter((one) => !one.equals(key))]
      return key
    },
    /** Nothing is sealed by any other, unless there is another one meanwhile. */
    forgetOthers(key: Buffer) {
      if (keys[0]?.equals(key)) keys = [key]
    },
  }
}

function fileKey(fleetKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', fleetKey, '', 'gateway last known good', 32))
}

function label(kind: FileKind, owner: string): Buffer {
  return Buffer.from(`${MAGIC.toString()}\n${kind}\n${owner}`)
}

function seal(key: Buffer, label: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(label)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), sealed])
}

function unseal(key: Buffer, label: Buffer, bytes: Buffer): string {
  const nonceAt = MAGIC.length
  const tagAt = nonceAt + NONCE_BYTES
  const sealedAt = tagAt + TAG_BYTES
  if (bytes.length < sealedAt || !bytes.subarray(0, nonceAt).equals(MAGIC))
    throw new Error('not a sealed file')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(nonceAt, tagAt), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(label)
  decipher.setAuthTag(bytes.subarray(tagAt, sealedAt))
  return Buffer.concat([decipher.update(bytes.subarray(sealedAt)), decipher.final()]).toString()
}

/**
 * Makes renames in a directory durable. Callers that come while one sync runs share the next one,
 * so that a burst of tenants costs a few syncs and not one each.
 */
export function createDirectorySync(directory: string): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function sync() {
    const handle = await open(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  function start(): Promise<void> {
    running = sync().finally(() => (running = undefined))
    return running
  }

  return () => {
    if (running === undefined) return start()
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        return start()
      })
    return next
  }
}
