/**
 * One call of each endpoint that succeeds in the world of endpoint-world.ts. Where nothing is said
 * here, it is the example of the declaration, for the tenant `acme`. An endpoint that needs more
 * than that is named here; one whose success is shown by another test is named in `ELSEWHERE`.
 */
import type { Declaration } from '../../../control-plane/api/endpoint.ts'

/** What is known of the prepared world, for the calls that speak of it. */
export interface Prepared {
  readonly userId: string
  readonly factorId: string
  readonly alertId: string
  readonly webhookId: string
  readonly deliveryId: string
  readonly connectionId: string
  readonly serviceId: string
  readonly realmClientId: string
  readonly secretId: string
  readonly certificate: { readonly certificate_pem: string; readonly private_key_pem: string }
  readonly tenants: Readonly<Record<'acme' | 'apps' | 'other', Secrets>>
}

interface Secrets {
  readonly analyzer_key: string
  readonly client_id: string
  readonly client_secret: string
}

export const ADDRESS = '192.0.2.7'

export interface GoodCall {
  readonly tenant: keyof Prepared['tenants']
  readonly path: string
  readonly body: unknown
}

type Special = Partial<Pick<GoodCall, 'tenant' | 'body'>> & {
  /** Other values of what stands in the path as `{name}`. */
  readonly path?: Readonly<Record<string, string>>
}

const SUPPORT: Special = { path: { group: 'support' } }
const MEMBERS = '/api/v1/operator/tenants/{tenant_id}/groups/{group}/members'

const SPECIAL: Readonly<Record<string, (prepared: Prepared) => Special>> = {
  'POST /api/v1/operator/tenants': () => ({
    body: { tenant_id: 'fresh', hostnames: ['fresh.localhost'], origin: 'http://127.0.0.1:9000' },
  }),
  'POST /api/v1/operator/tenants/{tenant_id}/go-live': () => ({ body: { force: true } }),
  'PUT /api/v1/operator/tenants/{tenant_id}/certificates/{hostname}': ({ certificate }) => ({
    body: certificate,
  }),
  'DELETE /api/v1/operator/tenants/{tenant_id}/groups/{group}': () => SUPPORT,
  [`GET ${MEMBERS}`]: () => SUPPORT,
  'POST /api/v1/operator/tenants/{tenant_id}/access-rules/decision': ({ userId }) => ({
    body: { path: '/admin', user_id: userId },
  }),
  [`PUT ${MEMBERS}/{user_id}`]: () => SUPPORT,
  [`DELETE ${MEMBERS}/{user_id}`]: () => SUPPORT,
}

/** Of the connection, and not proven. */
export const DOMAIN = 'acme.example'

const OF_CERTIFICATES = 'test/control-plane/acme/states.test.ts'
const OF_HOSTNAMES = 'test/control-plane/hostnames/claims-api.test.ts'
const OF_PERSON = 'test/control-plane/console/person.test.ts'
const OF_CONNECTOR = 'test/control-plane/connectors/joining.test.ts'
const OF_DEVICE = 'test/control-plane/devices/enrolment.test.ts'
const OF_DEVICES = 'test/control-plane/devices/management.test.ts'
const OF_INSTALL = 'test/control-plane/api/install-routes.test.ts'
const OF_SAML = 'test/control-plane/connections/saml/api.test.ts'
const OF_SIGN_UP = 'test/control-plane/console/sign-ups.test.ts'
const OF_INVITATION = 'test/control-plane/console/administrators.test.ts'

