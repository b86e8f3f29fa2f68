/**
 * Secrets at rest: AES-256-GCM under a key derived from the master key, a nonce per record. What
 * the record is for is authenticated too, so that a sealed value moved to another row or column
 * does not open.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

export interface Vault {
  /** `purpose` names table, column and record: `tenants.client_secret:acme`. */
  seal(plain: string, purpose: string): string
  open(sealed: string, purpose: string): string
  /** For secrets that are only ever compared or looked up. */
  hash(secret: string): string
  /** 32 bytes that are only for this purpose, the same after every start. */
  deriveKey(purpose: string): Buffer
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createVault(masterKey: Buffer): Vault {
  if (masterKey.length < 32) throw new Error('the master key must have at least 32 bytes')
  const key = derive(masterKey, 'seal')
  const hashKey = derive(masterKey, 'hash')
  const keyId = createHash('sha256').update(key).digest('base64url').slice(0, 8)

  return {
    seal(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final()])
      return `v1.${keyId}.${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')}`
    },
    open(sealed, purpose) {
      const [version, id, body] = sealed.split('.')
      if (version !== 'v1' || body === undefined) throw new Error(`not a sealed value (${purpose})`)
      if (id !== keyId)
        throw new Error(`${purpose} was sealed under master key ${id}, this one is ${keyId}`)
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([opened, decipher.final()]).toString('utf8')
    },
    hash: (secret) => createHash('sha256').update(hashKey).update(secret).digest('base64url'),
    deriveKey: (purpose) => derive(masterKey, `key/${purpose}`),
  }
}

/** Constant time for any two strings: compares their hashes, so that lengths do not show either. */
export function isSameSecret(a: string, b: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(a).digest(),
    createHash('sha256').update(b).digest(),
  )
}

function derive(masterKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `service/${purpose}`, 32))
}
