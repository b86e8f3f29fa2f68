/**
 * What whoever enforces a tenant has to know of, beyond what all know. Each says which of it it knows: a
 * gateway in its `hello`, a middleware with each poll. Who does not know what a tenant needs would let
 * in whom it should not, and is told that the tenant is suspended.
 */
import type { TenantSnapshot } from './snapshot.ts'

export const FEATURES = ['access_rules', 'access_attributes'] as const
export type Feature = (typeof FEATURES)[number]

/** Those of this version, in a header. */
export const FEATURES_TEXT = FEATURES.join(' ')

export const featuresIn = (said: readonly string[]): ReadonlySet<Feature> =>
  new Set(FEATURES.filter((feature) => said.includes(feature)))

export const isKnownTo = (known: ReadonlySet<Feature>, needs: readonly Feature[]): boolean =>
  needs.every((feature) => known.has(feature))

/** Of what a tenant is told with. */
export const needsOf = ({ access }: Pick<TenantSnapshot, 'access'>): readonly Feature[] =>
  access === undefined
    ? []
    : access.attribute_slots === undefined
      ? ['access_rules']
      : ['access_rules', 'access_attributes']

/** 503 for everybody, in words that every version reads. */
export function closed({
  access: _access,
  access_contact: _contact,
  services: _services,
  ...snapshot
}: TenantSnapshot): TenantSnapshot {
  return { ...snapshot, status: 'suspended' }
}
