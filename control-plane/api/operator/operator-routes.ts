/** Everything under `/api/v1/operator`. */
import * as v from 'valibot'
import type { AuditTrail } from '../../accounts/audit-trail.ts'
import { AuditEntry } from '../answer-fields.ts'
import { described } from '../../requests/described.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { AUDIT_QUERY, toAuditSearch } from '../../requests/audit-fields.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { accessEndpoints, type AccessEndpointsWorld } from './access-routes.ts'
import { accountEndpoints, type AccountEndpointsWorld } from './account-routes.ts'
import { consoleEndpoints, type ConsoleEndpointsWorld } from './console-routes.ts'
import { connectionEndpoints, type ConnectionEndpointsWorld } from './connection-routes.ts'
import {
  operatorConnectorEndpoints,
  type OperatorConnectorEndpointsWorld,
} from './connector-routes.ts'
import { operatorDeviceEndpoints, type OperatorDeviceEndpointsWorld } from './device-routes.ts'
import { directoryEndpoints, type DirectoryEndpointsWorld } from './directory-routes.ts'
import { operatorFeedEndpoints, type OperatorFeedEndpointsWorld } from './feed-routes.ts'
import { gatewayEndpoints, type GatewayEndpointsWorld } from './gateway-routes.ts'
import { hostnameEndpoints, type HostnameEndpointsWorld } from './hostname-routes.ts'
import { machineEndpoints, type MachineEndpointsWorld } from './machine-routes.ts'
import { keyEndpoints, type KeyEndpointsWorld } from './key-routes.ts'
import { monitoringEndpoints, type MonitoringEndpointsWorld } from './monitoring-routes.ts'
import { personEndpoints, type PersonEndpointsWorld } from './person-routes.ts'
import { policyEndpoints, type PolicyEndpointsWorld } from './policy-routes.ts'
import { scimEndpoints, type ScimEndpointsWorld } from './scim-routes.ts'
import { signInEndpoints, type SignInEndpointsWorld } from './sign-in-routes.ts'
import { tenantEndpoints, type TenantEndpointsWorld } from './tenant-routes.ts'
import { auditView } from './views.ts'
import { webhookEndpoints, type WebhookEndpointsWorld } from './webhook-routes.ts'

const operator = endpointsOf('fleet', 'operator')

export type OperatorEndpointsWorld = TenantEndpointsWorld &
  KeyEndpointsWorld &
  HostnameEndpointsWorld &
  AccountEndpointsWorld &
  PolicyEndpointsWorld &
  AccessEndpointsWorld &
  MachineEndpointsWorld &
  SignInEndpointsWorld &
  DirectoryEndpointsWorld &
  OperatorFeedEndpointsWorld &
  WebhookEndpointsWorld &
  ConnectionEndpointsWorld &
  ScimEndpointsWorld &
  OperatorConnectorEndpointsWorld &
  OperatorDeviceEndpointsWorld &
  MonitoringEndpointsWorld &
  ConsoleEndpointsWorld &
  PersonEndpointsWorld &
  GatewayEndpointsWorld & { readonly auditTrail: AuditTrail }

export function operatorEndpoints(world: OperatorEndpointsWorld): readonly Endpoint[] {
  return [
    ...tenantEndpoints(world),
    ...keyEndpoints(world),
    ...hostnameEndpoints(world),
    ...accountEndpoints(world),
    ...policyEndpoints(world),
    ...accessEndpoints(world),
    ...machineEndpoints(world),
    ...signInEndpoints(world),
    ...directoryEndpoints(world),
    ...operatorFeedEndpoints(world),
    ...operatorConnectorEndpoints(world),
    ...operatorDeviceEndpoints(world),
    ...webhookEndpoints(world),
    ...connectionEndpoints(world),
    ...scimEndpoints(world),
    ...monitoringEndpoints(world),
    ...consoleEndpoints(world),
    ...personEndpoints(world),
    ...gatewayEndpoints(world),
    operator.get('/api/v1/operator/audit', {
      summary: 'Lists who changed what, newest first.',
      query: {
        ...PAGE_QUERY,
        ...AUDIT_QUERY,
        tenant_id: v.optional(
          described(
            v.string(),
            'Only entries about this tenant, including earlier tenants with the same ID.',
          ),
        ),
      },
      answers: { 200: json(pageOf(AuditEntry), 'One page of entries.') },
      handle: async (c, { query: { tenant_id: tenantId, limit, cursor, ...wish } }) => {
        const search = { ...toAuditSearch(wish), tenantId, ofUsers: tenantId }
        return c.json(mapPage(await world.auditTrail.search({ limit, cursor }, search), auditView))
      },
    }),
  ]
}
