/** A person's second factors: what they have enrolled, and that each proof counts once. */
import { PURPOSES } from '../keys/sealed-columns.ts'
import { randomUUID } from 'node:crypto'
import { Refusal } from '../../shared/errors.ts'
import type { Vault } from '../keys/vault.ts'
import type { FactorKind } from '../policy/verdict.ts'
import {
  deleteFactor,
  deleteFactors,
  factorsOf,
  insertFactors,
  updateFactor,
  takeRecoveryCode,
  takeStep,
  type FactorRow,
  withFactors,
} from '../store/queries/factors.ts'
import type { Queries } from '../store/engine.ts'
import type { Actor, Change, Store, TenantChange } from '../store/store.ts'
import { passkeyCounter, passkeyIdIn, type Passkey, type PasskeySite } from './passkeys.ts'
import { newRecoveryCodes, normalRecoveryCode } from './recovery-codes.ts'
import { stepOf } from './totp.ts'

export type Factor = Readonly<
  Pick<FactorRow, 'factorId' | 'kind' | 'name' | 'createdAt' | 'lastUsedAt'>
>

/** A proof that has been checked, and is taken in the change that it belongs to. */
export interface Claim {
  readonly kind: FactorKind
  /** Whether it was taken: it had not been shown before. */
  readonly take: (change: TenantChange) => Promise<boolean>
}

export interface Owner {
  readonly tenantId: string
  readonly userId: string
}

export type Factors = ReturnType<typeof createFactors>

