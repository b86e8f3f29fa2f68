/**
 * The certificate that connectors know this gateway by. It follows from the fleet key, so that every
 * worker has the same one after every start and nothing is written down; connectors are told it by
 * the control plane and believe no other, so nobody reads what stands in it.
 */
import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'

interface OwnCertificate {
  readonly certificatePem: string
  readonly privateKeyPem: string
  /** The certificate in base64url: connectors trust this one and no other. */
  readonly certificate: string
}

/** RFC 8410: what stands before the 32 bytes of a private key of Ed25519. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

export function deriveCertificate(fleetKey: string): OwnCertificate {
  const seed = Buffer.from(hkdfSync('sha256', fleetKey, '', 'certificate for connectors', 32))
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

const INTEGER = 0x02
const BIT_STRING = 0x03
const SEQUENCE = 0x30

/** X.690: a tag, a length, the content. */
function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const { length } = bytes
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), bytes])
}

const sequence = (...content: readonly Buffer[]) => tagged(SEQUENCE, ...content)
const time = (text: string) => tagged(0x18, Buffer.from(text))

const ED25519 = sequence(tagged(0x06, Buffer.from('2b6570', 'hex')))
/** CN=service-gateway */
const NAME = sequence(
  tagged(
    0x31,
    sequence(
      tagged(0x06, Buffer.from('550403', 'hex')),
      tagged(0x0c, Buffer.from('service-gateway')),
    ),
  ),
)

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
