/** What is known beforehand of each kind of provider: which issuer it has, and whom its tokens name. */
import type { ConnectionRow } from '../store/queries/connections.ts'

const GOOGLE = 'https://accounts.google.com'
const GITHUB = 'https://github.com'
const GUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
/** One directory and no other: never `common`, `organizations` or `consumers`. */
const ENTRA = new RegExp(`^https://login\\.microsoftonline\\.com/(${GUID})/v2\\.0$`)
const PRESET_OF_HOST: ReadonlyMap<string, ConnectionRow['preset']> = new Map([
  ['accounts.google.com', 'google'],
  ['login.microsoftonline.com', 'entra'],
  ['github.com', 'github'],
])
/** Of personal accounts, which anybody makes under any address. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'
const DOMAIN =
  /^(?=.{4,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/

/** As GitHub names accounts: letters, digits and single hyphens between them. */
const ORGANIZATION = /^[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38}$/

type Described = Pick<ConnectionRow, 'preset' | 'issuer' | 'hostedDomain'> &
  Partial<
    Pick<ConnectionRow, 'organization' | 'signsOut' | 'createsPeople' | 'groupsClaim' | 'groups'>
  >

/** The field that is wrong, and what it should be; undefined: all of it can be used. */
export function presetProblem(described: Described) {
  const { preset, issuer, hostedDomain, organization = null, signsOut = false } = described
  if (organization !== null && preset !== 'github')
    return { field: 'organization', wish: 'must be null: only GitHub has one' } as const
  if (signsOut && !offersSignOut(preset))
    return { field: 'signs_out', wish: 'must be false: this provider offers no sign-out' } as const
  const { groupsClaim = null, groups = [] } = described
  if (groups.length > 0 && groupsClaim === null)
    return {
      field: 'groups_claim',
      wish: 'is required where groups are mapped: it names them',
    } as const
  if (groupsClaim !== null && preset === 'github')
    return { field: 'groups_claim', wish: 'must be null: GitHub names no groups' } as const
  switch (preset) {
    case 'google':
      if (issuer !== GOOGLE) return { field: 'issuer', wish: `must be ${GOOGLE}` } as const
      if (hostedDomain === null || !DOMAIN.test(hostedDomain))
        return {
          field: 'hosted_domain',
          wish: 'must be your Google Workspace domain, in lowercase, like example.com',
        } as const
      return undefined
    case 'entra':
      if (ENTRA.exec(issuer)?.[1] === CONSUMERS)
        return {
          field: 'issuer',
          wish: 'must be that of your own directory, not of personal Microsoft accounts, which anyone can create',
        } as const
      if (directoryIdOf(issuer) === undefined)
        return {
          field: 'issuer',
          wish: 'must be https://login.microsoftonline.com/, your directory (tenant) ID in lowercase, and /v2.0',
        } as const
      return noDomain(hostedDomain)
    case 'github':
      if (new URL(issuer).origin !== issuer)
        return {
          field: 'issuer',
          wish: 'must be https://github.com, or the address of your GitHub Enterprise Server without a path',
        } as const
      if (organization !== null && !ORGANIZATION.test(organization))
        return {
          field: 'organization',
          wish: 'must be null or the name of an organization as in https://github.com/NAME',
        } as const
      // anybody has an account there
      if (organization === null && described.createsPeople === true && issuer === GITHUB)
        return {
          field: 'organization',
          wish: 'must be named where new people get an account: anyone can have one on github.com',
        } as const
      return noDomain(hostedDomain)
    case 'okta':
    case 'oidc':
      return ofEverybody(issuer) ?? noDomain(hostedDomain)
    case 'saml':
      return noDomain(hostedDomain) // its issuer is what its metadata says
  }
}

/** ID tokens and logout tokens, signed by keys that are published at its issuer. */
export const speaksOpenId = (preset: ConnectionRow['preset']) =>
  preset !== 'github' && preset !== 'saml'

export const offersSignOut = (preset: ConnectionRow['preset']) =>
  speaksOpenId(preset) && preset !== 'google'

/** Anybody has an account there: whose it is only their own presets ask. */
function ofEverybody(issuer: string) {
  const preset = PRESET_OF_HOST.get(new URL(issuer).hostname)
  return preset === undefined
    ? undefined
    : ({
        field: 'issuer',
        wish: `must be of a provider of your own; this one needs the preset ${preset}`,
      } as const)
}

const noDomain = (hostedDomain: string | null) =>
  hostedDomain === null
    ? undefined
    : ({ field: 'hosted_domain', wish: 'must be null: only Google has one' } as const)

/**
 * Providers that never say whether an address is somebody's: they are a company's own, pinned by their
 * directory or their certificates, and the address is only where mail goes.
 */
export const saysNothingOfAddresses = (preset: ConnectionRow['preset']) =>
  preset === 'entra' || preset === 'saml'

export function directoryIdOf(issuer: string): string | undefined {
  const id = ENTRA.exec(issuer)?.[1]
  return id === CONSUMERS ? undefined : id
}