export function createFactors({ store, vault }: { readonly store: Store; readonly vault: Vault }) {
  const recoveryHash = ({ tenantId, userId }: Owner, code: string) =>
    vault.hash(`factors.recovery/${tenantId}/${userId}/${code}`)
  const secretOf = (row: FactorRow) => vault.open(row.secretSealed, PURPOSES.factor(row))
  const passkeyOf = (row: FactorRow) => JSON.parse(secretOf(row)) as Passkey

  function newRow(
    { tenantId, userId }: Owner,
    kind: FactorKind,
    secret: string,
    others: Partial<FactorRow> & { nowMs: number },
  ): FactorRow {
    const { nowMs, ...rest } = others
    const factorId = `fac_${randomUUID()}`
    return {
      factorId,
      tenantId,
      userId,
      kind,
      name: '',
      secretSealed: vault.seal(secret, PURPOSES.factor({ tenantId, factorId })),
      lookupHash: null,
      lastStep: 0,
      createdAt: nowMs,
      lastUsedAt: null,
      ...rest,
    }
  }

  return {
    /** Recovery codes alone are no factor: they stand in for one. */
    async kindsOf(
      { tenantId, userId }: Owner,
      queries: Queries = store.read,
    ): Promise<FactorKind[]> {
      const rows = await factorsOf(queries, tenantId, userId)
      const usable = rows.filter((row) => row.kind !== 'recovery' || row.lastUsedAt === null)
      const kinds = new Set(usable.map(({ kind }) => kind))
      return kinds.has('totp') || kinds.has('passkey') ? [...kinds] : []
    },

    async list({ tenantId, userId }: Owner): Promise<Factor[]> {
      const rows = await factorsOf(store.read, tenantId, userId)
      return rows.map(({ factorId, kind, name, createdAt, lastUsedAt }) => {
        return { factorId, kind, name, createdAt, lastUsedAt }
      })
    },

    /** Which of them have any. */
    amongThem: (tenantId: string, userIds: readonly string[]) =>
      withFactors(store.read, tenantId, userIds),

    async passkeys({ tenantId, userId }: Owner): Promise<Passkey[]> {
      const rows = await factorsOf(store.read, tenantId, userId)
      return rows.filter((row) => row.kind === 'passkey').map(passkeyOf)
    },

    /** A code from an app or from the paper. */
    async claimOfCode(owner: Owner, typed: string, nowMs: number): Promise<Claim | undefined> {
      const code = typed.replace(/[\s-]/g, '')
      const rows = await factorsOf(store.read, owner.tenantId, owner.userId)
      for (const row of rows.filter(({ kind }) => kind === 'totp')) {
        const step = stepOf(secretOf(row), code, nowMs)
        if (step === undefined) continue
        const take = (change: TenantChange) =>
          takeStep(change.queries, row.factorId, step, change.nowMs)
        return { kind: 'totp', take }
      }
      const recovery = normalRecoveryCode(typed)
      if (recovery === undefined) return undefined
      const hash = recoveryHash(owner, recovery)
      return {
        kind: 'recovery',
        take: ({ queries, nowMs: atMs }) =>
          takeRecoveryCode(queries, owner.tenantId, owner.userId, hash, atMs),
      }
    },

    async claimOfPasskey(
      owner: Owner,
      site: PasskeySite,
      challenge: string,
      answer: string,
    ): Promise<Claim | undefined> {
      const id = passkeyIdIn(answer)
      const rows = await factorsOf(store.read, owner.tenantId, owner.userId)
      const row = rows.find((one) => one.kind === 'passkey' && passkeyOf(one).id === id)
      if (row === undefined) return undefined
      const passkey = passkeyOf(row)
      const counter = await passkeyCounter(site, challenge, passkey, row.lastStep, answer)
      if (counter === undefined) return undefined
      return {
        kind: 'passkey',
        take: ({ queries, nowMs }) =>
          counter === 0
            ? updateFactor(queries, row.factorId, { lastUsedAt: nowMs })
            : takeStep(queries, row.factorId, counter, nowMs),
      }
    },

    /** The step that proved the seed is taken with it. Answers true, as taking any proof does. */
    async addTotp(
      change: TenantChange,
      owner: Owner,
      seed: string,
      step: number,
    ): Promise<boolean> {
      const { queries, nowMs } = change
      await insertFactors(queries, [newRow(owner, 'totp', seed, { nowMs, lastStep: step })])
      return true
    },

    async addPasskey(change: TenantChange, owner: Owner, passkey: Passkey, counter: number) {
      const { queries, nowMs } = change
      const lookupHash = vault.hash(`factors.passkey/${owner.tenantId}/${passkey.id}`)
      const secret = JSON.stringify(passkey)
      const row = newRow(owner, 'passkey', secret, { nowMs, lastStep: counter, lookupHash })
      await insertFactors(queries, [row])
      return true
    },

    /** In place of all from before. Answers them for the only time. */
    async renewRecoveryCodes(change: TenantChange, owner: Owner): Promise<string[]> {
      const { queries, nowMs } = change
      const codes = newRecoveryCodes()
      await deleteFactors(queries, owner.tenantId, owner.userId, ['recovery'])
      const rows = codes.map((code) => {
        const lookupHash = recoveryHash(owner, normalRecoveryCode(code) ?? '')
        return newRow(owner, 'recovery', '', { nowMs, lookupHash })
      })
      await insertFactors(queries, rows)
      return codes
    },

    /** With the last real factor the recovery codes go; `mustKeepOne` refuses to take that one. */
    async remove(
      owner: Owner,
      factorId: string,
      actor: Actor,
      {
        mustKeepOne = false,
        alongside,
      }: {
        mustKeepOne?: boolean
        /** What else belongs to this change. */
        alongside?: (change: Change, gone: Pick<FactorRow, 'kind'>) => Promise<void>
      } = {},
    ): Promise<void> {
      const { tenantId, userId } = owner
      await store.change(async (change) => {
        const gone = await deleteFactor(change.queries, tenantId, userId, factorId)
        if (gone === undefined) throw new Refusal('factor_not_found')
        const left = await factorsOf(change.queries, tenantId, userId)
        const isLast = left.every(({ kind }) => kind === 'recovery')
        if (isLast && mustKeepOne) throw new Refusal('factor_needed')
        if (isLast) await deleteFactors(change.queries, tenantId, userId, ['recovery'])
        const content = { user_id: userId, kind: gone.kind }
        await change.audit(actor, { action: 'factor.removed', tenantId, content })
        await alongside?.(change, gone)
      })
    },

    /** All of them at once, for somebody who has lost them. Answers the kinds that there were. */
    async reset(
      change: TenantChange,
      { tenantId, userId }: Owner,
      actor: Actor,
    ): Promise<FactorKind[]> {
      const { queries } = change
      const kinds = [
        ...new Set((await factorsOf(queries, tenantId, userId)).map(({ kind }) => kind)),
      ]
      if (kinds.length === 0) throw new Refusal('factor_not_found')
      await deleteFactors(queries, tenantId, userId, kinds)
      const content = { user_id: userId, kinds }
      await change.audit(actor, { action: 'factors.reset', tenantId, content })
      return kinds
    },
  }
}
