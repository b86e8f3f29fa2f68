/**
 * The enforcement state as it comes from the feed, and what a request looks up of it. What this
 * version does not know is left alone; what it knows and cannot read makes the whole state be
 * refused, and the last good one stays.
 */
import * as v from 'valibot'
import type { TenantRules } from '../../../../shared/enforcement/decide.ts'
import { compileAccess } from '../../../../shared/enforcement/access-rules.ts'
import { compileServices } from '../../../../shared/enforcement/machines.ts'
import { compileExcluded, compileSealed } from '../../../../shared/enforcement/path.ts'
import { originsOf } from '../../../../shared/enforcement/own-origin.ts'
import { deriveKey, type SealingKeys } from '../../../../shared/enforcement/seen.ts'
import type { TokenTrust } from '../../../../shared/enforcement/token.ts'
import type { SignInTenant } from '../../../../shared/sign-in/service-request.ts'
import { ContactSchema, EnforcedRulesSchema } from '../../../../shared/fleet/access-rules.ts'
import { EnforcedServicesSchema, withServiceClauses } from '../../../../shared/fleet/services.ts'
import { RevokedSchema, SESSION_BINDINGS } from '../../../../shared/fleet/snapshot.ts'

const seconds = v.pipe(v.number(), v.integer(), v.minValue(1))
const prefixes = v.array(v.pipe(v.string(), v.startsWith('/')))

export const StateSchema = v.object({
  poll_after: v.pipe(v.number(), v.minValue(0)),
  tenant: v.object({
    tenant_id: v.string(),
    mode: v.literal('sdk'),
    status: v.string(),
    sealed: prefixes,
    excluded: prefixes,
    health: v.pipe(v.string(), v.startsWith('/')),
    max_session_seconds: seconds,
    idle_seconds: seconds,
    /** One that is not known yet is taken for one that asks again. */
    session_binding: v.pipe(
      v.string(),
      v.transform((binding) => SESSION_BINDINGS.find((known) => known === binding) ?? 'step_up'),
    ),
    licence_blocks_signin: v.optional(v.boolean(), false),
    name: v.optional(v.string()),
    protection: v.optional(v.string()),
    origin: v.optional(v.pipe(v.string(), v.url())),
    /** What is not known in it makes the state be refused: it would let more people in. */
    access: v.optional(EnforcedRulesSchema),
    access_contact: v.optional(ContactSchema),
    services: v.optional(EnforcedServicesSchema),
  }),
})
export type State = v.InferOutput<typeof StateSchema>

/** The part that is enforced even where a newer service says something else that nobody here reads. */
export const RevokedPartSchema = v.object({
  tenant: v.object({ tenant_id: v.string() }),
  revoked: RevokedSchema,
})
export type RevokedPart = v.InferOutput<typeof RevokedPartSchema>

export interface EnforcedTenant extends TenantRules, SignInTenant {
  readonly health: string
  /** How browsers reach the application; sign-ins return there, whatever a Host header says. */
  readonly origin: string
  /** Of it: what its own pages say that they are from. */
  readonly origins: ReadonlySet<string>
  /** Of it, without a port. */
  readonly host: string
}

interface TenantKeys {
  readonly seen: SealingKeys
  readonly flow: SealingKeys
}

export function sealingKeys(secrets: readonly [string, ...string[]]): TenantKeys {
  const [first, ...others] = secrets
  const keysFor = (purpose: 'seen' | 'flow'): SealingKeys => [
    deriveKey(first, purpose),
    ...others.map((secret) => deriveKey(secret, purpose)),
  ]
  return { seen: keysFor('seen'), flow: keysFor('flow') }
}

interface TenantParts {
  readonly state: State
  readonly trust: TokenTrust
  readonly keys: TenantKeys
  readonly issuer: string
  readonly secret: string
}

/** What does not say that protection is off has it on; what is not published is closed. */
export function compileTenant({ state, trust, keys, issuer, secret }: TenantParts): EnforcedTenant {
  const { tenant } = state
  const excluded = compileExcluded(tenant.excluded)
  const access = withServiceClauses(tenant.access, tenant.services)
  return {
    tenantId: tenant.tenant_id,
    name: tenant.name ?? tenant.tenant_id,
    status: tenant.status === 'published' ? 'published' : 'suspended',
    protection: tenant.protection === 'pass-through' ? 'pass-through' : 'on',
    sealed: compileSealed(tenant.sealed),
    excluded,
    access: access && compileAccess(access, excluded),
    accessContact: tenant.access_contact,
    services: compileServices(tenant.services),
    isSignInBlocked: tenant.licence_blocks_signin,
    health: tenant.health,
    origin: tenant.origin ?? '',
    origins: originsOf(tenant.origin === undefined ? [] : [tenant.origin]),
    host: tenant.origin === undefined ? '' : new URL(tenant.origin).hostname,
    sessionRules: {
      sessionSecondsMax: tenant.max_session_seconds,
      idleSeconds: tenant.idle_seconds,
      binding: tenant.session_binding,
    },
    trust,
    client: { issuer, id: `${tenant.tenant_id}-user`, secret },
    seenKeys: keys.seen,
    flowKeys: keys.flow,
  }
}
