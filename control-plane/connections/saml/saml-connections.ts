/**
 * What is kept of SAML connections: what their provider's metadata says, and what its attributes mean
 * here. Where metadata comes from an address it is read anew each day; what it changes is in the audit
 * trail. It never makes another provider of one: that is for an administrator, and for a new test.
 */
import { PURPOSES } from '../../keys/sealed-columns.ts'
import type { Vault } from '../../keys/vault.ts'
import { readReceiverUrl } from '../../outbound/public-address.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import {
  hasIdentities,
  updateConnection,
  type ConnectionRow,
} from '../../store/queries/connections.ts'
import {
  findSamlConnection,
  insertSamlConnection,
  updateSamlConnection,
  type SamlConnectionRow,
} from '../../store/queries/saml.ts'
import { requireTenant } from '../../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../../store/store.ts'
import type { Queries } from '../../store/engine.ts'
import type { Clock } from '../../../shared/clock.ts'
import {
  addDraft,
  newConnectionId,
  requireAnotherWay,
  requireConnection,
  type Connection,
} from '../connections.ts'
import { ProviderProblem, type ProviderClient } from '../provider-client.ts'
import { readCertificate, type SigningCertificate } from './certificates.ts'
import { readMetadata, type ProviderMetadata } from './metadata.ts'
import { differences } from './metadata-differences.ts'
import { createOwnKey } from './own-key.ts'
import { takeUnmappedAttributes } from '../mapped-attributes.ts'
import { mapAnew, rereadBy, type Reread } from '../reread-attributes.ts'
import { mapGroupsAnew, rereadGroupsBy, type RereadGroups } from '../reread-groups.ts'
import { takeUnmapped } from '../unmapped-groups.ts'

type OfConnection = Pick<ConnectionRow, 'name' | 'createsPeople' | 'mfaValues' | 'attributes'>
const OF_CONNECTION = ['name', 'createsPeople', 'mfaValues', 'attributes'] as const
type OfSaml = Pick<
  SamlConnectionRow,
  | 'metadataUrl'
  | 'signsRequests'
  | 'subjectAttribute'
  | 'emailAttribute'
  | 'nameAttribute'
  | 'groupsAttribute'
  | 'groups'
>
const OF_SAML = [
  'metadataUrl',
  'signsRequests',
  'subjectAttribute',
  'emailAttribute',
  'nameAttribute',
  'groupsAttribute',
  'groups',
] as const

const { samlMetadataEveryMs: READ_EVERY_MS } = LIMITS

/** `metadata` is its text; null: it is read from its address. */
export type NewSamlConnection = Readonly<OfConnection & OfSaml & { metadata: string | null }>
type SamlPatch = Partial<NewSamlConnection>

export interface SamlConnection
  extends
    Connection,
    Omit<SamlConnectionRow, 'groups' | 'certificates' | 'connectionId' | 'tenantId'> {
  readonly certificates: readonly SigningCertificate[]
}

export type SamlConnections = ReturnType<typeof createSamlConnections>

interface SamlWorld {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly client: Pick<ProviderClient, 'text'>
}

