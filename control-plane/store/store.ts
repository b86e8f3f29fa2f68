/**
 * The one way to change anything: `store.change()` commits rows, events, audit entries and the
 * next fleet revision together, and tells its listeners only after the commit.
 */
import { randomUUID } from 'node:crypto'
import { watchWriting, writeProbe } from './writing.ts'
import { eq } from './drizzle.ts'
import type { Clock } from '../../shared/clock.ts'
import { followCommits } from './commit-follower.ts'
import { ENFORCED_BY_NOBODY, type Enforced } from './enforced.ts'
import type { EventData, EventName } from '../../shared/events.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { GatheredRevocations } from './gathered-revocations.ts'
import { insertAudit } from './queries/audit.ts'
import { nextOf } from './queries/counters.ts'
import type { CannotWrite } from './engines/cannot-write.ts'
import { beginEpoch, ensureEpoch, findEpoch } from './queries/epoch.ts'
import { schema } from './schema.ts'
import type { Engine, Numbers, Queries } from './engine.ts'
import type { News } from './nodes.ts'
import { noTracing, type Span, type Tracing } from '../tracing/tracing.ts'
import { insertRows } from './statements.ts'

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
  /**
   * Keys of gateways changed, or what all of them are told beside tenants; or this one is no part of
   * the fleet any more.
   */
  touchFleet(removedGateway?: string): void
  /** What has been counted before may have been seen by somebody although it is not here. */
  beginEpoch(): Promise<void>
  /** Who enforces what this change revokes. Known once it has settled, and never before. */
  readonly enforced: Promise<Enforced>
  emit<Name extends EventName>(event: Name, tenantId: string, data: EventData<Name>): Promise<void>
  /** One after the other, written together. */
  emitEach<Name extends EventName>(
    event: Name,
    tenantId: string,
    all: readonly EventData<Name>[],
  ): Promise<void>
  audit(actor: Actor, entry: AuditEntry): Promise<void>
  auditEach(actor: Actor, entries: readonly AuditEntry[]): Promise<void>
}

/** What is of one tenant, and tells gateways nothing. */
export type TenantChange = Omit<
  Change,
  'touch' | 'revoke' | 'touchFleet' | 'beginEpoch' | 'enforced'
>

interface Committed extends News {
  readonly revision: number | null
  /** The names of those that it emits. */
  readonly events: readonly string[]
  /** From when it was asked for. */
  readonly tookMs: number
  /** Of it, until it began: in line, and for a lock. */
  readonly waitedMs: number
  /**
   * Read in the log: another control plane has told whom it could, or this one's answer was lost and
   * nobody has been told.
   */
  readonly isFromLog: boolean
}

/** `position`: of the change, for whoever waits for other control planes; null: there are none. */
type Enforce = (revoked: ReadonlyMap<string, Revoked>, position: number | null) => Promise<Enforced>

export interface Store {
  readonly read: Queries
  /** One that revokes settles once that is enforced, so that nobody is told of it before. */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /**
   * Of rows of one tenant, of which gateways are told nothing: changes of other tenants need not
   * wait for it, where the database can do that. Its events and entries are this tenant's.
   */
  changeOf<T>(tenantId: string, work: (change: TenantChange) => Promise<T>): Promise<T>
  /**
   * Called in commit order; of another control plane, at most a moment later. Throwing in a listener
   * does not undo the change.
   */
  onCommit(listener: (committed: Committed) => void): void
  /** All that any control plane has committed up to this position of their log has been told. */
  onHeard(listener: (position: number) => void): void
  /** What was told before says nothing of what is there now: nothing that is kept counts any more. */
  onRestart(listener: () => void): void
  /** Whether others may have changed what this one has not heard of: what is kept may be wrong. */
  isBehind(): boolean
  /** Why the database keeps no changes; undefined: it does. Found out by those, and then by trying. */
  cannotWrite(): CannotWrite | undefined
  /** Called when that has changed. */
  onCannotWrite(listener: (why: CannotWrite | undefined) => void): void
  /** Called after the commit, in commit order, by whoever carries revocations out; never rejects. */
  enforceBy(enforce: Enforce): void
  revision(): Promise<number>
  /** Read anew: another control plane may have begun one. */
  epoch(): Promise<string>
  close(): Promise<void>
}

