/**
 * What gateways are told of one tenant goes out whole or not at all (`snapshotBytesMax`). Parts that are
 * each within their bounds may be too much together, and then gateways would stay with what they had,
 * and never hear that a machine's secret was revoked. So whatever makes it larger is refused before;
 * what takes something away never asks. Counted from rows, a little generously: nothing is opened or
 * signed, and a key that follows another one has its place already.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Queries } from '../store/engine.ts'
import { findAccessRules, type AccessRulesRow } from '../store/queries/access.ts'
import { certificatesOfAll } from '../store/queries/certificates.ts'
import { connectorsOf } from '../store/queries/connectors.ts'
import { servicesOf } from '../store/queries/services.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { servicesIn } from './service-rules.ts'

/** Names, addresses, secrets, and as many signing keys as there may be. */
const OTHERS_BYTES = 32 * 1024
/** Of each, what stands beside what is counted: names of fields, brackets, and ids. */
const HOSTNAME_BYTES = 128
const CERTIFICATE_BYTES = 128
/** With two keys. */
const CONNECTOR_BYTES = 768
/** With two secrets, the token that names it aside. */
const SERVICE_BYTES = 512
const SLOT_BYTES = 64
/** Where clauses for machines travel apart, and something stands in their place. */
const RULE_APART_BYTES = 128

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

/** Never less than what is sent. */
export async function publishedBytes(queries: Queries, tenantId: string): Promise<number> {
  const tenant = await findTenant(queries, tenantId)
  if (tenant === undefined) return 0
  const { hostnames, sealed, excluded } = tenant
  const certificates = await certificatesOfAll(queries, [tenantId])
  const connectors = await connectorsOf(queries, tenantId)
  const services = await servicesOf(queries, tenantId)
  return sum([
    OTHERS_BYTES,
    bytesOf([sealed, excluded]),
    // as a name, in its address, and among those that certificates are ordered for
    ...hostnames.map((hostname) => 3 * hostname.length + HOSTNAME_BYTES),
    ...certificates.map(
      ({ hostname, certificatePem, privateKeySealed }) =>
        bytesOf([hostname, certificatePem]) + privateKeySealed.length + CERTIFICATE_BYTES,
    ),
    connectors.length * CONNECTOR_BYTES,
    services.length * (LIMITS.sessionTokenBytesMax + SERVICE_BYTES),
    rulesBytes(await findAccessRules(queries, tenantId)),
  ])
}

/** Of the rules alone, as they are sent. */
export function rulesBytes(row: AccessRulesRow | undefined): number {
  if (row === undefined) return 0
  const { content, slots } = row
  const apart = content.rules.filter((rule) => servicesIn([rule]).size > 0)
  const told = slots.filter(({ freeFrom }) => freeFrom === null)
  return (
    bytesOf(content) +
    apart.length * RULE_APART_BYTES +
    sum(told.map(({ group }) => bytesOf(group) + SLOT_BYTES))
  )
}

/** In a change that has made it larger, and which then leaves nothing behind. */
export async function requireRoom(queries: Queries, tenantId: string): Promise<void> {
  const bytes = await publishedBytes(queries, tenantId)
  const most = LIMITS.publishedBytesMax
  if (bytes > most) throw new Refusal('tenant_too_large', { bytes, bytes_max: most })
}
