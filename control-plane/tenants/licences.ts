/**
 * Licences: the state that an operator has set, and how it goes on by itself: from `active` to
 * `grace` to `expired`, at the dates that came with it. Who is signed in stays so in all of them.
 */
import type { Clock } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import type { Licence } from '../../shared/fleet/snapshot.ts'
import { tenantsWithLicenceDue, updateTenant, type Tenant } from '../store/queries/tenants.ts'
import type { Actor, Change, Store } from '../store/store.ts'
import type { Alter } from './alter.ts'

export interface LicenceTerms {
  readonly state: Licence
  readonly blocksSignin: boolean
  readonly graceFrom: number | null
  readonly expiresAt: number | null
  /** New sign-ins are refused from its end on, whatever `blocksSignin` says. */
  readonly expiryBlocks: boolean
}

/** In the order in which a licence goes through them. */
const AGES: Readonly<Record<Licence, number>> = { active: 0, grace: 1, expired: 2 }

/** What has become of a licence by now. Never goes back, whatever the clock does. */
export function licenceAt(nowMs: number, terms: LicenceTerms): LicenceTerms {
  const { graceFrom, expiresAt } = terms
  const isReached = (atMs: number | null) => atMs !== null && atMs <= nowMs
  if (isReached(expiresAt)) return settled({ ...terms, state: 'expired' })
  if (isReached(graceFrom) && terms.state === 'active') return { ...terms, state: 'grace' }
  return terms
}

/** One that has expired blocks if either says so, however it came to its end. */
function settled(terms: LicenceTerms): LicenceTerms {
  const isBlocked = terms.state === 'expired' && terms.expiryBlocks
  return isBlocked ? { ...terms, blocksSignin: true } : terms
}

/** When it goes on by itself; null: it does not. */
export function dueAt({ state, graceFrom, expiresAt }: LicenceTerms): number | null {
  if (state === 'expired') return null
  if (state === 'grace' || graceFrom === null) return expiresAt
  return expiresAt === null ? graceFrom : Math.min(graceFrom, expiresAt)
}

const WISHES = {
  past: 'a time that is still to come',
  grace: 'left out: only an active licence comes to its grace',
  expired: 'left out: this licence has expired',
  order: 'later than "grace_from"',
} as const

/** A date that has passed, or that no licence of this state comes to, is a mistake. */
function checkTerms(nowMs: number, { state, graceFrom, expiresAt }: LicenceTerms): void {
  if (graceFrom !== null) {
    if (AGES[state] >= AGES.grace) refuse('grace_from', 'grace')
    if (graceFrom <= nowMs) refuse('grace_from', 'past')
  }
  if (expiresAt === null) return
  if (state === 'expired') refuse('expires_at', 'expired')
  if (expiresAt <= nowMs) refuse('expires_at', 'past')
  if (graceFrom !== null && expiresAt <= graceFrom) refuse('expires_at', 'order')
}

function refuse(field: string, wish: keyof typeof WISHES): never {
  throw new Refusal('field_invalid', { field }, `"${field}" must be ${WISHES[wish]}.`)
}

const JOB: Actor = { name: 'service', requestId: '' }

export type LicenceInput = Pick<LicenceTerms, 'state' | 'blocksSignin'> & Partial<LicenceTerms>
const NO_DATES = { graceFrom: null, expiresAt: null, expiryBlocks: false } as const

interface LicencesWorld {
  readonly store: Store
  readonly clock: Clock
  readonly alter: Alter
}

export function createLicences({ store, clock, alter }: LicencesWorld) {
  return {
    /** Says everything: a date that is left out is none. */
    async setLicence(tenantId: string, input: LicenceInput, actor: Actor): Promise<Tenant> {
      const terms = settled({ ...NO_DATES, ...input })
      return alter(tenantId, actor, 'licence.changed', async (change, before) => {
        checkTerms(change.nowMs, terms)
        return put(change, before, terms)
      })
    },

    /** Those whose time has come go on: over several dates at once if nobody was there. */
    async advanceLicences(limit: number): Promise<number> {
      const due = await tenantsWithLicenceDue(store.read, clock.nowMs(), limit)
      for (const tenantId of due)
        await alter(tenantId, JOB, 'licence.changed', async (change, before) =>
          put(change, before, licenceAt(change.nowMs, termsOf(before))),
        )
      return due.length
    },
  }
}

function termsOf(tenant: Tenant): LicenceTerms {
  return {
    state: tenant.licence,
    blocksSignin: tenant.licenceBlocksSignin,
    graceFrom: tenant.licenceGraceFrom,
    expiresAt: tenant.licenceExpiresAt,
    expiryBlocks: tenant.licenceExpiryBlocks,
  }
}

/** The event tells of states; other dates alone are nobody's news yet. */
async function put(change: Change, before: Tenant, terms: LicenceTerms) {
  const was = termsOf(before)
  const { state, blocksSignin, graceFrom, expiresAt, expiryBlocks } = terms
  const isOther = (name: keyof LicenceTerms) => was[name] !== terms[name]
  if (!(Object.keys(terms) as (keyof LicenceTerms)[]).some(isOther)) return undefined
  await updateTenant(change.queries, before.tenantId, {
    licence: state,
    licenceBlocksSignin: blocksSignin,
    licenceGraceFrom: graceFrom,
    licenceExpiresAt: expiresAt,
    licenceExpiryBlocks: expiryBlocks,
    licenceDueAt: dueAt(terms),
  })
  const data = { state, blocks_signin: blocksSignin }
  if (isOther('state') || isOther('blocksSignin'))
    await change.emit('licence.changed', before.tenantId, data)
  const iso = (ms: number | null) => ms && new Date(ms).toISOString()
  return { ...data, grace_from: iso(graceFrom), expires_at: iso(expiresAt) }
}
