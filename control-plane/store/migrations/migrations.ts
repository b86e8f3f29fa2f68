import { first } from './0001-first.ts'
import { signIn } from './0002-sign-in.ts'
import { feed } from './0003-feed.ts'
import { webhooks } from './0004-webhooks.ts'
import { monitoring } from './0005-monitoring.ts'
import { analysis } from './0006-analysis.ts'
import { consoleAccess } from './0007-console.ts'
import { people } from './0008-people.ts'
import { analyzerKeyOverlap } from './0009-analyzer-key-overlap.ts'
import { consoleFigures } from './0010-console-figures.ts'
import { tenantNumbers } from './0011-tenant-numbers.ts'
import { renewedDevices } from './0012-renewed-devices.ts'
import { gatewayKeys } from './0013-gateway-keys.ts'
import { strangers } from './0014-strangers.ts'
import { consolePeople } from './0015-console-people.ts'
import { leftBehind } from './0016-left-behind.ts'
import { openRecords } from './0017-open-records.ts'
import { formContent } from './0018-form-content.ts'
import { deviceTokens } from './0019-device-tokens.ts'
import { directoryKeys } from './0020-directory-keys.ts'
import { selectiveIndexes } from './0021-selective-indexes.ts'
import { mailTurns } from './0022-mail-turns.ts'
import { dueMails } from './0023-due-mails.ts'
import { noticeTurns } from './0024-notice-turns.ts'
import { removedTenants } from './0025-removed-tenants.ts'
import { webhookGenerations } from './0026-webhook-generations.ts'
import { sites } from './0027-sites.ts'
import { sentAgain } from './0028-sent-again.ts'
import { keptDeliveries } from './0029-kept-deliveries.ts'
import { peopleAtSize } from './0030-people-at-size.ts'
import { refusedPaths } from './0031-refused-paths.ts'
import { alertMails } from './0033-alert-mails.ts'
import { deviceCodes } from './0034-device-codes.ts'
import { alertRecipients } from './0035-alert-recipients.ts'
import { connectors } from './0036-connectors.ts'
import { connectorPresence } from './0037-connector-presence.ts'
import { alertConsent } from './0038-alert-consent.ts'
import { devices } from './0039-devices.ts'
import { deviceChallenges } from './0041-device-challenges.ts'
import { keptDevices } from './0043-kept-devices.ts'
import { unmetFacts } from './0047-unmet-facts.ts'
import { makers } from './0048-makers.ts'
import { numbers } from './0050-numbers.ts'
import { deviceTypedCodes } from './0056-device-typed-codes.ts'
import { nodes } from './0051-nodes.ts'
import { connectorRequests } from './0059-connector-requests.ts'
import { demanded } from './0049-demanded.ts'
import { oneKindOfStopLink } from './0044-one-kind-of-stop-link.ts'
import { secondDatabase } from './0045-second-database.ts'
import { rates } from './0055-rates.ts'
import { leases } from './0057-leases.ts'
import { sharedPresence } from './0058-shared-presence.ts'
import { signInTrials } from './0060-sign-in-trials.ts'
import { keylessGateways } from './0061-keyless-gateways.ts'
import { accessRules } from './0064-access-rules.ts'
import { acmeOrders } from './0062-acme-orders.ts'
import { allowedAt } from './0063-allowed-at.ts'
import { connections } from './0066-connections.ts'
import { hostnameClaims } from './0065-hostname-claims.ts'
import { scim } from './0067-scim.ts'
import { services } from './0068-services.ts'
import { madeInSession } from './0070-made-in-session.ts'
import { machineUses } from './0071-machine-uses.ts'

export interface Migration {
  readonly name: string
  /** In words that both databases know. */
  readonly statements: readonly string[]
  /** Where they do not: instead of those, all of it. */
  readonly postgres?: readonly string[]
}

/** In this order, each once. A migration that has been released is never edited. */
export const migrations: readonly Migration[] = [
  first,
  signIn,
  feed,
  webhooks,
  monitoring,
  analysis,
  consoleAccess,
  people,
  analyzerKeyOverlap,
  consoleFigures,
  tenantNumbers,
  renewedDevices,
  gatewayKeys,
  strangers,
  consolePeople,
  leftBehind,
  openRecords,
  formContent,
  deviceTokens,
  directoryKeys,
  selectiveIndexes,
  mailTurns,
  dueMails,
  noticeTurns,
  removedTenants,
  webhookGenerations,
  sites,
  sentAgain,
  keptDeliveries,
  peopleAtSize,
  refusedPaths,
  alertMails,
  deviceCodes,
  alertRecipients,
  connectors,
  connectorPresence,
  alertConsent,
  devices,
  deviceChallenges,
  oneKindOfStopLink,
  secondDatabase,
  keptDevices,
  unmetFacts,
  demanded,
  makers,
  numbers,
  nodes,
  rates,
  deviceTypedCodes,
  leases,
  sharedPresence,
  connectorRequests,
  signInTrials,
  keylessGateways,
  acmeOrders,
  allowedAt,
  accessRules,
  connections,
  hostnameClaims,
  scim,
  services,
  madeInSession,
  machineUses,
]
