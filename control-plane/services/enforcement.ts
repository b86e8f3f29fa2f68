/** Who enforces what tenants decide: gateways, told by the fleet link, and instances, which poll. */
import { isDeepStrictEqual } from 'node:util'
import { SECOND_MS } from '../../shared/clock.ts'
import { SERVICE_ID } from '../../shared/fleet/access-rules.ts'
import type { FleetSettings, Revoked, SessionActivity } from '../../shared/fleet/snapshot.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createCoalescingRunner } from '../concurrency/coalescing-runner.ts'
import { followHolders } from '../connectors/holders.ts'
import { createConnectorPresence } from '../connectors/presence.ts'
import { createGatewayDoors } from '../connectors/gateway-doors.ts'
import { createEnforcement } from '../events/enforcement.ts'
import { createLogoutNotices } from '../events/logout-notices.ts'
import { createSealedPaths } from '../events/sealed-paths.ts'
import { createEventLog } from '../events/event-log.ts'
import { createClients } from '../feed/clients.ts'
import { createFeed } from '../feed/feed.ts'
import { openInstances } from '../feed/instances.ts'
import { createFeedStates } from '../feed/states.ts'
import { createFleetHub } from '../fleet/hub.ts'
import { openFleetCertificate } from '../keys/fleet-certificate.ts'
import { createGatewayKeys } from '../keys/gateway-keys.ts'
import { createTicketSecret } from '../keys/ticket-secret.ts'
import { createFigures } from '../monitoring/figures.ts'
import { ENFORCED_BY_NOBODY } from '../store/enforced.ts'
import { isReserved } from '../store/reserved.ts'
import { createFleetSource } from '../tenants/fleet-source.ts'
import { createServiceIdentities } from '../tenants/service-identities.ts'
import type { Jobs } from './jobs.ts'
import type { TenantServices } from './tenants.ts'
import type { ServicesWorld } from './world.ts'

export type EnforcementServices = Awaited<ReturnType<typeof openEnforcement>>

