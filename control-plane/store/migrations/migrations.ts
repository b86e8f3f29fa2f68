import { until0007 } from './until-0007.ts'
import { until0029 } from './until-0029.ts'
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
import { accessHistory } from './0073-access-history.ts'
import { hostnameProofs } from './0075-hostname-proofs.ts'
import { acmeDns } from './0077-acme-dns.ts'
import { saml } from './0078-saml.ts'
import { connectionDomains } from './0079-connection-domains.ts'
import { connectorAuthority } from './0082-connector-authority.ts'
import { personAttributes } from './0084-person-attributes.ts'
import { machineKeys } from './0085-machine-keys.ts'
import { figureAdditions } from './0086-figure-additions.ts'
import { writtenAt } from './0091-written-at.ts'
import { connectedMembers } from './0092-connected-members.ts'
import { organizationId } from './0093-organization-id.ts'
import { signUps } from './0094-sign-ups.ts'
import { acmeFollowers } from './0097-acme-followers.ts'
import { realmClients } from './0099-realm-clients.ts'
import { logoutListeners } from './0102-logout-listeners.ts'

export interface Migration {
  readonly name: string
  /** In words that both databases know. */
  readonly statements: readonly string[]
  /** Where they do not: instead of those, all of it. */
  readonly postgres?: readonly string[]
}

/** In this order, each once. A migration that has been released is never edited. */
export const migrations: readonly Migration[] = [
  ...until0007,
  ...until0029,
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
  accessHistory,
  hostnameProofs,
  acmeDns,
  saml,
  connectionDomains,
  connectorAuthority,
  personAttributes,
  machineKeys,
  figureAdditions,
  writtenAt,
  connectedMembers,
  organizationId,
  signUps,
  acmeFollowers,
  realmClients,
  logoutListeners,
]
