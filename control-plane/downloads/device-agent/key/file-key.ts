/** A key in the state folder, where this machine has no TPM that works: whoever is root can copy it. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import * as v from 'valibot'
import type { OpenKey } from './open-key.ts'

export const FileKeySchema = v.object({ storage: v.literal('file'), pem: v.string() })
type FileKey = v.InferOutput<typeof FileKeySchema>

export function makeFileKey(): FileKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { storage: 'file', pem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })) }
}

/** Throws where it is no key. */
export function openFileKey({ pem }: FileKey): OpenKey {
  const key = createPrivateKey(pem)
  const { crv, x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  if (crv !== 'P-256') throw new Error('another curve')
  return {
    storage: 'file',
    publicKey: { kty: 'EC', crv: 'P-256', x, y },
    sign: async (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }),
  }
}