export function createSamlConnections({ store, vault, clock, client }: SamlWorld) {
  /** What is wrong with it is said of the field that it came by. */
  async function metadataOf({
    metadata,
    metadataUrl,
  }: Pick<SamlPatch, 'metadata' | 'metadataUrl'>): Promise<ProviderMetadata | undefined> {
    const isUploaded = metadata !== undefined && metadata !== null
    const isThere = metadataUrl !== undefined && metadataUrl !== null
    if (isUploaded && isThere)
      throw invalid('metadata', 'must be null where there is a metadata_url: give one of both')
    try {
      if (isUploaded) return readMetadata(metadata, clock.nowMs())
      return isThere ? await fetched(metadataUrl) : undefined
    } catch (error) {
      if (!(error instanceof ProviderProblem)) throw error
      const field = isUploaded ? 'metadata' : 'metadata_url'
      throw new Refusal('field_invalid', { field }, `"${field}" cannot be used: ${error.message}.`)
    }
  }

  async function fetched(metadataUrl: string): Promise<ProviderMetadata> {
    try {
      readReceiverUrl(metadataUrl)
    } catch {
      throw new ProviderProblem('it must be an https:// address of a public host')
    }
    const headers = { accept: 'application/samlmetadata+xml, application/xml;q=0.9, */*;q=0.1' }
    return readMetadata(await client.text({ url: metadataUrl, headers }), clock.nowMs())
  }

  async function view(queries: Queries, tenantId: string, connectionId: string) {
    const connection = await requireConnection(queries, tenantId, connectionId)
    const row = await findSamlConnection(queries, tenantId, connectionId)
    if (connection.preset !== 'saml' || row === undefined) throw new Refusal('connection_not_found')
    return { connection, row, whole: wholeOf(connection, row) }
  }

  /** `metadata`: undefined where it stays. Without a patch it is the provider's own word, by its address. */
  async function apply(
    change: Change,
    { connection, row }: Awaited<ReturnType<typeof view>>,
    metadata: ProviderMetadata | undefined,
    wished: { readonly patch: SamlPatch; readonly key: OwnKey | undefined } | undefined,
  ) {
    const { queries, nowMs } = change
    const { patch, key } = wished ?? { patch: {}, key: undefined }
    const { tenantId, connectionId } = connection
    const changed = changedOf({ connection, row }, patch)
    const said = metadata && differences({ connection, row }, metadata)
    if (changed.length === 0 && said?.content === undefined) return undefined
    const isOther = wished !== undefined && isAnother(changed, said)
    requireGroupsAttribute({ ...row, ...patch })
    // what a value has meant so far is somebody's account
    if (
      changed.includes('subjectAttribute') &&
      (await hasIdentities(queries, tenantId, connectionId))
    )
      throw invalid(
        'subject_attribute',
        'is in use: people sign in by it. Create another connection',
      )
    if (isOther) await requireAnotherWay(queries, connection)
    const url = patch.metadataUrl === undefined ? row.metadataUrl : patch.metadataUrl
    const readAgainAt = metadata === undefined ? row.metadataDueAt : nowMs + READ_EVERY_MS
    await updateSamlConnection(queries, tenantId, connectionId, {
      ...only(OF_SAML, patch),
      metadataDueAt: url === null ? null : readAgainAt,
      ...(metadata !== undefined && {
        ssoUrl: metadata.ssoUrl,
        certificates: metadata.certificates.map(({ der }) => der),
        ...{ metadataAt: nowMs, metadataProblem: null },
      }),
      ...(key !== undefined && { ownCertificate: key.certificate }),
    })
    await updateConnection(queries, tenantId, connectionId, {
      ...only(OF_CONNECTION, patch),
      issuer: metadata?.entityId ?? connection.issuer,
      ...(key !== undefined && {
        clientSecretSealed: vault.seal(key.privateKeyPem, PURPOSES.connection(connection)),
      }),
      ...(isOther && { state: 'draft', testedAt: null }),
      // a key more or less changes nothing for those who are on their way
      ...((isOther || changed.length > 0) && { updatedAt: nowMs }),
    })
    return { changed, ...said?.content, ...(isOther && { state: 'draft' }) }
  }

  async function alter(
    tenantId: string,
    connectionId: string,
    actor: Actor,
    action: string,
    work: (change: Change, before: Awaited<ReturnType<typeof view>>) => ReturnType<typeof apply>,
  ): Promise<SamlConnection> {
    return store.change(async (change) => {
      const before = await view(change.queries, tenantId, connectionId)
      const content = await work(change, before)
      if (content === undefined) return before.whole
      const all = { connection_id: connectionId, ...content }
      await change.audit(actor, { action, tenantId, content: all })
      return (await view(change.queries, tenantId, connectionId)).whole
    })
  }

  return {
    async create(tenantId: string, wished: NewSamlConnection, actor: Actor) {
      await requireTenant(store.read, tenantId)
      requireGroupsAttribute(wished)
      const metadata = await metadataOf(wished)
      if (metadata === undefined)
        throw invalid('metadata', 'or metadata_url is required: the metadata of your provider')
      const key = wished.signsRequests ? await createOwnKey() : undefined
      const connectionId = newConnectionId()
      const named = { tenantId, connectionId }
      return store.change(async (change) => {
        const { queries, nowMs } = change
        const connection = await addDraft(
          change,
          {
            ...only(OF_CONNECTION, wished),
            ...named,
            ...{ preset: 'saml', issuer: metadata.entityId, clientId: '', hostedDomain: null },
            ...{ organization: null, signsOut: false, groupsClaim: null, groups: [] },
            clientSecretSealed: vault.seal(key?.privateKeyPem ?? '', PURPOSES.connection(named)),
          },
          actor,
        )
        const row: SamlConnectionRow = {
          ...only(OF_SAML, wished),
          ...named,
          ssoUrl: metadata.ssoUrl,
          certificates: metadata.certificates.map(({ der }) => der),
          ownCertificate: key?.certificate ?? null,
          metadataAt: nowMs,
          metadataDueAt: wished.metadataUrl === null ? null : nowMs + READ_EVERY_MS,
          metadataProblem: null,
        }
        await insertSamlConnection(queries, row)
        return wholeOf(connection, row)
      })
    },

    async get(tenantId: string, connectionId: string): Promise<SamlConnection> {
      return (await view(store.read, tenantId, connectionId)).whole
    },

    /** With another provider it is a draft again, and nobody comes in by it. */
    async patch(tenantId: string, connectionId: string, wished: SamlPatch, actor: Actor) {
      const { row } = await view(store.read, tenantId, connectionId)
      const metadata = await metadataOf(wished)
      // what was uploaded is not what an address says
      const isUploaded = typeof wished.metadata === 'string'
      const patch = isUploaded ? { ...wished, metadataUrl: null } : wished
      const needsKey = patch.signsRequests === true && row.ownCertificate === null
      const key = needsKey ? await createOwnKey() : undefined
      let reread: Reread | undefined
      let rereadGroups: RereadGroups | undefined
      const action = 'connection.changed'
      const now = await alter(tenantId, connectionId, actor, action, async (change, before) => {
        const issuer = metadata?.entityId ?? before.connection.issuer
        reread = await rereadBy(change.queries, before.connection, { ...patch, issuer })
        const { row } = before
        const { groupsAttribute: from = row.groupsAttribute, groups = row.groups } = patch
        requireGroupsAttribute({ groupsAttribute: from, groups })
        const was = { issuer: before.connection.issuer, from: row.groupsAttribute }
        const wish = { issuer, from, groups }
        const known = { ...was, groups: row.groups }
        rereadGroups = await rereadGroupsBy(change.queries, tenantId, known, wish)
        const meanwhile = {
          ...(reread && { attributes: reread.meanwhile }),
          ...(rereadGroups && { groups: rereadGroups.meanwhile }),
        }
        return apply(change, before, metadata, { patch: { ...patch, ...meanwhile }, key })
      })
      await takeUnmapped(store, tenantId, actor)
      await takeUnmappedAttributes(store, tenantId, actor)
      if (rereadGroups !== undefined) {
        const write = (queries: Queries, groups: SamlConnectionRow['groups']) =>
          updateSamlConnection(queries, tenantId, connectionId, { groups })
        await mapGroupsAnew(store, now, rereadGroups, write, actor)
      }
      const mapped = (await view(store.read, tenantId, connectionId)).whole
      if (reread === undefined) return mapped
      await mapAnew(store, mapped, reread, actor)
      return (await view(store.read, tenantId, connectionId)).whole
    },

    /** Now, because somebody asks for it; what is wrong is an answer to them. */
    async refresh(tenantId: string, connectionId: string, actor: Actor) {
      const { row } = await view(store.read, tenantId, connectionId)
      if (row.metadataUrl === null)
        throw invalid('metadata_url', 'is null: the metadata of this connection was uploaded')
      const metadata = await metadataOf({ metadataUrl: row.metadataUrl })
      requireSame(await view(store.read, tenantId, connectionId), metadata)
      return refreshed(tenantId, connectionId, row.metadataUrl, metadata, actor)
    },

    /** Its turn has come. What is wrong is written down, and what was known goes on to count. */
    async refreshDue(row: SamlConnectionRow, actor: Actor): Promise<void> {
      const { tenantId, connectionId, metadataUrl } = row
      if (metadataUrl === null) return
      try {
        const metadata = await fetched(metadataUrl)
        const before = await view(store.read, tenantId, connectionId)
        if (before.connection.issuer !== metadata.entityId)
          throw new ProviderProblem('the metadata is of another provider (entityID)')
        await refreshed(tenantId, connectionId, metadataUrl, metadata, actor)
      } catch (error) {
        if (!(error instanceof ProviderProblem)) throw error
        const { message } = error
        await failed(row, message, actor)
      }
    },
  }

  async function refreshed(
    tenantId: string,
    connectionId: string,
    metadataUrl: string,
    metadata: ProviderMetadata | undefined,
    actor: Actor,
  ) {
    return alter(
      tenantId,
      connectionId,
      actor,
      'connection.metadata_changed',
      async (change, before) => {
        const { row } = before
        // given another address meanwhile: what was read is of the one before
        if (row.metadataUrl !== metadataUrl || metadata === undefined) return undefined
        const content = await apply(change, before, metadata, undefined)
        if (content === undefined)
          await updateSamlConnection(change.queries, tenantId, connectionId, {
            ...{ metadataAt: change.nowMs, metadataProblem: null },
            metadataDueAt: change.nowMs + READ_EVERY_MS,
          })
        return content
      },
    )
  }

  async function failed({ tenantId, connectionId }: SamlConnectionRow, why: string, actor: Actor) {
    await store.change(async (change) => {
      const { queries, nowMs } = change
      const before = await findSamlConnection(queries, tenantId, connectionId)
      if (before === undefined) return
      await updateSamlConnection(queries, tenantId, connectionId, {
        metadataDueAt: nowMs + LIMITS.samlMetadataAgainMs,
        metadataProblem: why,
      })
      // once for each thing that is wrong, and not each hour
      if (before.metadataProblem === why) return
      const content = { connection_id: connectionId, reason: why }
      await change.audit(actor, { action: 'connection.metadata_failed', tenantId, content })
    })
  }
}

