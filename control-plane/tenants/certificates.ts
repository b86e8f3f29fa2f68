/** Certificates that a tenant brings along, or that are ordered for it. What would not work at the edge is refused here. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import {
  acmeOrdersOf,
  advanceAcmeOrder,
  deleteAcmeOrder,
  findAcmeOrder,
  type AcmeOrder,
} from '../store/queries/acme-orders.ts'
import {
  certificateBytesOf,
  certificatesOfAll,
  deleteUploadedCertificate,
  findCertificate,
  upsertCertificate,
  type CertificateRow,
} from '../store/queries/certificates.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { CONSOLE_REALM, isReserved } from '../store/reserved.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { found } from './alter.ts'
import { requireRoom } from './published-size.ts'

interface CertificateFacts {
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

/** How a hostname stands with its certificate. */
export interface HostnameCertificate {
  readonly hostname: string
  readonly source: 'uploaded' | 'ordered' | 'file' | null
  readonly certificate: CertificateFacts | null
  /** Of one that is ordered for it; null: none is. */
  readonly order: OrderState | null
  /** By which it can be proven in DNS, one of them. */
  readonly dnsRecords: readonly DnsProof[]
}

interface DnsProof {
  readonly name: string
  readonly target: string
  /** The hostname, or a wildcard that names it. */
  readonly covers: string
}

interface OrderState {
  readonly state: 'waiting' | 'in_progress' | 'issued'
  readonly failures: number
  /** What to change, for people. */
  readonly problem: string | null
  /** When it goes on by itself. */
  readonly nextAttemptAt: number
  /** Of which it is one of several; null: its certificate is for the hostname alone. */
  readonly wildcard: string | null
}

export type Certificates = ReturnType<typeof createCertificates>

interface CertificatesWorld {
  readonly store: Store
  readonly vault: Vault
  /** Whether any are ordered. */
  readonly isOrdering?: boolean
  /** None, where nothing is proven by DNS, or not this hostname. `owner`: the number of its tenant. */
  readonly dnsRecords?: (owner: number | 'own', hostname: string) => readonly DnsProof[]
  /** Of the control planes, for which one is ordered. */
  readonly ownNames?: readonly string[]
  /** What is shown for our own name instead of one that is ordered. */
  readonly ownFile?: OwnFile | undefined
}

export interface OwnFile {
  readonly hostname: string
  readonly read: () => string
}

