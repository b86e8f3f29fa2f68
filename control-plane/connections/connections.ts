/** What is kept of identity providers: draft until somebody has signed in for a test, then active. */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { PURPOSES } from '../keys/sealed-columns.ts'
import type { Vault } from '../keys/vault.ts'
import { readReceiverUrl } from '../outbound/public-address.ts'
import type { Queries } from '../store/engine.ts'
import {
  connectionsOf,
  countConnections,
  deleteConnection,
  deleteSomeIdentities,
  findConnection,
  insertConnection,
  updateConnection,
  type ConnectionRow,
} from '../store/queries/connections.ts'
import { findTenant, requireTenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { hasActive, policiesIn } from '../tenants/policies.ts'
import { takeUnmappedAttributes } from './mapped-attributes.ts'
import { presetProblem } from './presets.ts'
import { mapAnew, rereadBy, type Reread } from './reread-attributes.ts'
import { mapGroupsAnew, rereadGroupsBy, type RereadGroups } from './reread-groups.ts'
import { takeUnmapped } from './unmapped-groups.ts'

/** Without its secret. */
export type Connection = Readonly<Omit<ConnectionRow, 'clientSecretSealed'>>

type NewConnection = Readonly<
  Pick<
    ConnectionRow,
    'preset' | 'name' | 'issuer' | 'clientId' | 'hostedDomain' | 'createsPeople' | 'mfaValues'
  >
> &
  Partial<
    Pick<ConnectionRow, 'organization' | 'signsOut' | 'attributes' | 'groupsClaim' | 'groups'>
  > & {
    readonly clientSecret: string
  }

type ConnectionPatch = Partial<Omit<NewConnection, 'preset'>>

/** Who is asked, and as whom: with another one of these, all that was tested is worth nothing. */
const IDENTIFYING = ['issuer', 'clientId', 'clientSecret', 'hostedDomain', 'organization'] as const
const FIELDS = {
  issuer: 'issuer',
  clientId: 'client_id',
  clientSecret: 'client_secret',
  hostedDomain: 'hosted_domain',
  organization: 'organization',
} as const

export type Connections = ReturnType<typeof createConnections>

export function createConnections({ store, vault }: { store: Store; vault: Vault }) {
  const seal = (secret: string, row: Pick<ConnectionRow, 'tenantId' | 'connectionId'>) =>
    vault.seal(secret, PURPOSES.connection(row))

  async function alter(
    tenantId: string,
    connectionId: string,
    actor: Actor,
    action: string,
    work: (change: Change, before: ConnectionRow) => Promise<Record<string, unknown> | undefined>,
  ): Promise<Connection> {
    return store.change(async (change) => {
      const before = await requireConnection(change.queries, tenantId, connectionId)
      const content = await work(change, before)
      if (content === undefined) return openPartOf(before)
      const whole = { connection_id: connectionId, ...content }
      await change.audit(actor, { action, tenantId, content: whole })
      return openPartOf(await requireConnection(change.queries, tenantId, connectionId))
    })
  }

  return {
    async create(tenantId: string, wished: NewConnection, actor: Actor): Promise<Connection> {
      checkSettings(wished)
      const {
        clientSecret,
        organization = null,
        signsOut = false,
        attributes = [],
        groupsClaim = null,
        groups = [],
        ...open
      } = wished
      const connectionId = newConnectionId()
      return store.change(async (change) => {
        const clientSecretSealed = seal(clientSecret, { tenantId, connectionId })
        const own = {
          organization,
          signsOut,
          attributes,
          groupsClaim,
          groups,
          connectionId,
          tenantId,
          clientSecretSealed,
        }
        return openPartOf(await addDraft(change, { ...open, ...own }, actor))
      })
    },

    async get(tenantId: string, connectionId: string): Promise<Connection> {
      return openPartOf(await requireConnection(store.read, tenantId, connectionId))
    },

    async list(tenantId: string): Promise<readonly Connection[]> {
      return (await connectionsOf(store.read, tenantId)).map(openPartOf)
    },

    /** On the sign-in page. */
    async active(tenantId: string): Promise<readonly Connection[]> {
      const all = await connectionsOf(store.read, tenantId)
      return all.filter(({ state }) => state === 'active').map(openPartOf)
    },

    /** For the flow alone; undefined: this tenant has no such connection. */
    async withSecret(tenantId: string, connectionId: string) {
      const row = await findConnection(store.read, tenantId, connectionId)
      if (row === undefined) return undefined
      const clientSecret = vault.open(row.clientSecretSealed, PURPOSES.connection(row))
      return { ...openPartOf(row), clientSecret }
    },

    /** With another issuer, client or domain it is a draft again, and nobody comes in by it. */
    async patch(
      tenantId: string,
      connectionId: string,
      patch: ConnectionPatch,
      actor: Actor,
    ): Promise<Connection> {
      const action = 'connection.changed'
      let reread: Reread | undefined
      let rereadGroups: RereadGroups | undefined
      const now = await alter(tenantId, connectionId, actor, action, async (change, before) => {
        const { clientSecret, ...open } = patch
        const changed = (Object.keys(open) as (keyof typeof open)[]).filter(
          (name) => JSON.stringify(open[name]) !== JSON.stringify(before[name]),
        )
        const all = [...changed, ...(clientSecret === undefined ? [] : (['clientSecret'] as const))]
        if (all.length === 0) return undefined
        const identifying = IDENTIFYING.find((name) => all.includes(name))
        const isOther = identifying !== undefined
        if (before.preset !== 'saml') checkSettings({ ...before, ...open })
        else if (open.signsOut === true)
          throw invalid('signs_out', 'must be false: SAML has no sign-out here')
        else if ((open.groupsClaim ?? null) !== null || (open.groups ?? []).length > 0)
          throw invalid('groups_claim', 'is not for SAML: change its groups_attribute')
        else if (isOther) throw invalid(FIELDS[identifying], 'is not for SAML: change its metadata')
        if (isOther) await requireAnotherWay(change.queries, before)
        reread = await rereadBy(change.queries, before, open)
        const wished = { ...before, ...open }
        rereadGroups = await rereadGroupsBy(
          change.queries,
          tenantId,
          { ...before, from: before.groupsClaim },
          { ...wished, from: wished.groupsClaim },
        )
        await updateConnection(change.queries, tenantId, connectionId, {
          ...open,
          ...(reread !== undefined && { attributes: reread.meanwhile }),
          ...(rereadGroups !== undefined && { groups: rereadGroups.meanwhile }),
          ...(clientSecret !== undefined && { clientSecretSealed: seal(clientSecret, before) }),
          ...(isOther && { state: 'draft', testedAt: null, organizationId: null }),
          updatedAt: change.nowMs,
        })
        return { changed: all, ...(isOther && { state: 'draft' }) }
      })
      if ('groups' in patch || 'groupsClaim' in patch) await takeUnmapped(store, tenantId, actor)
      await takeUnmappedAttributes(store, tenantId, actor)
      const found = async () =>
        openPartOf(await requireConnection(store.read, tenantId, connectionId))
      if (rereadGroups !== undefined) {
        const write = (queries: Queries, groups: ConnectionRow['groups']) =>
          updateConnection(queries, tenantId, connectionId, { groups })
        await mapGroupsAnew(store, now, rereadGroups, write, actor)
      }
      if (reread !== undefined) await mapAnew(store, await found(), reread, actor)
      return reread === undefined && rereadGroups === undefined ? now : found()
    },

    /** Whoever comes in by it may be very many: they go some at a time, and others' changes between. */
    async remove(tenantId: string, connectionId: string, actor: Actor): Promise<void> {
      const most = LIMITS.rowsDeletedAtOnceMax
      const takeSome = async ({ queries }: Change) =>
        (await deleteSomeIdentities(queries, tenantId, connectionId, most)) === most
      const close = async (change: Change) => {
        const { queries, nowMs } = change
        const before = await requireConnection(queries, tenantId, connectionId)
        await requireAnotherWay(queries, before)
        const isMore = await takeSome(change)
        if (isMore) {
          // nobody is taken for somebody new meanwhile, and who is interrupted removes it again
          const closed = { state: 'draft', testedAt: null, updatedAt: nowMs } as const
          await updateConnection(queries, tenantId, connectionId, closed)
        } else {
          await deleteConnection(queries, tenantId, connectionId)
          const content = { connection_id: connectionId }
          await change.audit(actor, { action: 'connection.removed', tenantId, content })
        }
        return isMore
      }
      while (await store.change(close));
      await takeUnmapped(store, tenantId, actor)
      await takeUnmappedAttributes(store, tenantId, actor)
    },

    /** Somebody has come back from there, with these settings: `asTested` is when they were set. */
    async noteTested(tenantId: string, connectionId: string, asTested: number, actor: Actor) {
      return alter(tenantId, connectionId, actor, 'connection.tested', async (change, before) => {
        if (before.updatedAt !== asTested) return undefined
        await updateConnection(change.queries, tenantId, connectionId, {
          state: before.state === 'draft' ? 'tested' : before.state,
          testedAt: change.nowMs,
        })
        return {}
      })
    },

    /**
     * The first membership that is shown says which organization of that name is meant; the gate knows
     * it from then on. False: another one has been shown meanwhile.
     */
    async keepOrganization(asked: Connection, organizationId: unknown): Promise<boolean> {
      const { tenantId, connectionId, organization, updatedAt } = asked
      if (organization === null || asked.organizationId !== null) return true
      if (typeof organizationId !== 'string') return false
      return store.change(async ({ queries }) => {
        const now = await findConnection(queries, tenantId, connectionId)
        if (now?.updatedAt !== updatedAt) return false
        if (now.organizationId !== null) return now.organizationId === organizationId
        return updateConnection(queries, tenantId, connectionId, { organizationId })
      })
    },

    activate: (tenantId: string, connectionId: string, actor: Actor) =>
      alter(tenantId, connectionId, actor, 'connection.activated', async (change, before) => {
        if (before.state === 'active') return undefined
        if (before.state === 'draft') throw new Refusal('connection_not_tested')
        const updatedAt = change.nowMs
        await updateConnection(change.queries, tenantId, connectionId, {
          state: 'active',
          updatedAt,
        })
        return {}
      }),

    /** Nobody comes in by it any more; what was tested stays so. */
    deactivate: (tenantId: string, connectionId: string, actor: Actor) =>
      alter(tenantId, connectionId, actor, 'connection.deactivated', async (change, before) => {
        if (before.state !== 'active') return undefined
        await requireAnotherWay(change.queries, before)
        const changes = { state: 'tested', updatedAt: change.nowMs } as const
        await updateConnection(change.queries, tenantId, connectionId, changes)
        return {}
      }),
  }
}

type Drafted = Omit<
  ConnectionRow,
  'state' | 'isRequired' | 'testedAt' | 'createdAt' | 'updatedAt' | 'organizationId'
>

/** Whatever kind it is of. */
export async function addDraft(
  { queries, nowMs, audit }: Change,
  wished: Drafted,
  actor: Actor,
): Promise<ConnectionRow> {
  const { tenantId, connectionId, preset, issuer } = wished
  await requireTenant(queries, tenantId)
  if ((await countConnections(queries, tenantId)) >= LIMITS.connectionsPerTenantMax)
    throw new Refusal('connections_exhausted')
  const row: ConnectionRow = {
    ...wished,
    ...{ state: 'draft', isRequired: false, testedAt: null, organizationId: null },
    ...{ createdAt: nowMs, updatedAt: nowMs },
  }
  await insertConnection(queries, row)
  const content = { connection_id: connectionId, preset, issuer }
  await audit(actor, { action: 'connection.created', tenantId, content })
  return row
}

function checkSettings(wished: Parameters<typeof presetProblem>[0]) {
  const { issuer } = wished
  try {
    const url = readReceiverUrl(issuer)
    const isPlain = url.search === '' && !issuer.includes('?')
    if (!isPlain || (url.href !== issuer && url.href !== `${issuer}/`)) throw new Error('spelling')
  } catch {
    throw invalid('issuer', 'must be the issuer as the provider writes it: https:// and no query')
  }
  const problem = presetProblem(wished)
  if (problem !== undefined) throw invalid(problem.field, problem.wish)
}

const invalid = (field: string, wish: string) =>
  new Refusal('field_invalid', { field }, `"${field}" ${wish}.`)

export const newConnectionId = () => `con_${randomBytes(16).toString('hex')}`

export async function requireConnection(
  queries: Queries,
  tenantId: string,
  connectionId: string,
): Promise<ConnectionRow> {
  const row = await findConnection(queries, tenantId, connectionId)
  if (row !== undefined) return row
  const isTenant = (await findTenant(queries, tenantId)) !== undefined
  throw new Refusal(isTenant ? 'connection_not_found' : 'tenant_not_found')
}

/** Where passwords are for emergencies alone, the last way in is not closed behind everybody. */
export async function requireAnotherWay(queries: Queries, closing: ConnectionRow): Promise<void> {
  const { tenantId, connectionId, state } = closing
  if (state !== 'active' || (await hasActive(queries, tenantId, connectionId))) return
  const { password } = await policiesIn(queries, tenantId)
  if (password.sign_in === 'break_glass') throw new Refusal('connection_required')
}

function openPartOf({ clientSecretSealed: _sealed, ...open }: ConnectionRow): Connection {
  return open
}
