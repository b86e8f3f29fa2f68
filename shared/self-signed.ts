/**
 * A certificate that follows from a secret: whoever has the secret has the same one after every start,
 * and nothing is written down. Who is to believe it knows it beforehand and believes no other, so
 * nobody reads what stands in it.
 */
import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'
import { BIT_STRING, INTEGER, OBJECT_ID, SET, pem, sequence, tagged } from './der.ts'

export interface OwnCertificate {
  readonly certificatePem: string
  readonly privateKeyPem: string
  /** The certificate in base64url, for whoever is to believe this one and no other. */
  readonly certificate: string
}

/** RFC 8410: what stands before the 32 bytes of a private key of Ed25519. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Connectors know a gateway by the one that follows from its fleet key. */
export const deriveCertificate = (fleetKey: string) =>
  certificateFrom(fleetKey, 'certificate for connectors')

export function certificateFrom(secret: string, purpose: string): OwnCertificate {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const toBeSigned = sequence(
    tagged(0xa0, tagged(INTEGER, Buffer.of(2))), // version 3
    tagged(INTEGER, Buffer.of(1)),
    ED25519,
    NAME,
    sequence(time('20200101000000Z'), time('99991231235959Z')),
    NAME,
    publicKey,
  )
  const signature = tagged(BIT_STRING, Buffer.concat([Buffer.of(0), sign(null, toBeSigned, key)]))
  const der = sequence(toBeSigned, ED25519, signature)
  return {
    certificatePem: pem('CERTIFICATE', der),
    privateKeyPem: String(key.export({ format: 'pem', type: 'pkcs8' })),
    certificate: der.toString('base64url'),
  }
}

const time = (text: string) => tagged(0x18, Buffer.from(text))

const ED25519 = sequence(tagged(OBJECT_ID, Buffer.from('2b6570', 'hex')))
/** CN=service-gateway */
const NAME = sequence(
  tagged(
    SET,
    sequence(
      tagged(OBJECT_ID, Buffer.from('550403', 'hex')),
      tagged(0x0c, Buffer.from('service-gateway')),
    ),
  ),
)
