/**
 * The certificates of one tenant, ready for handshakes. What OpenSSL makes of a certificate weighs
 * tens of kilobytes, so it is made when its host is first asked for, and kept over new snapshots
 * for as long as the certificate stays the same.
 */
import { constants } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { TenantSnapshot } from '../../shared/fleet/snapshot.ts'

type SnapshotCertificate = TenantSnapshot['certificates'][number]

/**
 * TLS 1.2 only with forward secrecy and AEAD, which is also all that HTTP/2 allows (RFC 9113
 * section 9.2.2). No renegotiation: it lets a client make us work for nothing.
 */
export const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  honorCipherOrder: true,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  // the same in every context of every worker: what one has issued, another resumes
  sessionIdContext: 'edge',
} as const satisfies SecureContextOptions & { honorCipherOrder: boolean }

export class HostCertificate {
  readonly hostname: string
  readonly #certificatePem: string
  readonly #privateKeyPem: string
  #context: SecureContext | undefined

  constructor(given: SnapshotCertificate) {
    this.hostname = given.hostname
    this.#certificatePem = given.certificate_pem
    this.#privateKeyPem = given.private_key_pem
  }

  /** Throws where OpenSSL does not take the certificate, or its key. */
  get context(): SecureContext {
    this.#context ??= createSecureContext({
      ...TLS_OPTIONS,
      cert: this.#certificatePem,
      key: this.#privateKeyPem,
    })
    return this.#context
  }

  isSame(given: SnapshotCertificate): boolean {
    return (
      this.#certificatePem === given.certificate_pem &&
      this.#privateKeyPem === given.private_key_pem
    )
  }
}

export type HostCertificates = ReadonlyMap<string, HostCertificate>

const NONE: HostCertificates = new Map()

/** `before` is what the tenant had until now. */
export function keepCertificates(
  given: readonly SnapshotCertificate[],
  before: HostCertificates | undefined,
): HostCertificates {
  if (given.length === 0) return NONE
  const certificates = new Map<string, HostCertificate>()
  for (const certificate of given) {
    const kept = before?.get(certificate.hostname)
    const next = kept?.isSame(certificate) === true ? kept : new HostCertificate(certificate)
    certificates.set(certificate.hostname, next)
  }
  return certificates
}

/** For the primary: throws for what no handshake could be made with. */
export function checkCertificate(given: SnapshotCertificate): void {
  try {
    void new HostCertificate(given).context
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`the certificate of ${given.hostname} cannot be loaded: ${code ?? message}`, {
      cause: error,
    })
  }
}
