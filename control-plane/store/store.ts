/**
 * The one way to change anything: `store.change()` commits rows, events, audit entries and the
 * next fleet revision together, and tells its listeners only after the commit.
 */
import { randomUUID } from 'node:crypto'
import { eq, sql } from './drizzle.ts'
import type { Clock } from '../../shared/clock.ts'
import { ENFORCED_BY_NOBODY, type Enforced } from './enforced.ts'
import type { EventData, EventName } from '../../shared/events.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { GatheredRevocations } from './gathered-revocations.ts'
import { nextOf } from './queries/counters.ts'
import { schema } from './schema.ts'
import type { Engine, Queries } from './sqlite.ts'

interface AuditEntry {
  readonly action: string
  readonly tenantId?: string
  readonly content?: Record<string, unknown>
}

/** Who asks for a change, for the audit trail. */
export interface Actor {
  readonly name: string
  /** The account of a person whose name is an address: those are given to others, ids never. */
  readonly id?: string
  readonly requestId: string
}

export interface Change {
  readonly queries: Queries
  readonly nowMs: number
  /** Marks the tenant as changed for the fleet; answers the revision of this change. */
  touch(tenantId: string): Promise<number>
  /** The tenant's revocations changed; `revoked` is what is new. */
  revoke(tenantId: string, revoked: Revoked): void
  /** Takes back what this change has done beside the database, where it comes to nothing. */
  ifUndone(takeBack: () => void): void
  /** Who enforces what this change revokes. Known once it has settled, and never before. */
  readonly enforced: Promise<Enforced>
  emit<Name extends EventName>(event: Name, tenantId: string, data: EventData<Name>): Promise<void>
  audit(actor: Actor, entry: AuditEntry): Promise<void>
}

interface Committed {
  readonly revision: number | null
  readonly tenantIds: readonly string[]
  readonly revoked: ReadonlyMap<string, Revoked>
  readonly hasEvents: boolean
}

type Enforce = (revoked: ReadonlyMap<string, Revoked>) => Promise<Enforced>

export interface Store {
  readonly read: Queries
  /** Random, new with every new database: a gateway of another epoch gets everything again. */
  readonly epoch: string
  /** One that revokes settles once that is enforced, so that nobody is told of it before. */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /** Called in commit order. Throwing in a listener does not undo the change. */
  onCommit(listener: (committed: Committed) => void): void
  /** Called after the commit, in commit order, by whoever carries revocations out; never rejects. */
  enforceBy(enforce: Enforce): void
  revision(): Promise<number>
  close(): Promise<void>
}

export async function openStore(engine: Engine, clock: Clock): Promise<Store> {
  const listeners: ((committed: Committed) => void)[] = []
  let enforce: Enforce = () => Promise.resolve(ENFORCED_BY_NOBODY)
  const epoch = await engine.transaction(epochOf)

  return {
    read: engine.reader,
    epoch,
    async change(work) {
      const gathered = {
        revision: null as number | null,
        tenantIds: [] as string[],
        revoked: new GatheredRevocations(),
        hasEvents: false,
      }
      const enforced = Promise.withResolvers<Enforced>()
      const undone: (() => void)[] = []
      const result = await engine
        .transaction((queries) =>
          work({
            ...openChange(queries, clock.nowMs(), gathered, enforced.promise),
            ifUndone: (takeBack) => void undone.push(takeBack),
          }),
        )
        .catch((error: unknown) => {
          for (const takeBack of undone) takeBack()
          throw error
        })
      const committed: Committed = { ...gathered, revoked: gathered.revoked.whole() }
      for (const listener of listeners) listener(committed)
      const isRevoking = committed.revoked.size > 0
      const answer = isRevoking ? await enforce(committed.revoked) : ENFORCED_BY_NOBODY
      enforced.resolve({ ...answer, atMs: clock.nowMs() })
      return result
    },
    enforceBy: (next) => void (enforce = next),
    onCommit: (listener) => void listeners.push(listener),
    async revision() {
      const [row] = await engine.reader
        .select({ value: schema.counters.value })
        .from(schema.counters)
        .where(eq(schema.counters.name, 'revision'))
      return row?.value ?? 0
    },
    close: () => engine.close(),
  }
}

const { tenants } = schema

function openChange(
  queries: Queries,
  nowMs: number,
  gathered: { -readonly [K in keyof Omit<Committed, 'revoked'>]: Committed[K] } & {
    tenantIds: string[]
    revoked: GatheredRevocations
  },
  enforced: Promise<Enforced>,
): Omit<Change, 'ifUndone'> {
  return {
    enforced,
    queries,
    nowMs,
    async touch(tenantId) {
      gathered.revision ??= await nextOf(queries, 'revision')
      if (!gathered.tenantIds.includes(tenantId)) gathered.tenantIds.push(tenantId)
      await queries
        .update(schema.tenants)
        .set({ revision: gathered.revision, updatedAt: nowMs })
        .where(eq(schema.tenants.tenantId, tenantId))
      return gathered.revision
    },
    revoke(tenantId, revoked) {
      gathered.revoked.add(tenantId, revoked)
    },
    async emit(event, tenantId, data) {
      const sequence = await nextOf(queries, 'event')
      const eventId = randomUUID()
      await queries
        .insert(schema.outbox)
        .values({ sequence, eventId, tenantId, event, content: data, createdAt: nowMs })
      gathered.hasEvents = true
    },
    async audit(actor, entry) {
      const sequence = await nextOf(queries, 'audit')
      const { tenantId = null } = entry
      await queries.insert(schema.audit).values({
        sequence,
        at: nowMs,
        actor: actor.name,
        actorId: actor.id ?? null,
        action: entry.action,
        tenantId,
        tenantNumber: sql`(SELECT ${tenants.number} FROM ${tenants} WHERE ${tenants.tenantId} = ${tenantId})`,
        content: entry.content ?? {},
        requestId: actor.requestId,
        userId: personIn(entry.content),
      })
    },
  }
}

/** Whom an entry is about; a revocation calls the person its subject. */
function personIn(content: AuditEntry['content'] = {}): string | null {
  const { user_id: userId, subject } = content
  return typeof userId === 'string' ? userId : typeof subject === 'string' ? subject : null
}

async function epochOf(queries: Queries): Promise<string> {
  const named = eq(schema.facts.name, 'epoch')
  const [row] = await queries.select().from(schema.facts).where(named)
  if (row !== undefined) return row.value
  const epoch = randomUUID()
  await queries.insert(schema.facts).values({ name: 'epoch', value: epoch })
  return epoch
}
