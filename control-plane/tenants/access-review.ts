/** Who can open this path, who could then, and what other rules would have meant for the last days. */
import { setImmediate as breathe } from 'node:timers/promises'
import { DAY_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { AccessRules } from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import { findAccessRules } from '../store/queries/access.ts'
import {
  deletePastMembersBefore,
  groupsOfPeople,
  groupsOfPersonAt,
  peopleSeenSince,
  ruleVersionAt,
  ruleVersionsBefore,
} from '../store/queries/access-history.ts'
import {
  attributesOfPeople,
  attributesOfPersonAt,
  deletePastAttributesBefore,
} from '../store/queries/attributes.ts'
import { ruledPathsSince, type TriedPath } from '../store/queries/enforcement-events.ts'
import { servicesOf, serviceSecretsOf } from '../store/queries/services.ts'
import { findTenant, type Tenant } from '../store/queries/tenants.ts'
import { findUser, isTrialId } from '../store/queries/users.ts'
import { inParts, pruneWith } from '../store/statements.ts'
import type { Store } from '../store/store.ts'
import { found } from './alter.ts'
import { askAccess, type Answered, type Asker } from './access-questions.ts'
import {
  createAccessReplay,
  type AccessReplay,
  type ChangedPath,
  type Visitor,
} from './access-replay.ts'
import type { TenantAccessRules } from './access-rules.ts'
import { createReplayTurns } from './replay-turns.ts'
import { attributeIn, predicateOf, predicatesIn, type Attribute } from './rule-predicates.ts'

interface AccessQuestion extends Omit<Asker, 'held'> {
  /** Left out: the first of the tenant's. */
  readonly host?: string | undefined
  readonly path: string
  readonly method: string
  /** Of the person; left out where a machine is asked about. */
  readonly userId?: string | undefined
  /** Left out: now. */
  readonly atMs?: number | undefined
}

export interface ReviewedAccess extends Answered {
  /** By which rules; undefined: what was in force then is not known any more. */
  readonly rules: AccessRules | undefined
  readonly groups: readonly string[]
  readonly attributes: readonly Attribute[]
}

export interface ReplayedAccess {
  readonly people: number
  readonly machines: number
  readonly changes: readonly ChangedPath[]
  /** Paths that rules have refused, as gateways told; whose requests it were they do not. */
  readonly refused: readonly TriedPath[]
  /** Not all who were here were looked at: there are many, or it took long. */
  readonly isCut: boolean
}

export type AccessReview = ReturnType<typeof createAccessReview>

/** Others have their turn so often. */
const BREATHE_MS = 10
/** Whose memberships are read between two turns: a person may be in each group that rules speak of. */
const PEOPLE_AT_ONCE = 10
const NOTHING: AccessRules = { rules: [] }

export function createAccessReview(world: {
  readonly store: Store
  readonly accessRules: Pick<TenantAccessRules, 'of' | 'check'>
  readonly clock: Clock
}) {
  const { store, accessRules, clock } = world
  const inTurn = createReplayTurns()

  /** undefined: nobody knows. */
  async function rulesAt(tenantId: string, atMs: number): Promise<AccessRules | undefined> {
    const current = await findAccessRules(store.read, tenantId)
    if (current !== undefined && current.updatedAt <= atMs) return current.content
    const version = await ruleVersionAt(store.read, tenantId, atMs)
    if (version !== undefined) return version.content
    const versions = await ruleVersionsBefore(store.read, tenantId, LIMITS.ruleVersionsKeptMax)
    const oldest = versions.at(-1)
    // the first that was ever saved, if it was not there before versions were kept
    const isFirst = oldest?.actor !== '' && versions.length < LIMITS.ruleVersionsKeptMax
    return isFirst && atMs >= clock.nowMs() - LIMITS.auditKeptMs ? NOTHING : undefined
  }

  /** Groups and attributes: of very many those of the first people; of the others nothing is known. */
  async function heldBy(
    tenantId: string,
    ids: readonly string[],
    among: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const held = new Map<string, Set<string>>()
    const names = new Set([...among].flatMap((one) => attributeIn(one)?.name ?? []))
    let rows = 0
    for await (const some of inParts(ids, PEOPLE_AT_ONCE)) {
      if (rows > LIMITS.replayedMembershipsMax) break
      for (const id of some) held.set(id, new Set())
      const groups = await groupsOfPeople(store.read, tenantId, some, among)
      for (const { userId, group } of groups) held.get(userId)?.add(group)
      const attributes = await attributesOfPeople(store.read, tenantId, some, names)
      for (const one of attributes) held.get(one.userId)?.add(predicateOf(one))
      rows += groups.length + attributes.length
    }
    return held
  }

  async function visitorsSince(
    tenantId: string,
    { sinceMs, maxSessionSeconds }: { sinceMs: number; maxSessionSeconds: number },
    among: ReadonlySet<string>,
  ) {
    const begunSinceMs = sinceMs - maxSessionSeconds * SECOND_MS
    const most = LIMITS.replayedVisitorsMax
    const seen = await peopleSeenSince(store.read, tenantId, { sinceMs, begunSinceMs }, most + 1)
    const here = seen.slice(0, most).filter(({ userId }) => !isTrialId(userId))
    const ids = [...new Set(here.map(({ userId }) => userId))]
    const held = await heldBy(tenantId, ids, among)
    const people = here.filter(({ userId }) => held.has(userId))
    const isCut = seen.length > most || people.length < here.length
    const used = (await serviceSecretsOf(store.read, tenantId)).filter(
      ({ usedAt }) => (usedAt ?? 0) >= sinceMs,
    )
    const machines = [...new Set(used.map(({ serviceId }) => serviceId))]
    const visitors: Visitor[] = [
      ...people.map(({ userId, ip }) => ({
        id: userId,
        held: held.get(userId) ?? new Set<string>(),
        address: ip,
      })),
      ...machines.map((id) => ({ id, serviceId: id, held: new Set<string>(), address: '' })),
    ]
    return { visitors, people: held.size, machines: machines.length, isCut }
  }

  async function replayed(tenantId: string, proposed: AccessRules): Promise<ReplayedAccess> {
    const tenant = found(await findTenant(store.read, tenantId))
    const sinceMs = clock.nowMs() - LIMITS.accessReplayDays * DAY_MS
    const current = await accessRules.of(tenantId)
    const spokenOf = predicatesIn([...current.rules, ...proposed.rules])
    const { maxSessionSeconds } = tenant
    const was = await visitorsSince(tenantId, { sinceMs, maxSessionSeconds }, spokenOf)
    const { visitors, people, machines } = was
    const replay = createAccessReplay(current, proposed, tenant)
    const isDone = await replayAll(replay, visitors)
    const told = await ruledPathsSince(store.read, tenantId, sinceMs, LIMITS.sealedEventsGroupedMax)
    const refused = told.slice(0, REFUSED_SHOWN_MAX)
    const isCut = was.isCut || replay.isCut || !isDone
    return { people, machines, changes: replay.result(), refused, isCut }
  }

  /** Then, by whatever source; a machine is nothing of all that. */
  async function whatTheyAre(tenantId: string, userId: string | undefined, atMs: number) {
    if (userId === undefined) return { groups: [], attributes: [] }
    const groups = await groupsOfPersonAt(store.read, tenantId, userId, atMs)
    const rows = await attributesOfPersonAt(store.read, tenantId, userId, atMs)
    const attributes = new Map(rows.map((one) => [predicateOf(one), one]))
    const inOrder = [...attributes].sort(([a], [b]) => (a < b ? -1 : 1))
    return { groups: [...groups].sort(), attributes: inOrder.map(([, one]) => one) }
  }

  return {
    /** Which rules decided is told by their place in `rules`. */
    async ask(tenantId: string, question: AccessQuestion): Promise<ReviewedAccess> {
      const { path, method, userId, atMs = clock.nowMs() } = question
      const tenant = found(await findTenant(store.read, tenantId))
      const { host = hostOf(tenant) } = question
      if (userId !== undefined && (await findUser(store.read, tenantId, userId)) === undefined)
        throw new Refusal('user_not_found')
      const services = await servicesOf(store.read, tenantId)
      const { serviceId } = question
      if (serviceId !== undefined && !services.some((one) => one.serviceId === serviceId))
        throw new Refusal('service_not_found')
      const { groups, attributes } = await whatTheyAre(tenantId, userId, atMs)
      const held = new Set([...groups, ...attributes.map(predicateOf)])
      const rules = await rulesAt(tenantId, atMs)
      const asked = { host, path, method }
      const answered = askAccess(rules ?? NOTHING, tenant).ask(asked, { ...question, held })
      return { ...answered, rules, groups, attributes }
    },

    /** What these rules would have meant, by who was here and what they are by now. */
    async replay(tenantId: string, proposed: AccessRules): Promise<ReplayedAccess> {
      await accessRules.check(tenantId, proposed)
      return inTurn(tenantId, () => replayed(tenantId, proposed))
    },

    /** When rules were saved and by whom, newest first. */
    saved: (tenantId: string, limit: number) => ruleVersionsBefore(store.read, tenantId, limit),

    prune: pruneWith(store, deletePastMembersBefore, LIMITS.auditKeptMs),
    pruneAttributes: pruneWith(store, deletePastAttributesBefore, LIMITS.auditKeptMs),
  }
}

const REFUSED_SHOWN_MAX = 20

/** False: it took too long. Others have their turn meanwhile, also within what one visitor takes. */
async function replayAll(replay: AccessReplay, visitors: readonly Visitor[]): Promise<boolean> {
  const endMs = performance.now() + LIMITS.replayMsMax
  let breathedMs = performance.now()
  for (const visitor of visitors) {
    const looks = replay.add(visitor)
    do {
      const nowMs = performance.now()
      if (nowMs > endMs) return false
      if (nowMs - breathedMs > BREATHE_MS) {
        await breathe()
        breathedMs = performance.now()
      }
    } while (looks.next().done !== true)
  }
  return true
}

/** In sdk mode rules go by the application's own address. */
const hostOf = ({ mode, origin, hostnames }: Tenant): string =>
  mode === 'sdk' ? new URL(origin).hostname : (hostnames[0] ?? '')
