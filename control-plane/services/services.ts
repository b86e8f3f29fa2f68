/** The control plane put together, without sockets: what `app.ts` and the realms stand on. */
import { createConsoleAccess } from '../console-access/console-access.ts'
import { createRealms } from '../realm/realms.ts'
import { deleteFullRates } from '../store/queries/rates.ts'
import { deleteRealmRecordsExpiredBefore } from '../store/queries/revocations.ts'
import { pruneWith } from '../store/statements.ts'
import { createConnectionServices } from './connections.ts'
import { createConnectorServices } from './connectors.ts'
import { createDeviceServices } from './devices.ts'
import { openEnforcement } from './enforcement.ts'
import { createIntegrations } from './integration.ts'
import { createJobs } from './jobs.ts'
import { createNotices } from './notices.ts'
import { createPeople } from './people.ts'
import { createScimServices } from './scim.ts'
import { openTenants } from './tenants.ts'
import { noTracing } from '../tracing/tracing.ts'
import type { ServicesWorld } from './world.ts'

export type Services = Awaited<ReturnType<typeof createServices>>

export async function createServices(given: ServicesWorld) {
  const { baseUrl, edgeUrlFor, clock, log, trustedProxies = [], hasOwnTls = false } = given
  const { tracing = noTracing() } = given
  const world = { ...given, tracing }
  const jobs = createJobs(log, clock, tracing)
  const ofTenants = await openTenants(world, jobs)
  const people = createPeople(world, ofTenants, jobs)
  const enforcement = await openEnforcement(world, ofTenants, jobs)
  const notices = createNotices(world, { ...ofTenants, ...people }, jobs)
  const below = {
    baseUrl,
    edgeUrlFor,
    clock,
    log,
    tracing,
    ...ofTenants,
    ...people,
    ...enforcement,
  }
  const isShared = world.engine.nodes !== undefined
  const ofConnectors = createConnectorServices({ ...below, isShared }, jobs)
  const ofDevices = createDeviceServices({ ...world, ...below }, jobs)
  const integrations = createIntegrations(world, { ...below, ...ofConnectors }, jobs)
  const ofConnections = createConnectionServices(world, below, jobs)
  const ofScim = createScimServices(world, below, jobs)
  const realms = createRealms({ ...below, ...ofDevices, ...ofConnections })
  const { store, directories } = below
  store.onCannotWrite((why) => {
    if (why === undefined) log.info('the database takes changes again')
    else log.error({ reason: why }, 'the database takes no changes; it is tried again every second')
  })
  jobs.tidies('realmRecords', pruneWith(store, deleteRealmRecordsExpiredBefore, 0))
  jobs.tidies('rates', pruneWith(store, deleteFullRates, 0))

  return {
    ...below,
    ...notices,
    ...integrations,
    ...ofConnectors,
    ...ofDevices,
    ...ofConnections,
    ...ofScim,
    jobs,
    realms,
    consoleAccess: jobs.tidied('consoleAccess', createConsoleAccess(below)),
    /** TLS ends in front of us at somebody who is not named: all clients have one address. */
    clientsHidden: baseUrl.startsWith('https:') && trustedProxies.length === 0 && !hasOwnTls,

    /** In the reverse order of what stands on what. */
    async close(): Promise<void> {
      await below.acme?.close()
      below.proofs.close()
      await jobs.close()
      await ofScim.scimLog.flush().catch(() => undefined)
      realms.close()
      await people.closeBehindAnswers()
      await directories.close()
      await integrations.analysis.close()
      await integrations.integration.close()
      await integrations.verification.close()
      await enforcement.followFleet.close()
      await enforcement.tellSettings.close()
      await enforcement.fleet.close()
      await enforcement.instances.close()
      await enforcement.logoutNotices.close()
      await notices.dispatcher.close()
      await ofConnections.closeProviders()
      await people.mails.close()
      await people.closePasswords()
      await below.leases.close()
      await store.close()
    },
  }
}
