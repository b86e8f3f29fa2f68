/** What a CA is asked to sign, and by what it tells one of its certificates from the others. */
import { createPublicKey, sign, X509Certificate, type KeyObject } from 'node:crypto'
import {
  BIT_STRING,
  INTEGER,
  OBJECT_ID,
  OCTET_STRING,
  partsOf,
  sequence,
  SET,
  tagged,
  type Tagged,
} from '../../shared/der.ts'

const oid = (hex: string) => tagged(OBJECT_ID, Buffer.from(hex, 'hex'))
const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302')
const EXTENSION_REQUEST = oid('2a864886f70d01090e')
const SUBJECT_ALT_NAME = oid('551d11')
const AUTHORITY_KEY_IDENTIFIER = oid('551d23')
const DNS_NAME = 0x82
const CONTEXT_0 = 0xa0
const EXTENSIONS = 0xa3
const KEY_IDENTIFIER = 0x80

/** RFC 2986, for a key of P-256 and one name, which stands in its extension alone. DER. */
export function certificateRequest(hostname: string, key: KeyObject): Buffer {
  const names = sequence(tagged(DNS_NAME, Buffer.from(hostname, 'ascii')))
  const extension = sequence(SUBJECT_ALT_NAME, tagged(OCTET_STRING, names))
  const attribute = sequence(EXTENSION_REQUEST, tagged(SET, sequence(extension)))
  const toBeSigned = sequence(
    tagged(INTEGER, Buffer.of(0)),
    sequence(),
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    tagged(CONTEXT_0, attribute),
  )
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', toBeSigned, key)])
  return sequence(toBeSigned, sequence(ECDSA_WITH_SHA256), tagged(BIT_STRING, signature))
}

/**
 * RFC 9773 section 4.1: the authority's key and the serial number, as they stand in it. undefined:
 * it does not say by which key it was signed, so nobody can ask for it.
 */
export function renewalIdOf(certificatePem: string): string | undefined {
  const [whole] = partsOf(new X509Certificate(certificatePem).raw)
  const [toBeSigned] = partsOf(contentOf(whole))
  const fields = partsOf(contentOf(toBeSigned))
  const serial = fields.find(({ tag }) => tag === INTEGER)
  const [extensions] = partsOf(contentOf(fields.find(({ tag }) => tag === EXTENSIONS)))
  for (const extension of partsOf(contentOf(extensions))) {
    const [name, ...rest] = partsOf(extension.content)
    if (name === undefined || !tagged(name.tag, name.content).equals(AUTHORITY_KEY_IDENTIFIER))
      continue
    const [identifiers] = partsOf(contentOf(rest.at(-1)))
    const key = partsOf(contentOf(identifiers)).find(({ tag }) => tag === KEY_IDENTIFIER)
    if (key === undefined || serial === undefined) return undefined
    return `${key.content.toString('base64url')}.${serial.content.toString('base64url')}`
  }
  return undefined
}

const contentOf = (part: Tagged | undefined) => part?.content ?? Buffer.alloc(0)
