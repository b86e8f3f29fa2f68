/** Everything that the console can show and do, in one table; `route.ts` says how to add to it. */
import { deviceRoutes } from './access/device-routes.ts'
import { invitationRoutes } from './access/invitation-routes.ts'
import { signInRoutes } from './access/sign-in-routes.ts'
import { welcomeRoutes } from './access/welcome-routes.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { homeRoutes } from './home-routes.ts'
import { figuresRoutes } from './operator/figures-routes.ts'
import { fleetRoutes } from './operator/fleet-routes.ts'
import { connectorAuthorityRoutes } from './operator/connector-authority-routes.ts'
import { deviceKeyRoutes } from './operator/device-key-routes.ts'
import { keysRoutes } from './operator/keys-routes.ts'
import { newTenantRoutes } from './operator/new-tenant-routes.ts'
import { peopleRoutes } from './operator/people-routes.ts'
import { personRoutes } from './operator/person-routes.ts'
import { tenantsRoutes } from './operator/tenants-routes.ts'
import { settingsRoutes } from './operator/settings/settings-routes.ts'
import { tenantStateRoutes } from './operator/settings/state-routes.ts'
import { receiptRoutes } from './receipt-routes.ts'
import { searchRoutes } from './search-routes.ts'
import type { ConsoleRoute } from './route.ts'
import { unsentRoutes } from './unsent-routes.ts'
import { administratorsRoutes } from './tenant/administrators-routes.ts'
import { addressBlocksRoutes } from './tenant/people/address-blocks-routes.ts'
import { signUpsRoutes } from './tenant/people/sign-ups-routes.ts'
import { sessionsRoutes } from './tenant/people/sessions-routes.ts'
import { exportRoutes } from './tenant/people/export-routes.ts'
import { importRoutes } from './tenant/people/import-routes.ts'
import { selectedRoutes } from './tenant/people/selected-routes.ts'
import { userEndingsRoutes } from './tenant/people/user-endings-routes.ts'
import { userAttributesRoutes } from './tenant/people/user-attributes-routes.ts'
import { userRoutes } from './tenant/people/user-routes.ts'
import { usersRoutes } from './tenant/people/users-routes.ts'
import { connectionsRoutes } from './tenant/connections/connections-routes.ts'
import { domainsRoutes } from './tenant/connections/domains-routes.ts'
import { connectorsRoutes } from './tenant/connectors/connectors-routes.ts'
import { deviceRoutes as enrolledDeviceRoutes } from './tenant/devices/device-routes.ts'
import { devicesRoutes } from './tenant/devices/devices-routes.ts'
import { ticketRoutes } from './tenant/devices/ticket-routes.ts'
import { installRoutes } from './tenant/devices/install-routes.ts'
import { clientsRoutes } from './tenant/clients/clients-routes.ts'
import { machinesRoutes } from './tenant/machines/machines-routes.ts'
import { hostnamesRoutes } from './tenant/hostnames-routes.ts'
import { instancesRoutes } from './tenant/instances-routes.ts'
import { integrationRoutes } from './tenant/integration/integration-routes.ts'
import { protectionRoutes } from './tenant/integration/protection-routes.ts'
import { secretRoutes } from './tenant/integration/secret-routes.ts'
import { alertsRoutes } from './tenant/alerts-routes.ts'
import { eventsRoutes } from './tenant/events-routes.ts'
import { sealedRoutes } from './tenant/sealed-routes.ts'
import { overviewRoutes } from './tenant/overview-routes.ts'
import { brandingRoutes } from './tenant/branding/branding-routes.ts'
import { groupsRoutes } from './tenant/rules/groups-routes.ts'
import { rulesRoutes } from './tenant/rules/rules-routes.ts'
import { whoRoutes } from './tenant/rules/who-routes.ts'
import { policiesRoutes } from './tenant/policies/policies-routes.ts'
import { alertEmailsRoutes } from './alert-emails-routes.ts'
import { directoryRoutes } from './tenant/directory/directory-routes.ts'
import { handOverRoutes } from './tenant/provisioning/hand-over-routes.ts'
import { provisioningRoutes } from './tenant/provisioning/provisioning-routes.ts'
import { startRoutes } from './tenant/start-routes.ts'
import { deliveryRoutes } from './tenant/webhooks/delivery-routes.ts'
import { webhookListRoutes } from './tenant/webhooks/list-routes.ts'
import { webhookStateRoutes } from './tenant/webhooks/state-routes.ts'
import { webhookRoutes } from './tenant/webhooks/webhook-routes.ts'
import type { ConsoleWorld } from './world.ts'

export function consoleRoutes(world: ConsoleWorld): readonly ConsoleRoute[] {
  const routes: ConsoleRoute[] = [
    ...homeRoutes(world),
    ...signInRoutes(world),
    ...welcomeRoutes(world),
    ...invitationRoutes(world),
    ...deviceRoutes(world),
    ...alertEmailsRoutes(world),
    ...receiptRoutes(world),
    ...unsentRoutes(world, () => routes),
    ...searchRoutes(world, () => paths),
    // operators
    ...tenantsRoutes(world),
    ...newTenantRoutes(world),
    ...peopleRoutes(world),
    ...personRoutes(world),
    ...settingsRoutes(world),
    ...tenantStateRoutes(world),
    ...fleetRoutes(world),
    ...figuresRoutes(world),
    ...keysRoutes(world),
    ...deviceKeyRoutes(world),
    ...connectorAuthorityRoutes(world),
    // a tenant's administrators
    ...installRoutes(world),
    ...startRoutes(world),
    ...overviewRoutes(world),
    ...alertsRoutes(world),
    ...eventsRoutes(world),
    ...sealedRoutes(world),
    ...integrationRoutes(world),
    ...protectionRoutes(world),
    ...hostnamesRoutes(world),
    ...secretRoutes(world),
    ...instancesRoutes(world),
    ...connectionsRoutes(world), // `new` before those of one
    ...domainsRoutes(world),
    ...provisioningRoutes(world),
    ...connectorsRoutes(world),
    ...ticketRoutes(world), // before those of one device: `enroll` is no id
    ...devicesRoutes(world),
    ...enrolledDeviceRoutes(world),
    ...machinesRoutes(world),
    ...clientsRoutes(world),
    ...sessionsRoutes(world),
    ...usersRoutes(world), // before those of one user: `new` is nobody's id
    ...selectedRoutes(world),
    ...importRoutes(world),
    ...exportRoutes(world),
    ...userRoutes(world),
    ...userAttributesRoutes(world),
    ...userEndingsRoutes(world),
    ...handOverRoutes(world),
    ...addressBlocksRoutes(world),
    ...signUpsRoutes(world),
    ...administratorsRoutes(world),
    ...directoryRoutes(world),
    ...policiesRoutes(world),
    ...whoRoutes(world), // before those of one rule: `who` is no number
    ...rulesRoutes(world),
    ...groupsRoutes(world),
    ...brandingRoutes(world),
    ...auditRoutes(world),
    ...webhookListRoutes(world), // before those of one webhook: `new` is no id
    ...webhookRoutes(world),
    ...webhookStateRoutes(world),
    ...deliveryRoutes(world),
  ]
  const paths: ReadonlySet<string> = new Set(routes.map(({ declaration }) => declaration.path))
  return routes
}