export async function openStore(
  engine: Engine,
  clock: Clock,
  tracing: Pick<Tracing, 'span'> = noTracing(),
): Promise<Store> {
  const listeners: ((committed: Committed) => void)[] = []
  let enforce: Enforce = () => Promise.resolve(ENFORCED_BY_NOBODY)
  const heardListeners: ((position: number) => void)[] = []
  const restartListeners: (() => void)[] = []
  let heard = 0
  const writing = watchWriting(() => engine.transaction(writeProbe))
  await engine.transaction(ensureEpoch)
  const follower =
    engine.nodes &&
    (await followCommits({
      nodes: engine.nodes,
      onNews: (news) =>
        tell({ ...news, revision: null, events: [], tookMs: 0, waitedMs: 0, isFromLog: true }),
      onHeard(position) {
        heard = position
        for (const listener of heardListeners) listener(position)
      },
      onRestart() {
        for (const listener of restartListeners) listener()
      },
    }))

  function tell(committed: Committed) {
    for (const listener of listeners) listener(committed)
  }

  /** Done, kept, and told to the listeners; it may be made again, where the database gives it up. */
  function made<T>(
    transaction: Engine['transaction'],
    work: (change: Change) => Promise<T>,
    enforced: Promise<Enforced>,
  ) {
    return tracing.span('change', {}, (span) => makeNow(transaction, work, enforced, span))
  }

  async function makeNow<T>(
    transaction: Engine['transaction'],
    work: (change: Change) => Promise<T>,
    enforced: Promise<Enforced>,
    span: Span,
  ) {
    const askedMs = performance.now()
    let begunMs = askedMs
    let gathered = gather()
    let position: number | null = null
    const kept = transaction(async (queries) => {
      gathered = gather()
      begunMs = performance.now()
      const done = await work(
        openChange(queries, engine.numbers, clock.nowMs(), gathered, enforced),
      )
      position = await logged(queries, gathered)
      return done
    })
    const result = await writing.noted(kept)
    const tookMs = performance.now() - askedMs
    const waitedMs = begunMs - askedMs
    span.set('waited_ms', waitedMs)
    span.set('held_ms', tookMs - waitedMs)
    const revokedWhole = gathered.revoked.whole()
    const committed = { ...gathered, revoked: revokedWhole, tookMs, waitedMs, isFromLog: false }
    if (position !== null) follower?.isTold(position)
    tell(committed)
    return { result, revoked: committed.revoked, position }
  }

  /** What other nodes have to hear. */
  async function logged(queries: Queries, { revoked, ...gathered }: ReturnType<typeof gather>) {
    const isNews = gathered.tenantIds.length > 0 || gathered.isOfFleet || !revoked.isEmpty
    if (engine.nodes === undefined || !isNews) return null
    return engine.nodes.write(queries, { ...gathered, revoked: revoked.whole() })
  }

  return {
    read: engine.reader,
    async change(work) {
      const enforced = Promise.withResolvers<Enforced>()
      const { result, revoked, position } = await made(engine.transaction, work, enforced.promise)
      const answer = revoked.size > 0 ? await enforce(revoked, position) : ENFORCED_BY_NOBODY
      enforced.resolve({ ...answer, atMs: clock.nowMs() })
      return result
    },
    async changeOf(tenantId, work) {
      const ofTenant: Engine['transaction'] = (whole) => engine.transactionOf(tenantId, whole)
      return (await made(ofTenant, work, NEVER)).result
    },
    cannotWrite: writing.why,
    onCannotWrite: writing.onChange,
    enforceBy: (next) => void (enforce = next),
    onCommit: (listener) => void listeners.push(listener),
    onHeard(listener) {
      heardListeners.push(listener)
      listener(heard)
    },
    onRestart: (listener) => void restartListeners.push(listener),
    isBehind: () => follower?.isBehind() ?? false,
    async revision() {
      const [row] = await engine.reader
        .select({ value: schema.counters.value })
        .from(schema.counters)
        .where(eq(schema.counters.name, 'revision'))
      return row?.value ?? 0
    },
    epoch: async () => (await findEpoch(engine.reader)) ?? '',
    async close() {
      writing.close()
      await follower?.close()
      await engine.close()
    },
  }
}

/** A change of one tenant revokes nothing. */
const NEVER = new Promise<never>(() => {})

const gather = () => ({
  revision: null as number | null,
  tenantIds: [] as string[],
  revoked: new GatheredRevocations(),
  events: [] as string[],
  isOfFleet: false,
  removedGateways: [] as string[],
})

function openChange(
  queries: Queries,
  numbers: Numbers,
  nowMs: number,
  gathered: ReturnType<typeof gather>,
  enforced: Promise<Enforced>,
): Change {
  const change: Change = {
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
    touchFleet(removedGateway) {
      gathered.isOfFleet = true
      if (removedGateway !== undefined) gathered.removedGateways.push(removedGateway)
    },
    beginEpoch: () => beginEpoch(queries, numbers),
    emit: (event, tenantId, data) => change.emitEach(event, tenantId, [data]),
    async emitEach(event, tenantId, all) {
      if (all.length === 0) return
      const own = await numbers.take(queries, 'event', all.length)
      const rows = all.map((content, at) => {
        const [sequence, eventId] = [own[at] as number, randomUUID()]
        return { sequence, eventId, tenantId, event, content, createdAt: nowMs }
      })
      await insertRows(queries, schema.outbox, rows)
      gathered.events.push(...all.map(() => event))
    },
    audit: (actor, entry) => change.auditEach(actor, [entry]),
    async auditEach(actor, entries) {
      if (entries.length === 0) return
      const own = await numbers.take(queries, 'audit', entries.length)
      const rows = entries.map(({ action, tenantId = null, content = {} }, at) => ({
        sequence: own[at] as number,
        at: nowMs,
        actor: actor.name,
        actorId: actor.id ?? null,
        action,
        tenantId,
        content,
        requestId: actor.requestId,
        userId: personIn(content),
      }))
      await insertAudit(queries, rows)
    },
  }
  return change
}

/** Whom an entry is about; a revocation calls the person its subject. */
function personIn(content: AuditEntry['content'] = {}): string | null {
  const { user_id: userId, subject } = content
  return typeof userId === 'string' ? userId : typeof subject === 'string' ? subject : null
}
