/**
 * What a tenant's administrators have decided about signing in. The lengths of a session are the
 * tenant's own settings, which gateways enforce; the session policy shows and sets the same ones.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { revokeIn } from '../sessions/revocations.ts'
import { demandedFrom, demandedNext, type Demanded } from '../policy/demanded.ts'
import { DEFAULT_POLICIES, type Policies, type PolicyName } from '../policy/policies.ts'
import { changeInBatches } from '../store/change-in-batches.ts'
import { findGroup } from '../store/queries/access.ts'
import { connectionsOf } from '../store/queries/connections.ts'
import { findPolicy, policiesOf, upsertPolicy } from '../store/queries/policies.ts'
import { findScimGroupByName } from '../store/queries/scim.ts'
import { deleteSignUpsOf } from '../store/queries/sign-ups.ts'
import { findUserDirectory } from '../store/queries/user-directories.ts'
import { aliveCountsAfter, aliveSids } from '../store/queries/sessions.ts'
import { findTenant, updateTenant, type Tenant } from '../store/queries/tenants.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { createAlter } from './alter.ts'
import { toldChange, withFewEntries, withoutLongLists } from './told-changes.ts'

const HAS_DIRECTORY =
  'This tenant has a user directory, which alone says who its people are. Disconnect it first, or leave sign-up off.'

export type TenantPolicies = ReturnType<typeof createPolicies>

/** What an administrator has decided; what is left out stays as it is with everybody. */
export type PolicyInput<Name extends PolicyName> = Partial<Policies[Name]>

export function createPolicies({ store, clock }: { store: Store; clock: Clock }) {
  const alter = createAlter(store)

  /** The oldest too many; whoever is forgotten by a crash ends with that person's next sign-in. */
  async function endSurplus(tenantId: string, most: number): Promise<void> {
    const [{ read }, atOnce] = [store, LIMITS.peopleCountedAtOnceMax]
    const sids: string[] = []
    for (let after: string | undefined = ''; after !== undefined;) {
      const nowMs = clock.nowMs()
      const people = await aliveCountsAfter(read, tenantId, after, nowMs, atOnce)
      for (const { userId, alive } of people)
        if (alive > most)
          sids.push(...(await aliveSids(read, tenantId, userId, nowMs, alive - most)))
      after = people.at(-1)?.userId
      await breathe()
    }
    await changeInBatches(store, sids, (change, sid) =>
      revokeIn(change, tenantId, { sid }, 'surplus'),
    )
  }

  return {
    of: (tenantId: string): Promise<Policies> => policiesIn(store.read, tenantId),

    /** Whether administrators have decided this one, or only the defaults hold. */
    async isDecided(tenantId: string, name: PolicyName): Promise<boolean> {
      return (await findPolicy(store.read, tenantId, name)) !== undefined
    },

    /** What devices have had to meet, and since when. */
    demandedOfDevices: (tenantId: string): Promise<readonly Demanded[]> =>
      demandedIn(store.read, tenantId),

    async put<Name extends PolicyName>(
      tenantId: string,
      name: Name,
      input: PolicyInput<Name>,
      actor: Actor,
    ): Promise<Policies[Name]> {
      let settings: Policies[Name] | undefined
      let endsBeyond: number | undefined
      await alter(tenantId, actor, `policy.${name}.changed`, async (change) => {
        const before = await policiesIn(change.queries, tenantId)
        const put = (settings = putTogether(name, before, input))
        const changed = Object.keys(put).filter((key) => isOther(before[name], put, key))
        const known = await findPolicy(change.queries, tenantId, name)
        if (changed.length === 0 && known !== undefined) return undefined
        if (isConnectionRequired(name, put) && !(await hasActive(change.queries, tenantId)))
          throw new Refusal('connection_not_active')
        if (name === 'password')
          await applySignUp(change, tenantId, put as Policies['password'], actor)
        const demanded = await demandedIn(change.queries, tenantId)
        await upsertPolicy(change.queries, {
          tenantId,
          name,
          settings: { ...put },
          updatedAt: change.nowMs,
          ...(name === 'device' && {
            demanded: demandedNext(
              demanded,
              before.device,
              put as Policies['device'],
              change.nowMs,
            ),
          }),
        })
        if (name === 'session') {
          const session = put as Policies['session']
          await applySession(change, tenantId, session)
          const most = keptOf(session)
          if (most < keptOf(before.session)) endsBeyond = most
        }
        const { from: was, to, lists } = toldChange({ ...before[name] }, { ...put })
        await change.emit(`policy.${name}.updated`, tenantId, {
          settings: withoutLongLists({ ...put }),
          changed,
          ...(lists && { lists: withFewEntries(lists) }),
        })
        return { settings: to, changed, ...(lists && { lists }), was }
      })
      if (settings === undefined) throw new Error(`the ${name} policy was not put`)
      if (endsBeyond !== undefined) await endSurplus(tenantId, endsBeyond)
      return settings
    },
  }
}

