/** A tenant's rules on paths: checked, kept whole, and what gateways and tokens are made of them. */
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { SECOND_MS } from '../../shared/clock.ts'
import { normalPrefix } from '../../shared/enforcement/path.ts'
import { SESSION_SECONDS_FLOOR } from '../../shared/enforcement/revoked-state.ts'
import { Refusal } from '../../shared/errors.ts'
import {
  AccessRulesSchema,
  type AccessRules,
  type EnforcedRules,
} from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import { parseNetwork } from '../../shared/networks.ts'
import type { Queries } from '../store/engine.ts'
import {
  findAccessRules,
  groupsOf,
  membershipsOf,
  upsertAccessRules,
  type AccessRulesRow,
} from '../store/queries/access.ts'
import { keepNewestVersions, upsertRuleVersion } from '../store/queries/access-history.ts'
import { servicesOf } from '../store/queries/services.ts'
import { attributesOf } from '../store/queries/attributes.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import type { Actor, Store } from '../store/store.ts'
import { createAlter, found } from './alter.ts'
import { findTenant } from '../store/queries/tenants.ts'
import { groupBits, nextSlots } from './group-slots.ts'
import { requireRoom, rulesBytes } from './published-size.ts'
import { predicateOf, predicatesIn, toldSlots } from './rule-predicates.ts'
import { rulesApart } from './service-rules.ts'

export type TenantAccessRules = ReturnType<typeof createAccessRules>

const NO_RULES: AccessRules = { rules: [] }

export function createAccessRules({ store }: { store: Store }) {
  const alter = createAlter(store)
  return {
    async of(tenantId: string): Promise<AccessRules> {
      found(await findTenant(store.read, tenantId))
      return (await findAccessRules(store.read, tenantId))?.content ?? NO_RULES
    },

    /** Refuses what could not be put. */
    async check(tenantId: string, proposed: AccessRules): Promise<void> {
      const content = shapedRules(proposed)
      const tenant = found(await findTenant(store.read, tenantId))
      checkRules(content, tenant, await namesOf(store.read, tenantId))
    },

    /** `expected`: what it is made of; refused where somebody else has changed that meanwhile. */
    async put(
      tenantId: string,
      wished: AccessRules,
      actor: Actor,
      expected?: AccessRules,
    ): Promise<AccessRules> {
      const content = shapedRules(wished)
      await alter(tenantId, actor, 'access_rules.changed', async (change, tenant) => {
        const known = await findAccessRules(change.queries, tenantId)
        if (expected !== undefined && !isDeepStrictEqual(known?.content ?? NO_RULES, expected))
          throw new Refusal('access_rules_changed')
        checkRules(content, tenant, await namesOf(change.queries, tenantId))
        if (JSON.stringify(known?.content ?? NO_RULES) === JSON.stringify(content)) return undefined
        const longest = Math.max(tenant.maxSessionSeconds, SESSION_SECONDS_FLOOR)
        const table = nextSlots(
          { slots: known?.slots ?? [], version: known?.slotsVersion ?? 0 },
          predicatesIn(content.rules),
          {
            nowMs: change.nowMs,
            keptMs: longest * SECOND_MS,
            slotsMax: LIMITS.ruleSlotsMax,
          },
        )
        if (table === undefined)
          throw refusal(
            'rules',
            `at most ${LIMITS.ruleSlotsMax} groups and attributes, also of the last days`,
          )
        const row = {
          tenantId,
          content,
          slots: table.slots,
          slotsVersion: table.version,
          updatedAt: change.nowMs,
        }
        await upsertAccessRules(change.queries, row)
        if (rulesBytes(row) > rulesBytes(known)) await requireRoom(change.queries, tenantId)
        const version = { tenantId, at: change.nowMs, actor: actor.name, content }
        await upsertRuleVersion(change.queries, version)
        await keepNewestVersions(change.queries, tenantId, LIMITS.ruleVersionsKeptMax)
        return {
          rules: content.rules.length,
          paths: content.rules.slice(0, TOLD_PATHS).map(({ path }) => path),
        }
      })
      return content
    },
  }
}

const TOLD_PATHS = 20

async function namesOf(queries: Queries, tenantId: string) {
  const groups = new Set((await groupsOf(queries, tenantId)).map(({ name }) => name))
  const services = new Set((await servicesOf(queries, tenantId)).map(({ serviceId }) => serviceId))
  return { groups, services }
}

/** Whom those are told to ask whom a rule refuses. */
export const contactOf = (row: AccessRulesRow | undefined): string | undefined =>
  row === undefined || row.content.rules.length === 0 ? undefined : row.content.contact

