/**
 * Signatures of a message, by the keys of the provider's metadata and no others, whatever it says of
 * keys itself. Whether a key has signed at all is asked first, of a few hundred bytes: no stranger has the
 * rest of a message canonicalized. What comes out are the bytes that were signed; nothing else of the
 * message is worth anything.
 */
import { createHash, verify, type KeyObject } from 'node:crypto'
import { LIMITS } from '../../../shared/limits.ts'
import { ProviderProblem } from '../provider-client.ts'
import { canonical } from './canonical.ts'
import { publicKeyOf } from './certificates.ts'
import { readSigned, type GatedMessage } from './message-gate.ts'
import { gateSignature, gateSignedInfo } from './signature-gate.ts'
import type { XmlElement } from './xml.ts'

/**
 * The canonical bytes of what is signed: of the response where that is, else of its assertion. Where
 * both are, both have to hold.
 */
export function verifiedBytesOf(
  { response, assertion, ofResponse, ofAssertion }: GatedMessage,
  certificates: readonly string[],
): { readonly xml: string; readonly isResponse: boolean } {
  const keys = certificates.map(publicKeyOf)
  const inAssertion = ofAssertion && bytesOf(assertion, ofAssertion, keys)
  const inResponse = ofResponse && bytesOf(response, ofResponse, keys)
  if (inResponse !== undefined) return { xml: inResponse, isResponse: true }
  if (inAssertion !== undefined) return { xml: inAssertion, isResponse: false }
  throw new ProviderProblem('neither the response nor the assertion is signed')
}

function bytesOf(signed: XmlElement, signature: XmlElement, keys: readonly KeyObject[]): string {
  const { info, value } = gateSignature(signature)
  const infoBytes = canonical(info, { charactersMax: LIMITS.samlSignedInfoCharactersMax })
  const { method, hash, digest, inclusive } = gateSignedInfo(readSigned(infoBytes), signed)
  const isByOne = keys
    .filter(({ asymmetricKeyType }) => asymmetricKeyType === method.key)
    .some((key) =>
      // XML Signature writes ECDSA as two numbers (RFC 4051, section 2.3.6); RSA does not ask
      verify(
        method.hash,
        Buffer.from(infoBytes),
        { key, dsaEncoding: 'ieee-p1363' },
        Buffer.from(value, 'base64'),
      ),
    )
  if (!isByOne)
    throw new ProviderProblem('the signature is by no certificate of the provider’s metadata')
  const charactersMax = LIMITS.samlCanonicalCharactersMax
  const bytes = canonical(signed, { charactersMax, without: signature, inclusive })
  if (createHash(hash).update(bytes).digest('base64') !== digest)
    throw new ProviderProblem('the response was changed after it was signed')
  return bytes
}