/** What is put says everything: what it leaves out has its default, a session's lengths stay. */
export function putTogether<Name extends PolicyName>(
  name: Name,
  before: Policies,
  input: PolicyInput<Name>,
): Policies[Name] {
  const base = name === 'session' ? before[name] : DEFAULT_POLICIES[name]
  return { ...base, ...input }
}

/** Of a policy that was saved before this was kept: since then. */
export async function demandedIn(queries: Queries, tenantId: string): Promise<readonly Demanded[]> {
  const row = await findPolicy(queries, tenantId, 'device')
  if (row === undefined) return []
  const settings: Policies['device'] = { ...DEFAULT_POLICIES.device, ...row.settings }
  return row.demanded.length > 0 ? row.demanded : [demandedFrom(settings, row.updatedAt)]
}

const isConnectionRequired = (name: PolicyName, put: object) =>
  name === 'password' && (put as Policies['password']).sign_in === 'break_glass'

/** Whether people can come in by one, other than this. */
export async function hasActive(
  queries: Queries,
  tenantId: string,
  otherThan?: string,
): Promise<boolean> {
  const all = await connectionsOf(queries, tenantId)
  return all.some(({ connectionId, state }) => state === 'active' && connectionId !== otherThan)
}

/** As they are inside a change. */
export async function policiesIn(queries: Queries, tenantId: string): Promise<Policies> {
  const tenant = await findTenant(queries, tenantId)
  if (tenant === undefined) throw new Refusal('tenant_not_found')
  const decided = new Map<PolicyName, object>(
    (await policiesOf(queries, tenantId)).map((row) => [row.name, row.settings]),
  )
  const settled = <Name extends PolicyName>(name: Name): Policies[Name] => ({
    ...DEFAULT_POLICIES[name],
    ...decided.get(name),
  })
  return {
    password: settled('password'),
    lockout: settled('lockout'),
    mfa: settled('mfa'),
    network: settled('network'),
    device: settled('device'),
    session: { ...settled('session'), ...lengthsOf(tenant) },
  }
}

function lengthsOf(tenant: Tenant) {
  return {
    max_session_seconds: tenant.maxSessionSeconds,
    idle_seconds: tenant.idleSeconds,
    session_binding: tenant.sessionBinding,
  }
}

/** How many sessions of a person the policy leaves them when it begins to hold. */
function keptOf({ concurrent_max: most, when_full: whenFull }: Policies['session']): number {
  return most === null || whenFull === 'refuse' ? Infinity : most
}

/** Whoever waits for an account waits no more once it is closed; a tenant's own database has its people. */
async function applySignUp(
  change: Change,
  tenantId: string,
  { sign_up: signUp, sign_up_groups: groups }: Policies['password'],
  actor: Actor,
) {
  const { queries } = change
  for (const group of groups) await requireOwnGroup(queries, tenantId, group)
  if (signUp !== 'off') {
    if ((await findUserDirectory(queries, tenantId)) !== undefined)
      throw new Refusal('field_invalid', { field: 'sign_up' }, HAS_DIRECTORY)
    return
  }
  const requests = await deleteSignUpsOf(queries, tenantId)
  if (requests > 0)
    await change.audit(actor, { action: 'sign_up.closed', tenantId, content: { requests } })
}

/** One that people are put into here: of what a provider pushes it alone says who is in it. */
async function requireOwnGroup(queries: Queries, tenantId: string, group: string) {
  const refuse = (detail: string) =>
    new Refusal('field_invalid', { field: 'sign_up_groups' }, `"sign_up_groups": ${detail}`)
  if ((await findGroup(queries, tenantId, group)) === undefined)
    throw refuse(`there is no group called ${group}. Create it first.`)
  if ((await findScimGroupByName(queries, tenantId, group)) !== undefined)
    throw refuse(`${group} is managed by your provider (SCIM). Choose another group.`)
}

/** Running sessions follow: a shorter length ends them at the gateways. */
async function applySession(change: Change, tenantId: string, settings: Policies['session']) {
  await updateTenant(change.queries, tenantId, {
    maxSessionSeconds: settings.max_session_seconds,
    idleSeconds: settings.idle_seconds,
    sessionBinding: settings.session_binding,
  })
}

function isOther(before: object, after: object, key: string): boolean {
  const valueOf = (settings: object) => JSON.stringify((settings as Record<string, unknown>)[key])
  return valueOf(before) !== valueOf(after)
}
