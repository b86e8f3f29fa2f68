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
  /** What all that is sealed now begins with. */
  readonly prefix: string
  /** For secrets that are only ever compared or looked up: the same under every master key. */
  hash(secret: string): string
  /** 32 bytes that are only for this purpose, the same after every start. */
  deriveKey(purpose: string): Buffer
  /** That one, and behind it those under which something may be about that others have given. */
  deriveKeys(purpose: string): readonly [Buffer, ...Buffer[]]
}

interface OtherKeys {
  /** Of a master key that is being replaced: opened, but never sealed with. */
  readonly others?: readonly Buffer[]
  /** Of the database, if it is not the master key's own. */
  readonly lookupKey?: Buffer
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createVault(masterKey: Buffer, { others = [], lookupKey }: OtherKeys = {}): Vault {
  if (masterKey.length < 32) throw new Error('the master key must have at least 32 bytes')
  const hashKey = lookupKey ?? lookupKeyOf(masterKey)
  const key = derive(masterKey, 'seal')
  const prefix = prefixOf(masterKey)
  const opening = new Map([masterKey, ...others].map((one) => [prefixOf(one), derive(one, 'seal')]))

  return {
    prefix,
    seal(plain, purpose) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final()])
      return prefix + Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url')
    },
    open(sealed, purpose) {
      const [, sealedPrefix, body] = /^(v1\.[\w-]{8}\.)([\w-]+)$/.exec(sealed) ?? []
      if (sealedPrefix === undefined || body === undefined)
        throw new Error(`not a sealed value (${purpose})`)
      const sealedKey = opening.get(sealedPrefix)
      if (sealedKey === undefined)
        throw new Error(
          `${purpose} was sealed under another master key (${sealedPrefix} and not ${prefix})`,
        )
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', sealedKey, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(purpose))
        .setAuthTag(bytes.subarray(-TAG_BYTES))
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
      return Buffer.concat([opened, decipher.final()]).toString('utf8')
    },
    hash: (secret) => createHash('sha256').update(hashKey).update(secret).digest('base64url'),
    deriveKey: (purpose) => derive(masterKey, `key/${purpose}`),
    deriveKeys: (purpose) => [
      derive(masterKey, `key/${purpose}`),
      ...others.map((other) => derive(other, `key/${purpose}`)),
    ],
  }
}

/** What a value begins with that this master key has sealed. */
export function prefixOf(masterKey: Buffer): string {
  const keyId = createHash('sha256').update(derive(masterKey, 'seal')).digest('base64url')
  return `v1.${keyId.slice(0, 8)}.`
}

/** What a database looks secrets up by whose first master key this is. */
export const lookupKeyOf = (masterKey: Buffer) => derive(masterKey, 'hash')

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