export async function openEnforcement(world: ServicesWorld, below: TenantServices, jobs: Jobs) {
  const { fleetKey, baseUrl, edgeUrlFor, clock, log } = world
  const { enforceMsMax = LIMITS.fleetEnforceMsMax } = world
  const { receivers = { allowPrivate: [], egressProxy: null } } = world
  const { store, vault, keys, tenants, sessions, machines, revocations } = below
  const logoutNotices = createLogoutNotices({
    store,
    tenants,
    keys,
    receivers,
    baseUrl,
    clock,
    log,
  })
  jobs.begins(() => logoutNotices.send())

  const identities = createServiceIdentities({ vault, baseUrl })
  const states = createFeedStates({ store, revocations, clock, identities })
  const clients = createClients({ store, vault, states, clock })
  const instances = await openInstances({ store, states, clock })
  jobs.tidies('instances', async (limit) => {
    await instances.write()
    return instances.prune(limit)
  })
  const feed = createFeed({ states, instances, clock })

  const figures = jobs.tidied('figures', createFigures({ store, clock }))
  const enforcement = jobs.tidied('enforcement', createEnforcement({ store, clock }))
  const tickets = createTicketSecret({ store, vault })
  const gatewayDoors = createGatewayDoors({ store, clock })
  jobs.tidies('gatewayDoors', async (limit) => {
    const connected = fleet.gateways().filter((gateway) => gateway.connected)
    await gatewayDoors.refresh(connected.map(({ gateway_id }) => gateway_id))
    const pruned = await gatewayDoors.prune(limit)
    await tellSettings.run()
    return pruned
  })
  const connectorPresence = createConnectorPresence({ clock })
  const fleetCertificate = await openFleetCertificate(store, vault)
  const gatewayKeys = createGatewayKeys({
    fingerprint: fleetCertificate.fingerprint,
    store,
    clock,
    vault,
    tickets,
    async onRevoked(keyIds, ticket_secret, gatewayId) {
      const known = fleet.gateways().find(({ gateway_id }) => gateway_id === gatewayId)
      const keyId = known?.connected === true ? known.key_id : null
      fleet.cut(keyIds)
      secretsReplaced++
      settings = { ...settings, ticket_secret }
      fleet.changeSettings(settings)
      // Its certificate follows from its key, and speaks for it to the other gateways.
      if (keyId === null || keyIds.includes(keyId)) await gatewayDoors.forget(gatewayId)
      await tellSettings.run()
    },
    async onRemoved(gatewayId) {
      fleet.forget(gatewayId)
      await gatewayDoors.forget(gatewayId)
      await tellSettings.run()
    },
    async enforced(gatewayId) {
      const position = (await world.engine.nodes?.head())?.position ?? null
      const told = await fleet.revocationsSettled(enforceMsMax, position)
      // It has been sent away, and nobody waits for it.
      return { ...told, unreachable: told.unreachable.filter((id) => id !== gatewayId) }
    },
  })
  jobs.tidies('keylessGateways', async (limit) => {
    const here = fleet.gateways().filter((one) => one.connected && one.key_id === null)
    await gatewayKeys.areHereKeyless(here.map(({ gateway_id }) => gateway_id))
    return gatewayKeys.pruneKeyless(limit)
  })
  let settings = await readSettings()
  let secretsReplaced = 0
  let areSettingsTold = true

  async function readSettings(): Promise<FleetSettings> {
    const ticket_secret = await tickets.current()
    const gateways = await gatewayDoors.all()
    // left out where no gateway has a door
    return { base_url: baseUrl, ticket_secret, ...(gateways.length === 0 ? {} : { gateways }) }
  }

  /** All gateways, so that each can reach connectors at others, and lets nobody else in. */
  const tellSettings = createCoalescingRunner(
    async () => {
      const replacedBefore = secretsReplaced
      const read = await readSettings()
      // A secret that was replaced meanwhile, for a gateway that was sent away, may not come back.
      const { ticket_secret } = replacedBefore === secretsReplaced ? read : settings
      const now = { ...read, ticket_secret }
      areSettingsTold = true
      if (isDeepStrictEqual(now, settings)) return
      settings = now
      fleet.changeSettings(settings)
    },
    (error) => {
      areSettingsTold = false
      log.error({ error }, 'what gateways go by cannot be read, trying again')
      setTimeout(() => void tellSettings.run(), SECOND_MS).unref()
    },
  )

  const fleetSource = createFleetSource({
    ...{ store, vault, revocations, baseUrl, edgeUrlFor },
    acmeThumbprint: below.acme?.thumbprint,
  })
  const fleet = createFleetHub({
    source: fleetSource,
    fleetKey,
    sharedKey: world.sharedFleetKey ?? 'local',
    keys: gatewayKeys,
    clock,
    log,
    settings,
    async onActivity(_gatewayId, seen) {
      const [ofMachines = [], ofPeople = []] = [true, false].map((isMachine) =>
        seen.filter(({ subject }) => SERVICE_ID.test(subject) === isMachine),
      )
      await sessions.seen(
        ofPeople.map(({ tenant_id: tenantId, sid, at }) => {
          return { tenantId, sid, atMs: at * SECOND_MS }
        }),
      )
      await machines.used(ofMachines.map(machineUseOf))
    },
    async onDoor(gatewayId, door) {
      await gatewayDoors.connected(gatewayId, door)
      await tellSettings.run()
    },
    holders: () => holders.all(),
    onEvents: (gatewayId, events) => enforcement.receive(gatewayId, events),
    async onHeld(gatewayId, held) {
      const actor = { name: `gateway ${gatewayId}`, requestId: '' }
      for (const { tenant_id: tenantId, revoked } of held)
        await revocations.recover(tenantId, revoked, actor)
    },
    onFigures: (gatewayId, counted) => figures.receive(gatewayId, counted),
    onConnectors: connectorPresence.receive,
    nodes: world.engine.nodes,
  })
  const holders = followHolders({ presence: connectorPresence, tell: fleet.holdersChanged })
  let [fleetChanges, fleetFollowed, heardPosition] = [0, 0, -1]
  store.onCommit(({ tenantIds, revoked, isOfFleet, removedGateways, isFromLog }) => {
    for (const tenantId of tenantIds) fleet.tenantChanged(tenantId)
    if (!isFromLog) return
    tellRevoked(revoked)
    for (const gatewayId of removedGateways) fleet.forget(gatewayId)
    if (isOfFleet) followAgain()
  })
  store.onHeard((position) => {
    heardPosition = position
    tellHeard()
  })
  store.onRestart(() => {
    heardPosition = -1 // of another log
    fleet.startOver()
    followAgain()
  })
  function followAgain() {
    fleetChanges++
    void followFleet.run()
  }
  /** Not before gateways have been told all of it. */
  function tellHeard() {
    if (fleetFollowed === fleetChanges && heardPosition >= 0) fleet.heard(heardPosition)
  }
  /** What other control planes have changed of gateways: which keys there are, and what all are told. */
  const followFleet = createCoalescingRunner(
    async () => {
      const changes = fleetChanges
      fleet.cutAllBut(new Set((await gatewayKeys.list()).map(({ keyId }) => keyId)))
      await tellSettings.run()
      if (!areSettingsTold) throw new Error('what gateways go by could not be read')
      fleetFollowed = changes
      tellHeard()
    },
    (error) => {
      log.error({ error }, 'which gateways may be here cannot be read, trying again')
      setTimeout(() => void followFleet.run(), SECOND_MS).unref()
    },
  )
  store.enforceBy(async (revoked, position) =>
    tellRevoked(revoked) ? fleet.revocationsSettled(enforceMsMax, position) : ENFORCED_BY_NOBODY,
  )

  /** False: it is nothing to gateways. */
  function tellRevoked(revoked: ReadonlyMap<string, Revoked>): boolean {
    const ofGateways = [...revoked].filter(([tenantId]) => !isReserved(tenantId))
    for (const [tenantId, state] of ofGateways) fleet.revoked(tenantId, state)
    return ofGateways.length > 0
  }

  return {
    identities,
    logoutNotices,
    clients,
    instances,
    feed,
    figures,
    enforcement,
    eventLog: createEventLog({ store }),
    sealedPaths: createSealedPaths({ store }),
    gatewayDoors,
    connectorPresence,
    gatewayKeys,
    fleetCertificate,
    fleetSource,
    fleet,
    followFleet,
    tellSettings,
    gateways: () => fleet.gateways(),
    /** Who goes by what has just been changed of a tenant, or by its end. */
    changeEnforced: async (tenantId: string) => {
      const revision = (await tenants.find(tenantId))?.revision ?? (await store.revision())
      return fleet.enforced(tenantId, revision, enforceMsMax)
    },
    changesSettled: async () => fleet.settled(await store.revision(), LIMITS.fleetSettleMsMax),
  }
}

/** A gateway of the version before tells of one request, and not of where it came from. */
function machineUseOf({ tenant_id, subject, sid, at, ip, requests = 1 }: SessionActivity) {
  const whose = { tenantId: tenant_id, serviceId: subject, secretId: sid }
  return { ...whose, atMs: at * SECOND_MS, ip, requests: Math.min(requests, LIMITS.eventCountMax) }
}
