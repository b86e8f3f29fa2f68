/** Keys of Ed25519 that are made here and never leave this machine. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as v from 'valibot'

/** As it lies in a file. */
export const StoredKeySchema = v.object({
  /** PKCS #8, DER in base64url. */
  private_key: v.pipe(v.string(), v.regex(/^[\w-]{32,200}$/)),
  made_at: v.pipe(v.string(), v.isoTimestamp()),
})
export type StoredKey = v.InferOutput<typeof StoredKeySchema>

export function makeKey(nowMs: number): StoredKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  return { private_key: der.toString('base64url'), made_at: new Date(nowMs).toISOString() }
}

/** Throws for what is no such key. */
export function openKey({ private_key: text }: Pick<StoredKey, 'private_key'>): KeyObject {
  const der = Buffer.from(text, 'base64url')
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('no key of Ed25519')
  return key
}

/** 32 bytes in base64url, as it is told to others. */
export const publicKeyOf = (key: StoredKey): string =>
  createPublicKey(openKey(key)).export({ format: 'jwk' }).x ?? ''