/** Where success takes more than an API: a database of people, an edge with an application. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  'DELETE /api/v1/operator/tenants/{tenant_id}/certificates/{hostname}': OF_CERTIFICATES,
  'POST /api/v1/operator/tenants/{tenant_id}/certificates/{hostname}/order': OF_CERTIFICATES,
  'POST /api/v1/operator/tenants/{tenant_id}/hostname-claims/{hostname}/check': OF_HOSTNAMES,
  'DELETE /api/v1/operator/tenants/{tenant_id}/hostname-claims/{hostname}': OF_HOSTNAMES,
  'GET /install/linux': OF_INSTALL,
  'GET /install/windows': OF_INSTALL,
  'GET /install/node/{platform}': OF_INSTALL,
  'PATCH /api/v1/operator/console/people/{user_id}': 'test/control-plane/console/people.test.ts',
  'DELETE /api/v1/operator/console/people/{user_id}': 'test/control-plane/console/people.test.ts',
  'DELETE /api/v1/operator/gateways/{gateway_id}': 'test/control-plane/api/gateways.test.ts',
  'DELETE /api/v1/operator/gateways/{gateway_id}/keys/{key_id}':
    'test/control-plane/api/gateways.test.ts',
  'GET /api/v1/operator/console/people/{user_id}': OF_PERSON,
  'POST /api/v1/operator/console/people/{user_id}/sign-out': OF_PERSON,
  'POST /api/v1/operator/console/people/{user_id}/unlock': OF_PERSON,
  'POST /api/v1/operator/console/people/{user_id}/reset-factors': OF_PERSON,
  'POST /api/v1/operator/console/people/{user_id}/resend-invitation': OF_PERSON,
  'POST /api/v1/operator/console/people/{user_id}/revoke-access': OF_PERSON,
  'POST /api/v1/operator/tenants/{tenant_id}/console-invitations/{invitation_id}/resend':
    OF_INVITATION,
  'DELETE /api/v1/operator/tenants/{tenant_id}/console-invitations/{invitation_id}': OF_INVITATION,
  'POST /api/v1/operator/tenants/{tenant_id}/connector-tokens': OF_CONNECTOR,
  'GET /api/v1/operator/tenants/{tenant_id}/connector-tokens': OF_CONNECTOR,
  'DELETE /api/v1/operator/tenants/{tenant_id}/connector-tokens/{token_id}': OF_CONNECTOR,
  'GET /api/v1/operator/tenants/{tenant_id}/connectors': OF_CONNECTOR,
  'DELETE /api/v1/operator/tenants/{tenant_id}/connectors/{connector_id}': OF_CONNECTOR,
  'POST /api/v1/operator/tenants/{tenant_id}/connections/{connection_id}/activate':
    'test/control-plane/realm/connections/sign-in.test.ts',
  'POST /api/v1/operator/tenants/{tenant_id}/saml-connections': OF_SAML,
  'GET /api/v1/operator/tenants/{tenant_id}/connections/{connection_id}/saml': OF_SAML,
  'PATCH /api/v1/operator/tenants/{tenant_id}/connections/{connection_id}/saml': OF_SAML,
  'POST /api/v1/operator/tenants/{tenant_id}/connections/{connection_id}/saml/refresh': OF_SAML,
  'POST /api/v1/operator/tenants/{tenant_id}/sign-ups/{sign_up_id}/approve': OF_SIGN_UP,
  'DELETE /api/v1/operator/tenants/{tenant_id}/sign-ups/{sign_up_id}': OF_SIGN_UP,
  'POST /api/v1/connector/join': OF_CONNECTOR,
  'DELETE /api/v1/operator/tenants/{tenant_id}/device-tickets/{ticket_id}': OF_DEVICE,
  'GET /api/v1/operator/tenants/{tenant_id}/devices/{device_id}': OF_DEVICES,
  'PATCH /api/v1/operator/tenants/{tenant_id}/devices/{device_id}': OF_DEVICES,
  'DELETE /api/v1/operator/tenants/{tenant_id}/devices/{device_id}': OF_DEVICES,
  'POST /api/v1/operator/tenants/{tenant_id}/devices/{device_id}/approve': OF_DEVICES,
  'POST /api/v1/operator/tenants/{tenant_id}/devices/{device_id}/revoke': OF_DEVICES,
  'POST /api/v1/operator/tenants/{tenant_id}/device-revocations': OF_DEVICES,
  'POST /agent/v1/enroll': OF_DEVICE,
  'POST /agent/v1/checkin': 'test/control-plane/devices/ratchet.test.ts',
  'POST /agent/v1/prove': 'test/control-plane/devices/attacks.test.ts',
  'POST /agent/v1/code': 'test/control-plane/devices/attacks.test.ts',
  'POST /agent/v1/leave': 'test/control-plane/devices/ratchet.test.ts',
  'DELETE /api/v1/operator/tenants/{tenant_id}/scim-tokens/{token_id}':
    'test/control-plane/scim/tokens.test.ts',
  'POST /api/v1/connector/state': 'test/control-plane/connectors/keys.test.ts',
  'POST /api/v1/connector/leave': 'test/control-plane/connectors/keys.test.ts',
  'POST /api/v1/cli/device-tokens': 'test/control-plane/api/device-codes.test.ts',
  'POST /api/v1/go-live': 'test/flows: what verification has confirmed',
  'POST /api/v1/integration-complete': 'test/flows: a sign-in from end to end',
  'PUT /api/v1/operator/tenants/{tenant_id}/user-directory': 'below, with a database',
  'GET /api/v1/operator/tenants/{tenant_id}/user-directory': 'below, with a database',
  'DELETE /api/v1/operator/tenants/{tenant_id}/user-directory': 'below, with a database',
  'POST /api/v1/operator/tenants/{tenant_id}/user-directory/dry-run': 'below, with a database',
}

export function callOf(declaration: Declaration, prepared: Prepared): GoodCall {
  const special = SPECIAL[nameOf(declaration)]?.(prepared) ?? {}
  const tenant = special.tenant ?? (declaration.caller === 'client' ? 'apps' : 'acme')
  const values: Readonly<Record<string, string>> = {
    tenant_id: tenant,
    user_id: prepared.userId,
    factor_id: prepared.factorId,
    alert_id: prepared.alertId,
    webhook_id: prepared.webhookId,
    connection_id: prepared.connectionId,
    service_id: prepared.serviceId,
    client_id: prepared.realmClientId,
    secret_id: prepared.secretId,
    invitation_id: 'inv_nobody',
    delivery_id: prepared.deliveryId,
    hostname: 'acme.localhost',
    domain: DOMAIN,
    address: ADDRESS,
    ...special.path,
  }
  const path = declaration.path.replaceAll(
    /\{([^}]+)\}/g,
    (_, name: string) => values[name] ?? name,
  )
  return { tenant, path, body: special.body ?? declaration.example ?? {} }
}

export function nameOf({ method, path }: Declaration): string {
  return `${method} ${path}`
}
