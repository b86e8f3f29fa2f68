/** Everything under `/api/v1/operator`. */
import * as v from 'valibot'
import { AuditEntry } from '../answer-fields.ts'
import { described } from '../../requests/described.ts'
import { endpointsOf, json, type Endpoint } from '../endpoint.ts'
import { AUDIT_QUERY, toAuditSearch } from '../../requests/audit-fields.ts'
import { mapPage, PAGE_QUERY, pageOf } from '../../requests/paging.ts'
import { accessEndpoints } from './access-routes.ts'
import { attributeEndpoints } from './attribute-routes.ts'
import { clientEndpoints } from './client-routes.ts'
import { accountEndpoints } from './account-routes.ts'
import { consoleEndpoints } from './console-routes.ts'
import { connectionDomainEndpoints } from './connection-domain-routes.ts'
import { connectionEndpoints } from './connection-routes.ts'
import { samlEndpoints } from './saml-routes.ts'
import { operatorConnectorEndpoints } from './connector-routes.ts'
import { operatorDeviceEndpoints } from './device-routes.ts'
import { directoryEndpoints } from './directory-routes.ts'
import { operatorFeedEndpoints } from './feed-routes.ts'
import { gatewayEndpoints } from './gateway-routes.ts'
import { hostnameEndpoints } from './hostname-routes.ts'
import { machineEndpoints } from './machine-routes.ts'
import { keyEndpoints } from './key-routes.ts'
import { monitoringEndpoints } from './monitoring-routes.ts'
import { personEndpoints } from './person-routes.ts'
import { policyEndpoints } from './policy-routes.ts'
import { scimEndpoints } from './scim-routes.ts'
import { signInEndpoints } from './sign-in-routes.ts'
import { signUpEndpoints } from './sign-up-routes.ts'
import { tenantEndpoints } from './tenant-routes.ts'
import { auditView } from './views.ts'
import { webhookEndpoints } from './webhook-routes.ts'
import type { ApiWorld } from '../world.ts'

const operator = endpointsOf('fleet', 'operator')

export function operatorEndpoints(world: ApiWorld): readonly Endpoint[] {
  return [
    ...tenantEndpoints(world),
    ...keyEndpoints(world),
    ...hostnameEndpoints(world),
    ...accountEndpoints(world),
    ...signUpEndpoints(world),
    ...policyEndpoints(world),
    ...accessEndpoints(world),
    ...attributeEndpoints(world),
    ...machineEndpoints(world),
    ...clientEndpoints(world),
    ...signInEndpoints(world),
    ...directoryEndpoints(world),
    ...operatorFeedEndpoints(world),
    ...operatorConnectorEndpoints(world),
    ...operatorDeviceEndpoints(world),
    ...webhookEndpoints(world),
    ...connectionEndpoints(world),
    ...connectionDomainEndpoints(world),
    ...samlEndpoints(world),
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
