/**
 * The key of the whole installation that lists of gateways are signed with. A connector learns its
 * public half when it joins and believes no other, so a list can come from anywhere. It is replaced
 * in two steps: lists name the next key while this one still signs; once connectors have it on their
 * disks it takes this one's place, which leaves its word for those that were away
 * (.docs/decisions/0103-the-key-that-connectors-trust.md).
 */
import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import {
  GATEWAY_LIST_TYPE,
  HANDOVER_TYPE,
  type GatewayList,
  type Handover,
} from '../../shared/connector/requests.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { factPurpose } from '../keys/master-key.ts'
import type { Vault } from '../keys/vault.ts'
import { eq, inArray } from '../store/drizzle.ts'
import type { Queries } from '../store/engine.ts'
import {
  connectorsWithoutAuthority,
  countConnectorsWithoutAuthority,
} from '../store/queries/connectors.ts'
import { schema } from '../store/schema.ts'
import type { Actor, Store } from '../store/store.ts'
import { raiseListNumber } from './gateway-doors.ts'

const CURRENT = 'connector_authority'
const NEXT = 'connector_authority_next'
/** Not secret: each is signed by a key that has signed before. */
const HANDOVERS = 'connector_authority_handovers'
const NAMES = [CURRENT, NEXT, HANDOVERS]

interface Keys {
  readonly current: KeyObject
  /** Announced, and signs nothing yet. */
  readonly next: KeyObject | undefined
  /** From each key to the one after it, the oldest first. */
  readonly handovers: readonly string[]
}

interface Promotion {
  /** Although connectors have not confirmed the next key. */
  readonly force: boolean
  /** The key that signs now has leaked, so its word for the next one is worth nothing. */
  readonly leaked: boolean
}

export type Authority = ReturnType<typeof createAuthority>

export function createAuthority({ store, vault }: { store: Store; vault: Vault }) {
  let known: { readonly values: string; readonly keys: Keys } | undefined
  const { facts } = schema

  async function valuesIn(queries: Queries): Promise<ReadonlyMap<string, string>> {
    const rows = await queries.select().from(facts).where(inArray(facts.name, NAMES))
    return new Map(rows.map(({ name, value }) => [name, value]))
  }

  const sealed = (name: string, pem: string) => vault.seal(pem, factPurpose(name))
  const opened = (name: string, value: string) =>
    createPrivateKey(vault.open(value, factPurpose(name)))

  /** Made when it is first asked for. */
  const make = () =>
    store.change(async ({ queries }) => {
      const values = await valuesIn(queries)
      if (values.has(CURRENT)) return values
      await queries.insert(facts).values({ name: CURRENT, value: sealed(CURRENT, newPem()) })
      return valuesIn(queries)
    })

  function keysOf(values: ReadonlyMap<string, string>): Keys {
    const text = JSON.stringify(NAMES.map((name) => values.get(name)))
    if (known?.values === text) return known.keys
    const next = values.get(NEXT)
    const keys = {
      current: opened(CURRENT, values.get(CURRENT) ?? ''),
      next: next === undefined ? undefined : opened(NEXT, next),
      handovers: JSON.parse(values.get(HANDOVERS) ?? '[]') as string[],
    }
    known = { values: text, keys }
    return keys
  }

  /** Looked up each time: another control plane may have replaced it. */
  async function find(): Promise<Keys> {
    const values = await valuesIn(store.read)
    return keysOf(values.has(CURRENT) ? values : await make())
  }

  async function put(queries: Queries, name: string, value: string) {
    const set = { value }
    const target = facts.name
    await queries.insert(facts).values({ name, value }).onConflictDoUpdate({ target, set })
  }

  return {
    /** With its key, and what leads to that from those of before. */
    async sign(list: Omit<GatewayList, 'authorities'>) {
      const { current, next, handovers } = await find()
      const signer = publicOf(current)
      const authorities = next === undefined ? [signer] : [signer, publicOf(next)]
      const document = jws(GATEWAY_LIST_TYPE, { ...list, authorities }, current)
      return { document, signer, handovers }
    },

    /** With so many of the connectors that have not confirmed the next one. */
    async status(limit: number) {
      const values = await valuesIn(store.read)
      if (!values.has(CURRENT))
        return { current: null, next: null, waiting: 0, waitingConnectors: [] }
      const keys = keysOf(values)
      const current = publicOf(keys.current)
      if (keys.next === undefined) return { current, next: null, waiting: 0, waitingConnectors: [] }
      const next = publicOf(keys.next)
      const waiting = await countConnectorsWithoutAuthority(store.read, next)
      const waitingConnectors = await connectorsWithoutAuthority(store.read, next, limit)
      return { current, next, waiting, waitingConnectors }
    },

    /** The next key is told to connectors from now on. */
    async prepare(actor: Actor): Promise<void> {
      await find()
      await store.change(async (change) => {
        const { queries } = change
        if ((await valuesIn(queries)).has(NEXT)) throw new Refusal('rotation_state', {}, PREPARED)
        await put(queries, NEXT, sealed(NEXT, newPem()))
        await raiseListNumber(queries)
        await change.audit(actor, { action: 'connector_authority.prepared' })
      })
    },

    /** The next key signs from now on, and the one before is deleted. */
    async promote({ force, leaked }: Promotion, actor: Actor): Promise<void> {
      await store.change(async (change) => {
        const { queries } = change
        const values = await valuesIn(queries)
        if (!values.has(NEXT)) throw new Refusal('rotation_state', {}, UNPREPARED)
        const { current, next, handovers } = keysOf(values)
        if (next === undefined) throw new Error('there is no next key')
        const waiting = await countConnectorsWithoutAuthority(queries, publicOf(next))
        if (waiting > 0 && !force) throw new Refusal('rotation_state', {}, withoutIt(waiting))
        const handover: Handover = { next: publicOf(next) }
        const words = [...handovers, jws(HANDOVER_TYPE, handover, current)]
        const kept = leaked ? [] : words.slice(-LIMITS.connectorHandoversMax)
        await put(queries, CURRENT, sealed(CURRENT, pemOf(next)))
        await put(queries, HANDOVERS, JSON.stringify(kept))
        await queries.delete(facts).where(eq(facts.name, NEXT))
        await raiseListNumber(queries)
        const content = { force, leaked, without_it: waiting }
        await change.audit(actor, { action: 'connector_authority.promoted', content })
      })
    },
  }
}

const PREPARED =
  'The next key is announced already. Promote it once connectors have it: GET /connector-authority lists who does not.'
const UNPREPARED = 'There is no next key. Announce one first: {"phase":"prepare"}.'
const withoutIt = (count: number) =>
  `${count} ${count === 1 ? 'connector has' : 'connectors have'} not confirmed the next key: see GET /connector-authority. Start or remove them, or use force: they follow when they are back, if their program is of this release.`

const pemOf = (key: KeyObject) => String(key.export({ format: 'pem', type: 'pkcs8' }))
const newPem = () => pemOf(generateKeyPairSync('ed25519').privateKey)
/** 32 bytes in base64url. */
const publicOf = (key: KeyObject) => key.export({ format: 'jwk' }).x ?? ''

function jws(typ: string, content: object, key: KeyObject): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const signed = `${encoded({ alg: 'EdDSA', typ })}.${encoded(content)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}
