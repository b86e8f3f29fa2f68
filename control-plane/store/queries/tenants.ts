import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  lte,
  ne,
  or,
  sql,
  type SQLiteColumn,
} from '../drizzle.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteClaimsOfHostnames } from './hostname-claims.ts'
import { CONSOLE_REALM } from '../reserved.ts'
import { refuseTaken } from './conflicts.ts'
import { nextOf } from './counters.ts'
import { allBy, preparedBy } from '../statements.ts'
import { deleteSomeLeftBehind } from './tenant-removal.ts'

type TenantRow = typeof schema.tenants.$inferSelect

/** What is known of a tenant, without its secrets and its logo: safe and small to hand around. */
export type Tenant = Readonly<Omit<TenantRow, keyof TenantSecrets | 'brandLogo'>> & {
  readonly hostnames: readonly string[]
}
export type TenantSecrets = Pick<TenantRow, keyof typeof secretColumns>
type NewTenantRow = Omit<typeof schema.tenants.$inferInsert, 'number'>
export type TenantChanges = Partial<Omit<NewTenantRow, 'tenantId' | 'createdAt' | 'revision'>>

const {
  clientSecretSealed,
  clientSecretHash,
  previousSecretSealed,
  previousSecretHash,
  previousSecretUntil,
  analyzerKeySealed,
  analyzerKeyHash,
  previousAnalyzerHash,
  previousAnalyzerUntil,
  brandLogo,
  ...openColumns
} = getTableColumns(schema.tenants)
const secretColumns = {
  clientSecretSealed,
  clientSecretHash,
  previousSecretSealed,
  previousSecretHash,
  previousSecretUntil,
  analyzerKeySealed,
  analyzerKeyHash,
  previousAnalyzerHash,
  previousAnalyzerUntil,
}

export async function findTenant(queries: Queries, tenantId: string): Promise<Tenant | undefined> {
  return (await withHostnames(queries, await findOpen(queries, { tenantId })))[0]
}

const isAsked = eq(schema.tenants.tenantId, sql.placeholder('tenantId'))
const findOpen = preparedBy((queries) =>
  queries.select(openColumns).from(schema.tenants).where(isAsked),
)
const findNumber = preparedBy((queries) =>
  queries.select({ number: schema.tenants.number }).from(schema.tenants).where(isAsked),
)
const hostnamesOf = allBy(
  schema.tenantHostnames,
  ['tenantId'],
  asc(schema.tenantHostnames.position),
)

/**
 * Asked in the change that writes for it, by whoever has waited for something before: a tenant may be
 * removed while its people are under way, and what is written then would be of who has its id next.
 */
export async function requireTenant(queries: Queries, tenantId: string): Promise<void> {
  if ((await numberOf(queries, tenantId)) === undefined) throw new Refusal('tenant_not_found')
}

/** Whose id it is by now: whoever has waited for minutes asks whether it is the same one's still. */
export async function numberOf(queries: Queries, tenantId: string): Promise<number | undefined> {
  return (await findNumber(queries, { tenantId }))[0]?.number
}

/** Those that there are, in no particular order. */
export async function findTenants(queries: Queries, tenantIds: readonly string[]) {
  const rows = await queries
    .select(openColumns)
    .from(schema.tenants)
    .where(inArray(schema.tenants.tenantId, [...tenantIds]))
  return withHostnames(queries, rows)
}

/** When each was created, of those that there are. */
export async function tenantsCreatedAt(queries: Queries, tenantIds: readonly string[]) {
  const { tenantId, createdAt } = schema.tenants
  const rows = await queries
    .select({ tenantId, createdAt })
    .from(schema.tenants)
    .where(inArray(tenantId, [...tenantIds]))
  return new Map(rows.map((row) => [row.tenantId, row.createdAt]))
}

/** By its key, or by the one before it while that counts as well. */
export async function findTenantByAnalyzerHash(queries: Queries, hash: string, nowMs: number) {
  const isPrevious = and(eq(previousAnalyzerHash, hash), gt(previousAnalyzerUntil, nowMs))
  const rows = await queries
    .select(openColumns)
    .from(schema.tenants)
    .where(or(eq(analyzerKeyHash, hash), isPrevious))
  return (await withHostnames(queries, rows))[0]
}

export async function tenantsAfter(queries: Queries, after: string, limit: number) {
  const rows = await queries
    .select(openColumns)
    .from(schema.tenants)
    .where(and(gt(schema.tenants.tenantId, after), ne(schema.tenants.tenantId, CONSOLE_REALM)))
    .orderBy(asc(schema.tenants.tenantId))
    .limit(limit)
  return withHostnames(queries, rows)
}

export interface TenantFilter {
  /** In the id, the name or a hostname; letters as they come. */
  readonly text?: string | undefined
  readonly plan?: Tenant['plan'] | undefined
  readonly status?: Tenant['status'] | undefined
  readonly protection?: Tenant['protection'] | undefined
}

