import { and, asc, count, eq, inArray, notInArray, sql } from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteBy, findBy, upsertInto } from '../statements.ts'

export type CertificateRow = typeof schema.tenantCertificates.$inferSelect

const table = schema.tenantCertificates

export async function certificatesOfAll(queries: Queries, tenantIds: readonly string[]) {
  return await queries
    .select()
    .from(table)
    .where(inArray(table.tenantId, [...tenantIds]))
    .orderBy(asc(table.hostname))
}

/** All there are. */
export async function countCertificates(queries: Queries): Promise<number> {
  const [row] = await queries.select({ count: count() }).from(table)
  return row?.count ?? 0
}

/** When the next one ends; undefined: there is none. */
export async function firstCertificateEnd(queries: Queries): Promise<number | undefined> {
  const [row] = await queries
    .select({ notAfter: table.notAfter })
    .from(table)
    .orderBy(asc(table.notAfter))
    .limit(1)
  return row?.notAfter
}

/** Hostnames that somebody has brought a certificate for. */
export async function uploadedCertificatesOf(queries: Queries, tenantIds: readonly string[]) {
  const rows = await queries
    .select({ hostname: table.hostname })
    .from(table)
    .where(and(inArray(table.tenantId, [...tenantIds]), eq(table.isOrdered, false)))
  return rows.map(({ hostname }) => hostname)
}

export async function certificateBytesOf(queries: Queries, tenantId: string): Promise<number> {
  const [row] = await queries
    .select({ bytes: sql<number>`coalesce(sum(length(${table.certificatePem})), 0)` })
    .from(table)
    .where(eq(table.tenantId, tenantId))
  return Number(row?.bytes ?? 0)
}

export const upsertCertificate = upsertInto(
  table,
  ['hostname'],
  'tenantId',
  'certificatePem',
  'privateKeySealed',
  'notAfter',
  'updatedAt',
  'isOrdered',
)

export const findCertificate = findBy(table, 'hostname')

export const deleteUploadedCertificate = deleteBy(table, 'tenantId', 'hostname', 'isOrdered')

/** The certificate of a hostname goes with the hostname. */
export async function keepCertificatesOf(
  queries: Queries,
  tenantId: string,
  hostnames: readonly string[],
): Promise<void> {
  const isGone = hostnames.length === 0 ? undefined : notInArray(table.hostname, [...hostnames])
  await queries.delete(table).where(and(eq(table.tenantId, tenantId), isGone))
}
