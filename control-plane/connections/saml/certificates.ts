/**
 * The certificates by which a provider signs, as its metadata names them. It is their keys that count,
 * as long as the metadata names them (SAML V2.0 Metadata Interoperability Profile, section 2.6.1); when
 * one ends is said to administrators, and turns nobody away by itself.
 */
import { X509Certificate } from 'node:crypto'
import { LIMITS } from '../../../shared/limits.ts'

export interface SigningCertificate {
  /** Base64 of its DER, as it is kept. */
  readonly der: string
  /** SHA-256, in the way that providers show it. */
  readonly fingerprint: string
  readonly startsAt: number
  readonly endsAt: number
}

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/** Undefined: no certificate, or of a key that is too weak or of a kind that nothing here is signed by. */
export function readCertificate(base64: string): SigningCertificate | undefined {
  const der = base64.replace(/[ \t\r\n]+/g, '')
  if (der.length > LIMITS.samlCertificateCharactersMax || !/^[A-Za-z0-9+/]+={0,2}$/.test(der))
    return undefined
  try {
    const certificate = new X509Certificate(Buffer.from(der, 'base64'))
    const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = certificate.publicKey
    const isUsable =
      type === 'rsa'
        ? (details.modulusLength ?? 0) >= 2048 && (details.modulusLength ?? 0) <= 8192
        : type === 'ec' && CURVES.includes(details.namedCurve ?? '')
    if (!isUsable) return undefined
    return {
      der: certificate.raw.toString('base64'),
      fingerprint: certificate.fingerprint256,
      startsAt: certificate.validFromDate.getTime(),
      endsAt: certificate.validToDate.getTime(),
    }
  } catch {
    return undefined
  }
}

export const publicKeyOf = (der: string) =>
  new X509Certificate(Buffer.from(der, 'base64')).publicKey