/** By their ids. Columns that come early in a row are looked at, so no logo is read over. */
export async function tenantsMatching(
  queries: Queries,
  { text, plan, status, protection }: TenantFilter,
  after: string,
  limit: number,
): Promise<Tenant[]> {
  const { tenants, tenantHostnames: names } = schema
  const pattern =
    text === undefined ? undefined : `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const like = (column: unknown) => sql`lower(${column}) like ${pattern} escape '\\'`
  const byHostname = queries
    .selectDistinct({ tenantId: names.tenantId })
    .from(names)
    .where(like(names.hostname))
  const rows = await queries
    .select(openColumns)
    .from(tenants)
    .where(
      and(
        gt(tenants.tenantId, after),
        ne(tenants.tenantId, CONSOLE_REALM),
        plan === undefined ? undefined : eq(tenants.plan, plan),
        status === undefined ? undefined : eq(tenants.status, status),
        protection === undefined ? undefined : eq(tenants.protection, protection),
        pattern === undefined
          ? undefined
          : or(like(tenants.tenantId), like(tenants.name), inArray(tenants.tenantId, byHostname)),
      ),
    )
    .orderBy(asc(tenants.tenantId))
    .limit(limit)
  return withHostnames(queries, rows)
}

/** For whom a time has come, the one whose time came first before the others. */
function tenantsDueBy(due: SQLiteColumn) {
  return async (queries: Queries, nowMs: number, limit: number) => {
    const rows = await queries
      .select({ tenantId: schema.tenants.tenantId })
      .from(schema.tenants)
      .where(lte(due, nowMs))
      .orderBy(asc(due))
      .limit(limit)
    return rows.map((row) => row.tenantId)
  }
}

/** Whose licence goes on by itself by now. */
export const tenantsWithLicenceDue = tenantsDueBy(schema.tenants.licenceDueAt)

/** Whose client secret before this one counts no more. */
export const endedSecretOverlaps = tenantsDueBy(schema.tenants.previousSecretUntil)

export const NO_PREVIOUS_SECRET = {
  previousSecretSealed: null,
  previousSecretHash: null,
  previousSecretUntil: null,
} as const

export async function findTenantSecrets(queries: Queries, tenantId: string) {
  const [row] = await queries
    .select(secretColumns)
    .from(schema.tenants)
    .where(eq(schema.tenants.tenantId, tenantId))
  return row
}

/** As it was given, in base64. */
export async function findTenantLogo(queries: Queries, tenantId: string): Promise<string | null> {
  const [row] = await queries
    .select({ brandLogo })
    .from(schema.tenants)
    .where(eq(schema.tenants.tenantId, tenantId))
  return row?.brandLogo ?? null
}

export async function insertTenant(queries: Queries, row: NewTenantRow): Promise<void> {
  // what the one before it has left behind must not become its own
  if (!(await deleteSomeLeftBehind(queries, row.tenantId, LIMITS.rowsDeletedAtOnceMax)))
    throw new Refusal('tenant_taken', { field: 'tenant_id' })
  const number = await nextOf(queries, 'tenant')
  await refuseTaken(queries.insert(schema.tenants).values({ ...row, number }), [
    { column: 'tenants.tenant_id', refusal: 'tenant_taken', field: 'tenant_id' },
  ])
  // an id that is used again is no longer gone
  await queries
    .delete(schema.tenantTombstones)
    .where(eq(schema.tenantTombstones.tenantId, row.tenantId))
}

export async function updateTenant(queries: Queries, tenantId: string, changes: TenantChanges) {
  await queries.update(schema.tenants).set(changes).where(eq(schema.tenants.tenantId, tenantId))
}

export async function replaceHostnames(
  queries: Queries,
  tenantId: string,
  hostnames: readonly string[],
): Promise<void> {
  await queries.delete(schema.tenantHostnames).where(eq(schema.tenantHostnames.tenantId, tenantId))
  if (hostnames.length === 0) return
  const rows = hostnames.map((hostname, position) => ({ hostname, tenantId, position }))
  await refuseTaken(queries.insert(schema.tenantHostnames).values(rows), [
    { column: 'tenant_hostnames.hostname', refusal: 'hostname_taken', field: 'hostnames' },
  ])
  await deleteClaimsOfHostnames(queries, hostnames)
}

async function withHostnames(
  queries: Queries,
  rows: readonly Omit<Tenant, 'hostnames'>[],
): Promise<Tenant[]> {
  const [row] = rows
  if (row === undefined) return []
  if (rows.length === 1) {
    const names = await hostnamesOf(queries, row.tenantId)
    return [{ ...row, hostnames: names.map(({ hostname }) => hostname) }]
  }
  const tenantIds = rows.map((row) => row.tenantId)
  const names = await queries
    .select()
    .from(schema.tenantHostnames)
    .where(inArray(schema.tenantHostnames.tenantId, tenantIds))
    .orderBy(asc(schema.tenantHostnames.position))
  const byTenant = Map.groupBy(names, (name) => name.tenantId)
  return rows.map((row) => ({
    ...row,
    hostnames: (byTenant.get(row.tenantId) ?? []).map((name) => name.hostname),
  }))
}