export function createCertificates(world: CertificatesWorld) {
  const { store, vault, isOrdering = false, dnsRecords = () => [], ownNames = [], ownFile } = world

  async function statesOf(tenantId: string, hostnames: readonly string[], owner: number | 'own') {
    const rows = await certificatesOfAll(store.read, [tenantId])
    const byHostname = new Map(rows.map((row) => [row.hostname, row]))
    const orders = isOrdering ? await acmeOrdersOf(store.read, [tenantId]) : []
    const orderOf = new Map(orders.map((row) => [row.hostname, row]))
    return hostnames.map((hostname): HostnameCertificate => {
      const row = byHostname.get(hostname)
      const order = orderOf.get(hostname)
      return {
        hostname,
        source: row === undefined ? null : row.isOrdered ? 'ordered' : 'uploaded',
        certificate:
          row === undefined ? null : toFacts(hostname, readCertificate(row.certificatePem)),
        order: order === undefined ? null : stateOf(order),
        // a draft may have them set before anything is ordered
        dnsRecords: row === undefined || row.isOrdered ? dnsRecords(owner, hostname) : [],
      }
    })
  }

  function stateOfFile({ hostname, read }: OwnFile): HostnameCertificate {
    const state = { hostname, order: null, dnsRecords: [] }
    try {
      return { ...state, source: 'file', certificate: toFacts(hostname, readCertificate(read())) }
    } catch {
      // the log says why (own-certificate.ts); some of the file may stand in the error
      return { ...state, source: 'file', certificate: null }
    }
  }
  return {
    /** Every hostname, with or without. */
    async states(tenantId: string): Promise<HostnameCertificate[]> {
      const tenant = found(await findTenant(store.read, tenantId))
      return statesOf(tenantId, tenant.hostnames, tenant.number)
    },

    /** Our own names: what stands in base_url, if TLS is ours, and wildcards for hostnames of tenants. */
    async own(): Promise<HostnameCertificate[]> {
      const ordered = await statesOf(CONSOLE_REALM, ownNames, 'own')
      return [...(ownFile ? [stateOfFile(ownFile)] : []), ...ordered]
    },

    /** A certificate that was uploaded; where they are ordered, one is from now on. */
    async remove(tenantId: string, hostname: string, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const { queries } = change
        const { hostnames } = found(await findTenant(queries, tenantId))
        const isOurs = hostnames.includes(hostname)
        if (!isOurs || !(await deleteUploadedCertificate(queries, tenantId, hostname, false)))
          throw new Refusal('certificate_not_found')
        await change.touch(tenantId)
        await change.audit(actor, {
          action: 'certificate.removed',
          tenantId,
          content: { hostname },
        })
      })
    },

    /** Now, and not when its pause is over, or the one that is there is old. */
    async order(tenantId: string, hostname: string, actor: Actor): Promise<OrderState> {
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const { hostnames } = isReserved(tenantId)
          ? { hostnames: ownNames }
          : found(await findTenant(queries, tenantId))
        if (!hostnames.includes(hostname)) throw new Refusal('hostname_not_found')
        const row = isOrdering ? await findAcmeOrder(queries, hostname) : undefined
        if (row?.tenantId !== tenantId) throw new Refusal('certificate_not_ordered')
        const isIdle = row.step === 'waiting' || row.step === 'issued'
        const wanted = { step: 'waiting', dueAt: nowMs } as const
        const next = isIdle ? await advanceAcmeOrder(queries, row, wanted) : row
        if (isIdle)
          await change.audit(actor, {
            action: 'certificate.wanted',
            tenantId,
            content: { hostname },
          })
        return stateOf(next ?? row)
      })
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
    // our own names are of no tenant, and ordered for the realm that is our own
    if (!isReserved(tenantId) && !tenant.hostnames.includes(hostname))
      throw new Refusal('hostname_not_found')
    const leaf = check(given, nowMs)
    const before = await findCertificate(queries, hostname)
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
    // one that follows another is about as large, and must not be missing
    if (!isOrdered || before === undefined) await requireRoom(queries, tenantId)
    await change.touch(tenantId)
    const facts = toFacts(hostname, leaf)
    const content = { hostname, fingerprint_sha256: facts.fingerprintSha256 }
    const action = isOrdered ? 'certificate.issued' : 'certificate.put'
    await change.audit(actor, { action, tenantId, content })
    return facts
  }
}

function stateOf({ step, failures, problem, dueAt, identifier }: AcmeOrder): OrderState {
  const state = stateOfStep(step)
  return { state, failures, problem, nextAttemptAt: dueAt, wildcard: identifier }
}

export const stateOfStep = (step: AcmeOrder['step']): OrderState['state'] =>
  step === 'waiting' || step === 'issued' ? step : 'in_progress'

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
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (modulusLength > LIMITS.tlsKeyBitsMax)
    throw refuse(
      'private_key_pem',
      `The key has ${modulusLength} bits; at most ${LIMITS.tlsKeyBitsMax} are taken. A key on the curve P-256 is faster and as strong.`,
    )
  if (!leaf.checkPrivateKey(key))
    throw refuse('private_key_pem', 'The private key does not belong to the certificate.')
  if (leaf.checkHost(hostname, { subject: 'never' }) === undefined)
    throw refuse('certificate_pem', `The certificate does not name ${hostname}.`)
  if (leaf.validToDate.getTime() <= nowMs)
    throw refuse('certificate_pem', 'The certificate has expired.')
  if (!isLoadable(certificatePem, privateKeyPem))
    throw refuse(
      'certificate_pem',
      'TLS can’t use this certificate. A key or signature in its chain is too weak, or of a kind that TLS doesn’t know.',
    )
  return leaf
}

/** As gateways load it; what OpenSSL says of it may hold some of it. */
function isLoadable(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key })
    return true
  } catch {
    return false
  }
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
