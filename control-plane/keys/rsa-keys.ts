/** RSA keys for RS256: made here, or brought along and then checked. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'

export interface RsaKey {
  readonly kid: string
  readonly publicJwk: { readonly n: string; readonly e: string }
  readonly privatePem: string
}

const PUBLIC_EXPONENT = 65537n
const generate = promisify(generateKeyPair)

export async function generateRsaKey(): Promise<RsaKey> {
  const { privateKey } = await generate('rsa', { modulusLength: LIMITS.signingKeyBitsMin })
  return describe(privateKey)
}

/** A customer's own key. What is not plainly a sound RSA key is refused with the reason. */
export function importRsaKey(pem: string): RsaKey {
  const key = readPrivateKey(pem)
  const { modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType !== 'rsa') throw refuse('Bring an RSA key: sessions are signed RS256.')
  if (modulusLength < LIMITS.signingKeyBitsMin || modulusLength > LIMITS.signingKeyBitsMax)
    throw refuse(
      `The key has ${modulusLength} bits; from ${LIMITS.signingKeyBitsMin} to ${LIMITS.signingKeyBitsMax} are taken.`,
    )
  if (publicExponent !== PUBLIC_EXPONENT) throw refuse('The public exponent must be 65537.')
  return describe(key)
}

export function publicPem({ n, e }: { readonly n: string; readonly e: string }): string {
  const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' })
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

function readPrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    throw refuse('This is not an unencrypted private key in PEM form.')
  }
}

function describe(key: KeyObject): RsaKey {
  const { n, e } = createPublicKey(key).export({ format: 'jwk' })
  if (n === undefined || e === undefined) throw new Error('an RSA key without modulus')
  return {
    kid: thumbprint(n, e),
    publicJwk: { n, e },
    privatePem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** RFC 7638: the same key has the same name everywhere. */
function thumbprint(n: string, e: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
}

const refuse = (detail: string) =>
  new Refusal('field_invalid', { field: 'private_key_pem' }, detail)
