/**
 * One certificate for several hostnames: a wildcard is ordered once, for one of them or for the
 * operator, and all others that it names are given it. So it is renewed once, too.
 */
import { isReserved, CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import { acmeOrdersFor, findAcmeOrder, type AcmeOrder } from '../store/queries/acme-orders.ts'
import { findCertificate, type CertificateRow } from '../store/queries/certificates.ts'
import { readCertificate } from '../tenants/certificates.ts'
import { isWildcard, parentOf } from './ways.ts'

interface Covering {
  readonly source: AcmeOrder
  readonly certificate: CertificateRow
}

const lifeOf = ({ certificatePem }: CertificateRow) => {
  const leaf = readCertificate(certificatePem)
  return { startMs: leaf.validFromDate.getTime(), endMs: leaf.validToDate.getTime() }
}

/** One that is newer than its own, and good for a while; undefined: there is none. */
export async function findCovering(
  queries: Queries,
  row: AcmeOrder,
  nowMs: number,
): Promise<Covering | undefined> {
  const { hostname, tenantId } = row
  if (isWildcard(hostname)) return undefined
  const own = await findCertificate(queries, hostname)
  const ownStartMs = own === undefined ? 0 : lifeOf(own).startMs
  for (const source of await sourcesOf(queries, row)) {
    const certificate = await findCertificate(queries, source.hostname)
    if (certificate?.isOrdered !== true || certificate.tenantId !== source.tenantId) continue
    if (certificate.tenantId !== tenantId && !isReserved(certificate.tenantId)) continue
    const leaf = readCertificate(certificate.certificatePem)
    const { startMs, endMs } = lifeOf(certificate)
    const isGood = startMs > ownStartMs && endMs - nowMs > (endMs - startMs) / 3
    if (isGood && leaf.checkHost(hostname, { subject: 'never' }) !== undefined)
      return { source, certificate }
  }
  return undefined
}

async function sourcesOf(queries: Queries, row: AcmeOrder): Promise<readonly AcmeOrder[]> {
  const wildcard = `*.${parentOf(row.hostname)}`
  const ofOperator = await findAcmeOrder(queries, wildcard)
  const siblings = await acmeOrdersFor(queries, row, wildcard)
  const own = ofOperator?.tenantId === CONSOLE_REALM ? [ofOperator] : []
  return [...own, ...siblings.filter(({ follows }) => follows === null)]
}

/** An order for the same that has been begun, or that failed and waits: another one would only be refused, too. */
export async function findAhead(
  queries: Queries,
  row: AcmeOrder,
  identifier: string,
  nowMs: number,
) {
  if (!isWildcard(identifier)) return undefined
  const others = await acmeOrdersFor(queries, row, identifier)
  return others.find(({ step, failures, dueAt }) => {
    if (step === 'waiting') return failures > 0 && dueAt > nowMs
    return step !== 'issued'
  })
}
