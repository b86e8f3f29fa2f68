/** Certificates that a tenant brings along, or that are ordered for it. What would not work at the edge is refused here. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { deleteAcmeOrder } from '../store/queries/acme-orders.ts'
import {
  certificateBytesOf,
  certificatesOfAll,
  findCertificate,
  upsertCertificate,
  type CertificateRow,
} from '../store/queries/certificates.ts'
import { findTenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'

export interface CertificateFacts {
  readonly hostname: string
  readonly notBefore: string
  readonly notAfter: string
  readonly fingerprintSha256: string
}

export interface OpenCertificate {
  readonly hostname: string
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export type Certificates = ReturnType<typeof createCertificates>

export function createCertificates({ store, vault }: { store: Store; vault: Vault }) {
  return {
    /** What they say; the keys stay sealed. */
    async list(tenantId: string): Promise<CertificateFacts[]> {
      const rows = await certificatesOfAll(store.read, [tenantId])
      return rows.map(({ hostname, certificatePem }) =>
        toFacts(hostname, readCertificate(certificatePem)),
      )
    },

    /** One that somebody has brought along counts before any that we order. */
    async put(tenantId: string, given: OpenCertificate, actor: Actor): Promise<CertificateFacts> {
      return store.change(async (change) => {
        await deleteAcmeOrder(change.queries, given.hostname, tenantId)
        return keep(change, tenantId, given, { isOrdered: false, actor })
      })
    },

    /** In the change that ends its order; undefined: somebody has brought one along meanwhile. */
    async putOrdered(
      change: Change,
      tenantId: string,
      given: OpenCertificate,
    ): Promise<CertificateFacts | undefined> {
      const before = await findCertificate(change.queries, given.hostname)
      if (before !== undefined && !before.isOrdered) return undefined
      return keep(change, tenantId, given, { isOrdered: true, actor: ACME })
    },
  }

  async function keep(
    change: Change,
    tenantId: string,
    given: OpenCertificate,
    { isOrdered, actor }: { isOrdered: boolean; actor: Actor },
  ): Promise<CertificateFacts> {
    const { hostname, certificatePem, privateKeyPem } = given
    const { queries, nowMs } = change
    const tenant = await findTenant(queries, tenantId)
    if (tenant === undefined) throw new Refusal('tenant_not_found')
    if (!tenant.hostnames.includes(hostname)) throw new Refusal('hostname_not_found')
    const leaf = check(given, nowMs)
    await upsertCertificate(queries, {
      hostname,
      tenantId,
      certificatePem,
      privateKeySealed: vault.seal(privateKeyPem, PURPOSES.certificate({ tenantId, hostname })),
      notAfter: leaf.validToDate.getTime(),
      updatedAt: nowMs,
      isOrdered,
    })
    if ((await certificateBytesOf(queries, tenantId)) > LIMITS.certificateBytesPerTenantMax)
      throw new Refusal('certificates_too_large')
    await change.touch(tenantId)
    const facts = toFacts(hostname, leaf)
    const content = { hostname, fingerprint_sha256: facts.fingerprintSha256 }
    const action = isOrdered ? 'certificate.issued' : 'certificate.put'
    await change.audit(actor, { action, tenantId, content })
    return facts
  }
}

/** In the audit trail. */
const ACME: Actor = { name: 'service', requestId: '' }

export function openCertificate(row: CertificateRow, vault: Vault): OpenCertificate {
  const { hostname, tenantId, certificatePem, privateKeySealed } = row
  const privateKeyPem = vault.open(privateKeySealed, PURPOSES.certificate({ tenantId, hostname }))
  return { hostname, certificatePem, privateKeyPem }
}

function check({ hostname, certificatePem, privateKeyPem }: OpenCertificate, nowMs: number) {
  const leaf = readCertificate(certificatePem)
  const key = readKey(privateKeyPem)
  if (!leaf.checkPrivateKey(key))
    throw refuse('private_key_pem', 'The private key does not belong to the certificate.')
  if (leaf.checkHost(hostname, { subject: 'never' }) === undefined)
    throw refuse('certificate_pem', `The certificate does not name ${hostname}.`)
  if (leaf.validToDate.getTime() <= nowMs)
    throw refuse('certificate_pem', 'The certificate has expired.')
  return leaf
}

/** The first one of the file is the server's own; what follows is the chain. */
export function readCertificate(pem: string): X509Certificate {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    const [leaf] = blocks.map((block) => new X509Certificate(block))
    if (leaf !== undefined) return leaf
  } catch {
    // answered below, like a file without any certificate
  }
  throw refuse('certificate_pem', 'This is not a certificate chain in PEM form.')
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem' })
  } catch {
    throw refuse('private_key_pem', 'This is not an unencrypted private key in PEM form.')
  }
}

function toFacts(hostname: string, leaf: X509Certificate): CertificateFacts {
  return {
    hostname,
    notBefore: leaf.validFromDate.toISOString(),
    notAfter: leaf.validToDate.toISOString(),
    fingerprintSha256: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}

const refuse = (field: string, detail: string) => new Refusal('field_invalid', { field }, detail)
