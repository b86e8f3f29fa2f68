import { and, asc, desc, eq, getTableColumns, gt, inArray, lt, lte, max, sql } from '../drizzle.ts'
import { countFitting } from '../fitting.ts'
import { schema } from '../schema.ts'
import type { Queries } from '../engine.ts'
import { deleteSome, findBy, upsertInto } from '../statements.ts'

const { outbox, counters } = schema
export type OutboxRow = typeof outbox.$inferSelect
/** With how many bytes its content has. */
type SizedOutboxRow = OutboxRow & { readonly bytes: number }

const POSITION = 'webhooks'
const findCounter = findBy(counters, 'name')
const putCounter = upsertInto(counters, ['name'], 'value')

/** Up to where deliveries have been made of events. */
export async function outboxPosition(queries: Queries): Promise<number> {
  return (await findCounter(queries, POSITION))?.value ?? 0
}

/** The number of the newest event that there is. */
export async function newestEvent(queries: Queries): Promise<number> {
  const [row] = await queries.select({ newest: max(outbox.sequence) }).from(outbox)
  return row?.newest ?? 0
}

export async function moveOutboxPosition(queries: Queries, sequence: number): Promise<void> {
  await putCounter(queries, { name: POSITION, value: sequence })
}

/** How many may be read at once, and of how many bytes: one is always read. */
interface Stretch {
  readonly rows: number
  readonly bytes: number
}

export async function outboxAfter(queries: Queries, sequence: number, stretch: Stretch) {
  const sizes = await queries
    .select(SIZE)
    .from(outbox)
    .where(gt(outbox.sequence, sequence))
    .orderBy(asc(outbox.sequence))
    .limit(stretch.rows)
  return (await readFitting(queries, sizes, stretch.bytes)).reverse()
}

/** Of one tenant, newest first. */
export async function outboxBefore(
  queries: Queries,
  tenantId: string,
  event: OutboxRow['event'] | undefined,
  before: number | undefined,
  stretch: Stretch,
): Promise<SizedOutboxRow[]> {
  const sizes = await queries
    .select(SIZE)
    .from(outbox)
    .where(
      and(
        eq(outbox.tenantId, tenantId),
        event === undefined ? undefined : eq(outbox.event, event),
        before === undefined ? undefined : lt(outbox.sequence, before),
      ),
    )
    .orderBy(desc(outbox.sequence))
    .limit(stretch.rows)
  return readFitting(queries, sizes, stretch.bytes)
}

/** An event may be as large as a policy: its size is known without reading it. */
const bytes = sql<number>`octet_length(content)`
const SIZE = { sequence: outbox.sequence, bytes }

async function readFitting(
  queries: Queries,
  sizes: readonly { readonly sequence: number; readonly bytes: number }[],
  bytesMax: number,
): Promise<SizedOutboxRow[]> {
  if (sizes.length === 0) return []
  const count = countFitting(
    sizes.map(({ bytes }) => bytes),
    bytesMax,
  )
  const fitting = sizes.slice(0, count).map(({ sequence }) => sequence)
  return await queries
    .select({ ...getTableColumns(outbox), bytes })
    .from(outbox)
    .where(inArray(outbox.sequence, fitting))
    .orderBy(desc(outbox.sequence))
}

/** Only what deliveries have been made of. */
export async function deleteOutboxBefore(queries: Queries, beforeMs: number, limit: number) {
  const isDone = lte(outbox.sequence, await outboxPosition(queries))
  return deleteSome(queries, outbox, and(lt(outbox.createdAt, beforeMs), isDone), limit)
}
