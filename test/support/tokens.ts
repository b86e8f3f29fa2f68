/** Builds session tokens, right and wrong ones, for tests of whoever verifies them. */
import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { anotherKey } from './keys-of-the-run.ts'

export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export function newSigningKey(kid: string, modulusLength = 2048): SigningKey {
  if (modulusLength !== 2048) return { kid, ...generateKeyPairSync('rsa', { modulusLength }) }
  const privateKey = anotherKey()
  return { kid, privateKey, publicKey: createPublicKey(privateKey) }
}

export function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text).toString('base64url')
}

/** A compact JWS over any header and payload; a string is taken as raw JSON. */
export function signRs256(key: SigningKey, header: unknown, payload: unknown): string {
  return signRaw(key, `${encode(header)}.${encode(payload)}`)
}

export function signRaw(key: SigningKey, input: string, hash = 'sha256'): string {
  return `${input}.${sign(hash, Buffer.from(input), key.privateKey).toString('base64url')}`
}

export function signHs256(secret: string | Buffer, header: unknown, payload: unknown): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
