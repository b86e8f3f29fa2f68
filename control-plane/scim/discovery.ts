/** What there is to push, and how: RFC 7643, sections 5 to 7. The same for everybody. */
import { LIMITS } from '../../shared/limits.ts'
import { ScimError } from './scim-error.ts'
import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, listOf, USER_SCHEMA, type Resource } from './resources.ts'

const CORE = 'urn:ietf:params:scim:schemas:core:2.0'

const providerConfig: Resource = {
  schemas: [`${CORE}:ServiceProviderConfig`],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: LIMITS.scimPageItemsMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'A token from the page Provisioning of the console.',
      primary: true,
    },
  ],
}

function resourceType(id: string, endpoint: string, schema: string, extensions: string[]) {
  return {
    schemas: [`${CORE}:ResourceType`],
    id,
    name: id,
    endpoint,
    schema,
    ...(extensions.length > 0 && {
      schemaExtensions: extensions.map((one) => ({ schema: one, required: false })),
    }),
  }
}

const resourceTypes = [
  resourceType('User', '/Users', USER_SCHEMA, [ENTERPRISE_SCHEMA]),
  resourceType('Group', '/Groups', GROUP_SCHEMA, []),
]

interface Described {
  readonly type?: 'boolean' | 'complex'
  readonly isMany?: boolean
  readonly isRequired?: boolean
  readonly isExact?: boolean
  readonly uniqueness?: 'server'
  readonly subs?: readonly object[]
}

function attribute(name: string, described: Described = {}) {
  const { type = 'string', isMany = false, isRequired = false } = described
  const { isExact = false, uniqueness = 'none', subs } = described
  return {
    name,
    type,
    multiValued: isMany,
    description: '',
    required: isRequired,
    ...(type === 'string' && { caseExact: isExact }),
    mutability: 'readWrite',
    returned: 'default',
    uniqueness,
    ...(subs !== undefined && { subAttributes: subs }),
  }
}

const text = (name: string) => attribute(name)

function schema(id: string, name: string, attributes: readonly object[]) {
  return { schemas: [`${CORE}:Schema`], id, name, description: name, attributes }
}

const schemas = [
  schema(USER_SCHEMA, 'User', [
    attribute('userName', { isRequired: true, uniqueness: 'server' }),
    attribute('externalId', { isExact: true }),
    text('displayName'),
    attribute('name', {
      type: 'complex',
      subs: ['givenName', 'familyName', 'formatted'].map(text),
    }),
    text('title'),
    text('userType'),
    attribute('emails', {
      type: 'complex',
      isMany: true,
      subs: [text('value'), text('type'), attribute('primary', { type: 'boolean' })],
    }),
    attribute('active', { type: 'boolean' }),
  ]),
  schema(ENTERPRISE_SCHEMA, 'EnterpriseUser', [
    ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map(text),
    attribute('manager', { type: 'complex', subs: [attribute('value', { isExact: true })] }),
  ]),
  schema(GROUP_SCHEMA, 'Group', [
    attribute('displayName', { isRequired: true, uniqueness: 'server' }),
    attribute('externalId', { isExact: true }),
    attribute('members', {
      type: 'complex',
      isMany: true,
      subs: [attribute('value', { isExact: true }), text('type')],
    }),
  ]),
]

/** undefined: this is none of them. */
export function discovered(
  collection: string,
  id: string | undefined,
  base: string,
): Resource | undefined {
  const at = (kind: string, one: string) => ({
    meta: { resourceType: kind, location: `${base}/${kind}s/${one}` },
  })
  switch (collection) {
    case 'serviceproviderconfig': {
      const location = `${base}/ServiceProviderConfig`
      return { ...providerConfig, meta: { resourceType: 'ServiceProviderConfig', location } }
    }
    case 'resourcetypes':
      return oneOrAll(
        resourceTypes.map((one) => ({ ...one, ...at('ResourceType', one.id) })),
        id,
      )
    case 'schemas':
      return oneOrAll(
        schemas.map((one) => ({ ...one, ...at('Schema', one.id) })),
        id,
      )
    default:
      return undefined
  }
}

function oneOrAll(all: readonly (Resource & { readonly id: string })[], id: string | undefined) {
  if (id === undefined) return listOf(all, all.length, 1)
  const one = all.find((each) => each.id.toLowerCase() === id.toLowerCase())
  if (one === undefined)
    throw new ScimError(404, 'There is no such description. List them without an id.')
  return one
}
