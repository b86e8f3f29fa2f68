/**
 * All tables. Times are epoch milliseconds (`_at`); columns that end in `_sealed` are encrypted under
 * the master key; ones that end in `_hash` cannot be turned back.
 */
import * as access from './access-tables.ts'
import * as acme from './acme-tables.ts'
import * as analysis from './analysis-tables.ts'
import {
  connectionDomains,
  connectionIdentities,
  connections,
  upstreamLogouts,
  upstreamSessions,
} from './connection-tables.ts'
import { clientSessions, realmClients } from './client-tables.ts'
import * as connector from './connector-tables.ts'
import * as ofConsole from './console-tables.ts'
import * as core from './core-tables.ts'
import * as device from './device-tables.ts'
import * as feed from './feed-tables.ts'
import * as hostname from './hostname-tables.ts'
import * as monitoring from './monitoring-tables.ts'
import { samlAnswers, samlConnections } from './saml-tables.ts'
import { scimGroups, scimPeople, scimRequests, scimTokens } from './scim-tables.ts'
import { serviceAssertions, services, serviceSecrets, serviceUses } from './service-tables.ts'
import * as signIn from './sign-in-tables.ts'
import * as webhook from './webhook-tables.ts'

export const schema = {
  ...access,
  ...acme,
  ...analysis,
  connectionDomains,
  connectionIdentities,
  connections,
  upstreamLogouts,
  upstreamSessions,
  clientSessions,
  realmClients,
  ...connector,
  ...ofConsole,
  ...core,
  ...device,
  ...feed,
  ...hostname,
  ...monitoring,
  samlAnswers,
  samlConnections,
  scimGroups,
  scimPeople,
  scimRequests,
  scimTokens,
  serviceAssertions,
  services,
  serviceSecrets,
  serviceUses,
  ...signIn,
  ...webhook,
}
export type Schema = typeof schema
