/**
 * Whom a gateway's key may be shown to. The fleet listener has TLS without any authority: a key of a
 * gateway names its certificate, and the key that a machine shares with its control plane has one that
 * follows from it. So whoever holds a key knows the other end before a byte of it is sent.
 */
import { createHash } from 'node:crypto'
import { certificateFrom, type OwnCertificate } from '../self-signed.ts'

const OWN_KEY = /^gwk_[\w-]+(?:\.([\w-]{43}))?$/
const SHARED = 'certificate of the fleet listener'

/** What a TLS client asks for by name, so that the listener knows which to show. */
const FLEET_NAME = 'key.fleet.invalid'

export interface Trust {
  readonly name: string
  readonly fingerprint: string
}

export const fingerprintOf = (der: Buffer) => createHash('sha256').update(der).digest('base64url')

export const fingerprintOfCertificate = ({ certificate }: Pick<OwnCertificate, 'certificate'>) =>
  fingerprintOf(Buffer.from(certificate, 'base64url'))

/** The certificate of whoever has this key, too, and the name that it is asked for by. */
export function sharedCertificate(fleetKey: string) {
  const own = certificateFrom(fleetKey, SHARED)
  const fingerprint = fingerprintOfCertificate(own)
  const label = createHash('sha256').update(fingerprint).digest('hex').slice(0, 32)
  return { ...own, fingerprint, name: `${label}.fleet.invalid` }
}

/** undefined: a key of a gateway from before, which names none. */
export function trustOf(key: string): Trust | undefined {
  const own = OWN_KEY.exec(key)
  if (own === null) return sharedCertificate(key)
  const [, fingerprint] = own
  return fingerprint === undefined ? undefined : { name: FLEET_NAME, fingerprint }
}
