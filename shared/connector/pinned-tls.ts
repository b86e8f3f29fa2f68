/**
 * TLS with a gateway, as connectors and other gateways begin it. Its certificate is known beforehand, and
 * that one counts, byte by byte: no authority, no name and no clock has a say in it. A machine that
 * has just started without a battery believes to be in 1970, and is let in all the same.
 */

/** Whoever uses it asks `isPinned` before it says or believes anything. */
export const PINNED_TLS = {
  minVersion: 'TLSv1.3',
  ca: [] as string[],
  rejectUnauthorized: false,
} as const

/** What a TLS socket has of it. */
interface Certified {
  getPeerX509Certificate(): { readonly raw: Buffer } | undefined
}

/** Whether the other end has shown this certificate, and with it to have its key. */
export function isPinned(socket: Certified, certificate: string): boolean {
  const shown = socket.getPeerX509Certificate()?.raw
  return shown !== undefined && shown.equals(Buffer.from(certificate, 'base64url'))
}