type OwnKey = Awaited<ReturnType<typeof createOwnKey>>
type Rows = { readonly connection: ConnectionRow; readonly row: SamlConnectionRow }

function wholeOf(
  { clientSecretSealed: _sealed, ...connection }: ConnectionRow,
  { certificates, ...row }: SamlConnectionRow,
): SamlConnection {
  const read = certificates.map(readCertificate).filter((one) => one !== undefined)
  return { ...connection, ...row, certificates: read }
}

function requireGroupsAttribute({
  groupsAttribute,
  groups,
}: Pick<OfSaml, 'groupsAttribute' | 'groups'>) {
  if (groups.length > 0 && groupsAttribute === null)
    throw invalid('groups_attribute', 'is required where groups are mapped: it names them')
}

function requireSame({ connection }: Rows, metadata: ProviderMetadata | undefined) {
  if (metadata?.entityId === connection.issuer) return
  throw invalid('metadata_url', 'is of another provider now: change the connection to take it')
}

function changedOf({ connection, row }: Rows, patch: SamlPatch): readonly string[] {
  const before: Readonly<Record<string, unknown>> = { ...connection, ...row }
  return [...OF_CONNECTION, ...OF_SAML].filter(
    (name) =>
      patch[name] !== undefined && JSON.stringify(patch[name]) !== JSON.stringify(before[name]),
  )
}

/** All that was tested was about another provider, or other people. */
const isAnother = (
  changed: readonly string[],
  said: ReturnType<typeof differences> | undefined,
): boolean => changed.some((name) => NAMES_PEOPLE.has(name)) || said?.isOther === true

/** Who somebody is, and whose account they are connected to by their address. */
const NAMES_PEOPLE: ReadonlySet<string> = new Set(['subjectAttribute', 'emailAttribute'])

function only<const Name extends string, Of extends Partial<Record<Name, unknown>>>(
  names: readonly Name[],
  of: Of,
): Pick<Of, Name> {
  const given = names.filter((name) => of[name] !== undefined).map((name) => [name, of[name]])
  return Object.fromEntries(given) as Pick<Of, Name>
}

const invalid = (field: string, wish: string) =>
  new Refusal('field_invalid', { field }, `"${field}" ${wish}.`)