/** undefined: gateways are told nothing, since whoever is signed in may open everything. */
export function enforcedRulesOf(row: AccessRulesRow | undefined): EnforcedRules | undefined {
  if (row === undefined || row.content.rules.length === 0) return undefined
  const slots = row.slots.filter(({ freeFrom }) => freeFrom === null)
  const { networks } = row.content
  return {
    ...(networks && { networks }),
    rules: rulesApart(row.content.rules).rules,
    ...toldSlots(slots),
  }
}

/** For a token; nothing where no rule speaks of a group or an attribute. */
export async function groupClaimsOf(
  queries: Queries,
  tenantId: string,
  userId: string,
): Promise<{ readonly gb?: string; readonly gv?: number }> {
  const row = await findAccessRules(queries, tenantId)
  if (row === undefined || !row.slots.some(({ freeFrom }) => freeFrom === null)) return {}
  const memberships = await membershipsOf(queries, tenantId, userId)
  const attributes = await attributesOf(queries, tenantId, userId)
  const held = new Set([...memberships.map(({ group }) => group), ...attributes.map(predicateOf)])
  return { gb: groupBits(row.slots, held), gv: row.slotsVersion }
}

/** Whether a token says anything of this group, or attribute. */
export const isSpokenOf = async (queries: Queries, tenantId: string, predicate: string) =>
  (await spokenOfIn(queries, tenantId)).has(predicate)

export async function spokenOfIn(queries: Queries, tenantId: string): Promise<ReadonlySet<string>> {
  const { slots = [] } = (await findAccessRules(queries, tenantId)) ?? {}
  return new Set(slots.filter(({ freeFrom }) => freeFrom === null).map(({ group }) => group))
}

/**
 * What is made of parts that are good may be too much as a whole. A gateway takes no state with such
 * rules in it, nor anything that comes later: not even that the tenant is suspended.
 */
function shapedRules(content: AccessRules): AccessRules {
  const result = v.safeParse(AccessRulesSchema, content)
  if (!result.success) {
    const [issue] = result.issues
    throw refusal(v.getDotPath(issue) ?? 'rules', issue.message)
  }
  const bytes = Buffer.byteLength(JSON.stringify(result.output))
  if (bytes > LIMITS.rulesBytesMax)
    throw refusal('rules', `at most ${LIMITS.rulesBytesMax} bytes as JSON; these have ${bytes}`)
  return result.output
}

/** What the shape does not say. Refuses with the field, and what it must be. */
function checkRules(
  { rules, networks = {} }: AccessRules,
  { hostnames }: Pick<Tenant, 'hostnames'>,
  { groups, services }: { groups: ReadonlySet<string>; services: ReadonlySet<string> },
): void {
  for (const [name, entries] of Object.entries(networks))
    for (const entry of entries)
      if (parseNetwork(entry) === undefined)
        throw refusal(`networks.${name}`, 'addresses or networks like 192.0.2.0/24')
  const hosts = new Set(rules.flatMap(({ host }) => host ?? []))
  const ofAllHosts = rules.filter(({ host }) => host === undefined).length
  if (rules.length + ofAllHosts * hosts.size > LIMITS.rulePlacesMax)
    throw refusal(
      'rules',
      `at most ${LIMITS.rulePlacesMax} when those without a hostname are counted for each of the ${hosts.size} hostnames that others name; name fewer hostnames, or one in more rules`,
    )
  const spellings = new Map<string, string>()
  for (const [at, { host, path, allow, deny = [] }] of rules.entries()) {
    const field = `rules.${at}`
    const normal = normalPrefix(path)
    if (normal === undefined)
      throw refusal(`${field}.path`, 'a plain path like /reports, without escapes or dots')
    const spelled = spellings.get(normal.toLowerCase()) ?? normal
    spellings.set(normal.toLowerCase(), spelled)
    if (spelled !== normal) throw refusal(`${field}.path`, `spelled like ${spelled} above`)
    if (host !== undefined && !hostnames.includes(host))
      throw refusal(`${field}.host`, `one of the tenant's hostnames: ${hostnames.join(', ')}`)
    for (const clause of [...allow, ...deny]) {
      for (const name of [clause.group, clause.not_group])
        if (name !== undefined && !groups.has(name))
          throw refusal(field, `about groups of this tenant; create ${name} first`)
      if (clause.service !== undefined && !services.has(clause.service))
        throw refusal(field, `about machines of this tenant; there is no ${clause.service}`)
      for (const name of [clause.network, clause.not_network])
        if (name !== undefined && !Object.hasOwn(networks, name))
          throw refusal(field, `about networks that are listed in networks; ${name} is not`)
    }
  }
}

const refusal = (field: string, wish: string) =>
  new Refusal('field_invalid', { field: field.split('.')[0] }, `"${field}" must be ${wish}.`)
