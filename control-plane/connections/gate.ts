/**
 * Who a verified ID token names, or why it lets nobody in. Pure. What a preset demands and the token
 * does not say is refused; an address is never who somebody is (nOAuth).
 */
import type { MappedAttribute, MappedGroup } from '../store/connection-tables.ts'
import type { ConnectionRow } from '../store/queries/connections.ts'
import type { Said } from '../tenants/person-attributes.ts'
import { mappedAttributes } from './mapped-attributes.ts'
import { groupsAmong, type MappedGroups } from './mapped-groups.ts'
import { directoryIdOf } from './presets.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Who somebody is at a provider. */
export interface UpstreamPerson {
  readonly issuer: string
  readonly subject: string
  /** As the provider writes it; undefined where it says none that could be one. */
  readonly email: string | undefined
  /** The provider says that the person has shown that it is theirs. */
  readonly isEmailVerified: boolean
  readonly name: string | undefined
  /** By the explicit mapping of this connection. */
  readonly hasSecondFactor: boolean
  /** Groups here that the connection maps: those they are in, and those they are not; if it is known. */
  readonly groups: MappedGroups | undefined
  /** Attributes here that the connection maps, as far as the provider says anything of them. */
  readonly attributes: Said
  /** When they proved it there, in epoch seconds; undefined where the provider does not say. */
  readonly provenAt: number | undefined
}

export type GateProblem =
  | 'subject_missing'
  | 'subject_not_persistent'
  | 'subject_of_others'
  | 'subject_is_address'
  | 'subject_attribute_missing'
  | 'hosted_domain_missing'
  | 'hosted_domain_foreign'
  | 'directory_missing'
  | 'directory_foreign'
  | 'object_id_missing'
  | 'organization_missing'
  | 'organization_foreign'

type Gated = Pick<ConnectionRow, 'preset' | 'issuer' | 'hostedDomain'> & {
  readonly organization?: string | null
  readonly organizationId?: string | null
  readonly attributes?: readonly MappedAttribute[]
  readonly groupsClaim?: string | null
  readonly groups?: readonly MappedGroup[]
  readonly mfaValues: readonly string[]
}

export type Gate =
  | { readonly kind: 'person'; readonly person: UpstreamPerson }
  | { readonly kind: 'refused'; readonly problem: GateProblem }

const SUBJECT = /^[\x21-\x7e]{1,255}$/
const GITHUB_ID = /^[1-9][0-9]{0,15}$/
const OBJECT_ID = /^[0-9a-f-]{36}$/
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,255}$/u

export function gate(connection: Gated, claims: Claims): Gate {
  const subject = subjectOf(connection, claims)
  if (typeof subject === 'object') return { kind: 'refused', problem: subject.problem }
  const email = textOf(claims.email)
  return {
    kind: 'person',
    person: {
      issuer: connection.issuer,
      subject,
      email: email !== undefined && email.length <= 254 && EMAIL.test(email) ? email : undefined,
      isEmailVerified: claims.email_verified === true,
      name: textOf(claims.name)?.slice(0, 100),
      hasSecondFactor: isMapped(connection.mfaValues, claims),
      groups: groupsOf(connection, claims),
      attributes: attributesOf(connection, claims),
      provenAt: secondOf(claims.auth_time),
    },
  }
}

function subjectOf(
  { preset, issuer, hostedDomain, organization = null, organizationId = null }: Gated,
  claims: Claims,
): string | { readonly problem: GateProblem } {
  const { sub, hd, tid, oid, problem } = claims
  if (preset === 'saml' && problem !== undefined) return { problem: problem as GateProblem }
  if (typeof sub !== 'string' || !SUBJECT.test(sub)) return { problem: 'subject_missing' }
  switch (preset) {
    case 'google':
      // without it, it is somebody's own account, whatever its address ends in
      if (typeof hd !== 'string') return { problem: 'hosted_domain_missing' }
      return hd === hostedDomain ? sub : { problem: 'hosted_domain_foreign' }
    case 'entra':
      if (typeof tid !== 'string') return { problem: 'directory_missing' }
      if (tid !== directoryIdOf(issuer)) return { problem: 'directory_foreign' }
      return typeof oid === 'string' && OBJECT_ID.test(oid) ? oid : { problem: 'object_id_missing' }
    case 'github':
      if (!GITHUB_ID.test(sub)) return { problem: 'subject_missing' }
      if (organization === null) return sub
      if (claims.organization !== organization || typeof claims.organization_id !== 'string')
        return { problem: 'organization_missing' }
      return organizationId === null || claims.organization_id === organizationId
        ? sub
        : { problem: 'organization_foreign' }
    case 'okta':
    case 'oidc':
    case 'saml':
      return sub
  }
}

/** What an assertion calls an attribute has a name of its own among the claims (`saml/claims.ts`). */
function attributesOf({ preset, attributes = [] }: Gated, claims: Claims): Said {
  if (preset !== 'saml') return mappedAttributes(attributes, claims)
  const named = attributes.map((one) => ({ ...one, claim: `attribute ${one.claim}` }))
  return mappedAttributes(named, claims)
}

/**
 * A provider that says nothing of groups changes none, as Entra does where there are too many; one that
 * names none takes all of them away. What an assertion says has been mapped with it (`saml/claims.ts`).
 */
function groupsOf(
  { preset, groupsClaim = null, groups = [] }: Gated,
  claims: Claims,
): MappedGroups | undefined {
  if (preset === 'saml') return claims.mapped_groups as MappedGroups | undefined
  if (groupsClaim === null || !Object.hasOwn(claims, groupsClaim)) return undefined
  const said = claims[groupsClaim]
  const values: readonly unknown[] | undefined = Array.isArray(said)
    ? said
    : typeof said === 'string'
      ? [said]
      : undefined
  return values && groupsAmong(groups, values)
}

/** `amr` is a list (RFC 8176), `acr` one value; no value counts that nobody has named. */
function isMapped(mfaValues: readonly string[], { amr, acr }: Claims): boolean {
  const said = [...(Array.isArray(amr) ? (amr as unknown[]) : []), acr]
  return said.some((one) => typeof one === 'string' && mfaValues.includes(one))
}

function secondOf(claim: unknown): number | undefined {
  return typeof claim === 'number' && claim > 0 && claim < 2 ** 40 ? Math.floor(claim) : undefined
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' && claim.isWellFormed()
    ? claim.trim()
    : undefined
}
