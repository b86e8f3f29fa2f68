/** What answers on a connection: which certificate, and who has issued it. */
import { isIP, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { Fault } from './finding.ts'

interface TlsWish {
  /** Whose certificate it is to be. */
  readonly host: string
  readonly ALPNProtocols?: string[]
  /** The only authorities that count, PEM. */
  readonly ca?: string
}

export interface Spoken {
  readonly socket: TLSSocket
  /** OpenSSL's code; '' for a certificate that this machine trusts, for this name. */
  readonly distrust: string
  /** Of the certificate. */
  readonly issuer: string
  readonly raw: Buffer
  readonly validFrom: string
  readonly validTo: string
}

/** Whatever the certificate is: it is looked at afterwards, and nothing is said before. */
export function speakTls(
  raw: Socket,
  to: string,
  wish: TlsWish,
  signal: AbortSignal,
): Promise<Spoken | Fault> {
  return new Promise((resolve) => {
    const servername = isIP(wish.host) === 0 ? { servername: wish.host } : {}
    const socket = connect({ socket: raw, rejectUnauthorized: false, ...servername, ...wish })
    const fail = (why: string) => {
      socket.destroy()
      resolve({
        cause: 'tls',
        detail: `TLS with ${to} failed: ${why}.`,
        advice:
          'The port is open, but TLS is cut off there: check that it is the right port, and whether a firewall or a proxy inspects TLS; it must let these connections through.',
      })
    }
    const expire = () => fail('no answer in time')
    signal.addEventListener('abort', expire, { once: true })
    socket.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => fail(code))
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', expire)
      socket.removeAllListeners('error')
      socket.on('error', () => socket.destroy())
      const { issuer, raw: der, valid_from: from, valid_to: until } = socket.getPeerCertificate()
      const error = socket.authorizationError as unknown as string | Error | null
      resolve({
        socket,
        distrust: distrustOf(error),
        issuer: [issuer.O, issuer.CN].flat().filter(Boolean).join(', ') || 'nobody named',
        raw: der,
        validFrom: from,
        validTo: until,
      })
    })
  })
}

/** Node tells a code, or an error that has one. */
function distrustOf(error: string | (Error & { code?: string }) | null): string {
  if (error === null || error === undefined) return ''
  return typeof error === 'string' ? error : (error.code ?? error.message)
}

/** It would be trusted at another time. */
export const isOfTime = (distrust: string): boolean => /EXPIRED|NOT_YET_VALID/.test(distrust)

/** Undefined: it is trusted. */
export function distrustFault(spoken: Spoken, to: string, nowMs: number): Fault | undefined {
  const { distrust, issuer, validFrom, validTo } = spoken
  if (distrust === '') return undefined
  if (isOfTime(distrust))
    return {
      cause: 'certificate',
      detail: `The certificate of ${to} is valid from ${validFrom} to ${validTo}; the clock of this machine says ${new Date(nowMs).toUTCString()}.`,
      advice: 'If this clock is wrong, set it. If it is right, the certificate must be renewed.',
    }
  if (distrust.includes('ALTNAME'))
    return {
      cause: 'certificate',
      detail: `What answers at ${to} has a certificate for another name, issued by ${issuer}.`,
      advice: 'Check the address, and whether a login page or another server answers in its place.',
    }
  return {
    cause: 'interception',
    detail: `What answers at ${to} has a certificate issued by ${issuer}, which this machine does not trust (${distrust}).`,
    advice:
      'Something on the way may be opening TLS connections. If that is your own CA: export NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
  }
}
