/**
 * A tenant's signing keys and their rotation: `next` is published before it is used, `current`
 * signs, `retired` stays published until no session can carry it. At no moment does a valid
 * session meet a verifier that was never told its key.
 */
import { PURPOSES } from './sealed-columns.ts'
import { createPrivateKey } from 'node:crypto'
import { SECOND_MS, type Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import {
  deleteSigningKeys,
  insertSigningKey,
  signingKeysOf,
  updateSigningKey,
  type SigningKeyRow,
} from '../store/queries/signing-keys.ts'
import { findTenant, type Tenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import { generateRsaKey, importRsaKey, publicPem, type RsaKey } from './rsa-keys.ts'
import type { Vault } from './vault.ts'

interface PublishedKey {
  readonly kid: string
  readonly kty: 'RSA'
  readonly alg: 'RS256'
  readonly use: 'sig'
  readonly n: string
  readonly e: string
  readonly status: 'current' | 'next' | 'retired'
  readonly pem: string
}

export type PrivateSigningJwk = Readonly<Record<string, unknown>> & {
  readonly kid: string
  readonly kty: 'RSA'
  readonly alg: 'RS256'
  readonly use: 'sig'
  readonly n: string
}

export interface SigningSet {
  /** Another one whenever a key or its phase is another. */
  readonly version: string
  readonly currentKid: string | undefined
  /** Private; the current key first. */
  readonly jwks: readonly PrivateSigningJwk[]
}

export const ROTATION_PHASES = ['prepare', 'promote', 'retire'] as const
interface Rotation {
  readonly phase: (typeof ROTATION_PHASES)[number]
  readonly privateKeyPem?: string | undefined
  readonly force?: boolean | undefined
}

/** Published since it was created, signing from its promotion to its retirement. */
export interface KeyTimes {
  readonly kid: string
  readonly phase: PublishedKey['status']
  readonly createdAtMs: number
  readonly promotedAtMs: number | null
  readonly retiredAtMs: number | null
}

export type SigningKeys = ReturnType<typeof createSigningKeys>

export function createSigningKeys(world: {
  readonly store: Store
  readonly vault: Vault
  readonly clock: Clock
  readonly generate?: (() => Promise<RsaKey>) | undefined
}) {
  const { store, vault, generate = generateRsaKey } = world

  function newRow(tenantId: string, key: RsaKey, nowMs: number): SigningKeyRow {
    return {
      kid: key.kid,
      tenantId,
      phase: 'next',
      publicJwk: key.publicJwk,
      privatePemSealed: vault.seal(key.privatePem, PURPOSES.signingKey({ tenantId, kid: key.kid })),
      createdAt: nowMs,
      promotedAt: null,
      retiredAt: null,
    }
  }

  async function publicKeys(tenantId: string): Promise<PublishedKey[]> {
    const rows = await signingKeysOf(store.read, tenantId)
    return rows.map(toPublished)
  }

  return {
    publicKeys,

    /** A key for `ensureCurrent`, made ahead: a change must not wait for a prime number. */
    generate,

    async ensureCurrent(change: Change, tenantId: string, candidate: RsaKey): Promise<void> {
      const rows = await signingKeysOf(change.queries, tenantId)
      if (rows.some((row) => row.phase === 'current')) return
      const { nowMs } = change
      const row = newRow(tenantId, candidate, nowMs)
      await insertSigningKey(change.queries, { ...row, phase: 'current', promotedAt: nowMs })
    },

    /** With the times of their phases, for people. */
    async timeline(tenantId: string): Promise<KeyTimes[]> {
      const rows = await signingKeysOf(store.read, tenantId)
      return rows.map(({ kid, phase, createdAt, promotedAt, retiredAt }) => ({
        kid,
        phase,
        createdAtMs: createdAt,
        promotedAtMs: promotedAt,
        retiredAtMs: retiredAt,
      }))
    },

    async rotate(tenantId: string, rotation: Rotation, actor: Actor): Promise<PublishedKey[]> {
      const { phase, privateKeyPem, force = false } = rotation
      if (phase !== 'prepare' && privateKeyPem !== undefined)
        throw new Refusal(
          'field_invalid',
          { field: 'private_key_pem' },
          'A key of your own is brought along with the phase prepare.',
        )
      const key =
        phase === 'prepare'
          ? privateKeyPem === undefined
            ? await generate()
            : importRsaKey(privateKeyPem)
          : undefined
      await store.change(async (change) => {
        const tenant = await findTenant(change.queries, tenantId)
        if (tenant === undefined) throw new Refusal('tenant_not_found')
        const rows = await signingKeysOf(change.queries, tenantId)
        if (rows.length === 0) throw new Refusal('tenant_draft')
        const kids =
          key !== undefined
            ? await prepare(change, rows, newRow(tenantId, key, change.nowMs))
            : phase === 'promote'
              ? await promote(change, rows)
              : await retire(change, rows, tenant, force)
        await change.touch(tenantId)
        const content = { phase, kids, force, is_own_key: privateKeyPem !== undefined }
        await change.audit(actor, { action: 'keys.rotated', tenantId, content })
      })
      return publicKeys(tenantId)
    },

    async signingSet(tenantId: string): Promise<SigningSet> {
      const rows = await signingKeysOf(store.read, tenantId)
      return {
        version: rows.map((row) => `${row.phase}:${row.kid}`).join(' '),
        currentKid: rows.find((row) => row.phase === 'current')?.kid,
        jwks: rows.map((row) => toPrivateJwk(row, vault)),
      }
    },
  }
}

/** What a verifier needs of a key, and nothing that has to be computed. */
export type VerifyingKey = Omit<PublishedKey, 'status' | 'pem'>

export function toVerifyingKey({ kid, publicJwk }: SigningKeyRow): VerifyingKey {
  return { kid, kty: 'RSA', alg: 'RS256', use: 'sig', n: publicJwk.n, e: publicJwk.e }
}

function toPublished(row: SigningKeyRow): PublishedKey {
  return { ...toVerifyingKey(row), status: row.phase, pem: publicPem(row.publicJwk) }
}

function toPrivateJwk(row: SigningKeyRow, vault: Vault): PrivateSigningJwk {
  const pem = vault.open(row.privatePemSealed, PURPOSES.signingKey(row))
  const jwk = createPrivateKey(pem).export({ format: 'jwk' })
  return { ...jwk, n: row.publicJwk.n, kty: 'RSA', kid: row.kid, alg: 'RS256', use: 'sig' }
}

async function prepare(change: Change, rows: readonly SigningKeyRow[], row: SigningKeyRow) {
  if (rows.some((known) => known.phase === 'next'))
    throw new Refusal('rotation_state', {}, 'A next key is prepared already: promote it first.')
  if (rows.length >= LIMITS.signingKeysPerTenantMax)
    throw new Refusal('rotation_state', {}, 'Too many keys are published: retire old ones first.')
  await insertSigningKey(change.queries, row)
  return [row.kid]
}

async function promote(change: Change, rows: readonly SigningKeyRow[]) {
  const { nowMs, queries } = change
  const next = rows.find((row) => row.phase === 'next')
  const current = rows.find((row) => row.phase === 'current')
  if (next === undefined)
    throw new Refusal('rotation_state', {}, 'There is no next key to promote: prepare one first.')
  if (current !== undefined)
    await updateSigningKey(queries, current.tenantId, current.kid, {
      phase: 'retired',
      retiredAt: nowMs,
    })
  await updateSigningKey(queries, next.tenantId, next.kid, { phase: 'current', promotedAt: nowMs })
  return [next.kid]
}

/** From then on no session can carry a key that was retired at `retiredAtMs`. */
export function neededUntilMs(
  retiredAtMs: number,
  { maxSessionSeconds }: Pick<Tenant, 'maxSessionSeconds'>,
): number {
  return retiredAtMs + maxSessionSeconds * SECOND_MS
}

/** Deletes the retired keys that no session can carry any more; all of them when forced. */
async function retire(
  change: Change,
  rows: readonly SigningKeyRow[],
  tenant: Tenant,
  isForced: boolean,
) {
  const retired = rows.filter((row) => row.phase === 'retired')
  if (retired.length === 0)
    throw new Refusal('rotation_state', {}, 'There is no retired key to delete.')
  const freeAt = (row: SigningKeyRow) => neededUntilMs(row.retiredAt ?? change.nowMs, tenant)
  const free = retired.filter((row) => isForced || freeAt(row) <= change.nowMs)
  if (free.length === 0) {
    const until = new Date(Math.min(...retired.map(freeAt))).toISOString()
    throw new Refusal('key_still_used', { until })
  }
  const kids = free.map((row) => row.kid)
  await deleteSigningKeys(change.queries, tenant.tenantId, kids)
  return kids
}
