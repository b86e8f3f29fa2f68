/**
 * Who may use a database: control planes that know of each other, or one alone (what restores it or
 * copies into it, and versions that know of no others). A row says who has it, and until when by the
 * database's own clock; each renews it long before, and whoever could not changes nothing.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../../shared/errors.ts'
import { and, eq, sql } from '../drizzle.ts'
import type { Engine, Queries } from '../engine.ts'
import { schema } from '../schema.ts'
import { isInUse, joinNodes, NOW_MS } from './postgres-nodes.ts'

const { facts } = schema
const NAME = 'control_plane'

export interface Process {
  readonly host: string
  readonly pid: number
  /** Of this start of the machine, and of this container: a number of a process says nothing beyond. */
  readonly boot: string
}

interface Holder extends Process {
  readonly id: string
  readonly since: number
  readonly until: number
  /** Others of this kind may use it, too. Versions that know of no others see that it is taken. */
  readonly isShared?: boolean
}

interface HolderOptions {
  /** Whoever has ended without a word is believed gone behind this. */
  readonly leaseMs?: number
  readonly renewMs?: number
  readonly self?: Process
  /** No other may use it. */
  readonly isAlone?: boolean
}

interface Held {
  readonly engine: Engine
  /** Settles if somebody else has it alone now: what to say. */
  readonly lost: Promise<string>
}

const LEASE_MS = 20_000
const RENEW_MS = 4000
const LOOK_MS = 500

export class HeldByAnother extends Error {
  constructor(holder: Holder) {
    super(
      `another control plane uses this database: ${named(holder)}. ${holder.isShared === true ? 'Stop all that do' : 'It shares it with none: stop that one'}, then start this one`,
    )
  }
}

const named = ({ host, pid, since }: Holder) =>
  `process ${pid} on ${host}, since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Waits for one that has ended without a word, and refuses for one that goes on. */
export async function holdDatabase(
  engine: Engine,
  {
    leaseMs = LEASE_MS,
    renewMs = RENEW_MS,
    self = thisProcess(),
    isAlone = false,
  }: HolderOptions = {},
): Promise<Held> {
  const id = randomUUID()
  const claim = { ...self, id, isShared: !isAlone }
  const take = async (queries: Queries) => takeFor(claim, leaseMs, queries)
  let first: Holder | undefined
  for (;;) {
    const holder = await engine.transaction(take)
    if (isOurs(holder, claim)) break
    // it has renewed what is its own, so it goes on
    if (first !== undefined && (first.id !== holder.id || first.until !== holder.until))
      throw new HeldByAnother(holder)
    first = holder
    await sleep(Math.min(LOOK_MS, renewMs))
  }

  const nodes = isAlone ? undefined : await joinNodes(engine.reader, id, self)
  const lost = Promise.withResolvers<string>()
  let untilMs = performance.now() + leaseMs
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const renew = async () => {
    const askedMs = performance.now()
    try {
      const holder = await engine.transaction(take)
      if (!isOurs(holder, claim)) {
        isClosed = true
        lost.resolve(new HeldByAnother(holder).message)
      }
      untilMs = isClosed ? -Infinity : askedMs + leaseMs
    } catch {
      // the database is away, for everybody
    }
    if (!isClosed) timer = setTimeout(() => void renew(), renewMs).unref()
  }
  timer = setTimeout(() => void renew(), renewMs).unref()

  /** One that stood still for a while may have been taken for gone. */
  function requireHeld() {
    if (performance.now() > untilMs) throw new Refusal('unavailable', { retry_after: 5 })
  }
  async function leave(queries: Queries) {
    await nodes?.leave()
    const isOwn = sql`${facts.value}::json ->> 'id' = ${id}`
    // others will say that it is theirs
    if (!(await isInUse(queries)))
      await queries.delete(facts).where(and(eq(facts.name, NAME), isOwn))
  }

  return {
    lost: lost.promise,
    engine: {
      reader: engine.reader,
      numbers: engine.numbers,
      ...(nodes && { nodes }),
      async transaction(work) {
        requireHeld()
        return engine.transaction(work)
      },
      async transactionOf(tenantId, work) {
        requireHeld()
        return engine.transactionOf(tenantId, work)
      },
      async close() {
        isClosed = true
        clearTimeout(timer)
        await engine.transaction(leave).catch(() => {})
        await engine.close()
      },
    },
  }
}

type Claim = Process & Pick<Holder, 'id' | 'isShared'>

const isOurs = (holder: Holder, { id, isShared }: Claim) =>
  holder.id === id || (holder.isShared === true && isShared === true)

/** Who has it now. */
async function takeFor(self: Claim, leaseMs: number, queries: Queries): Promise<Holder> {
  const [found] = await queries
    .select({ value: facts.value, nowMs: sql<number>`${NOW_MS}` })
    .from(sql`(SELECT ${NOW_MS}) AS clock`)
    .leftJoin(facts, eq(facts.name, NAME))
  const { value = null, nowMs = 0 } = found ?? {}
  const holder = value === null ? undefined : (JSON.parse(value) as Holder)
  if (holder !== undefined && !isOurs(holder, self)) {
    const isThere = holder.until > nowMs && !isGone(holder, self)
    const isLeft = holder.isShared === true && (await isInUse(queries))
    if (isThere || isLeft) return holder
  }
  const since = holder?.id === self.id ? holder.since : nowMs
  const mine: Holder = { ...self, since, until: nowMs + leaseMs }
  const text = JSON.stringify(mine)
  await queries
    .insert(facts)
    .values({ name: NAME, value: text })
    .onConflictDoUpdate({ target: facts.name, set: { value: text } })
  return mine
}

/** Ended on this very machine, so nobody has to wait for it. */
function isGone({ host, boot, pid }: Process, self: Process): boolean {
  if (host !== self.host || boot !== self.boot || boot === '') return false
  if (pid === self.pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function thisProcess(): Process {
  return { host: hostname(), pid: process.pid, boot: bootId() }
}

function bootId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return '' // another system: there everybody waits
  }
}
