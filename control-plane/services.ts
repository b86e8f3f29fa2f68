/** The control plane put together, without sockets: what `app.ts` and the realms stand on. */
import type { Logger } from 'pino'
import { SECOND_MS, type Clock } from '../shared/clock.ts'
import { countedAs } from '../shared/client-address.ts'
import { LIMITS } from '../shared/limits.ts'
import { createAddressBlocks } from './accounts/address-blocks.ts'
import { createAttempts } from './accounts/attempts.ts'
import { noBreachList, type BreachList } from './accounts/passwords/breach-list.ts'
import { createDevices } from './accounts/devices.ts'
import { createFactors } from './accounts/factors.ts'
import { createPasswordRules } from './accounts/passwords/rules.ts'
import { createPasswordHasher, type PasswordCost } from './accounts/passwords/hasher.ts'
import { createStrength } from './accounts/passwords/strength.ts'
import { createRevocations } from './sessions/revocations.ts'
import { createPolicyReplay } from './accounts/policy-replay.ts'
import { createAnalysis } from './analysis/analysis.ts'
import { createBudgets } from './analysis/budgets.ts'
import { createGuides } from './analysis/guides.ts'
import type { AiSettings } from './analysis/provider.ts'
import { createProvider, type ProviderWorld } from './analysis/provider-client.ts'
import { createAccountMail } from './accounts/account-mail.ts'
import { createTickets } from './accounts/tickets.ts'
import { createMails, type MailTransport } from './mail/mails.ts'
import { createAuditTrail } from './accounts/audit-trail.ts'
import { createSessions } from './sessions/sessions.ts'
import { createTrialPeople } from './accounts/trial-people.ts'
import { createTurns } from './concurrency/fair-semaphore.ts'
import { createUsers } from './accounts/users.ts'
import { createAddresses } from './user-directory/addresses.ts'
import { createUserDirectories } from './user-directory/user-directories.ts'
import { createEnforcement } from './events/enforcement.ts'
import { createLogoutNotices } from './events/logout-notices.ts'
import { createClients } from './feed/clients.ts'
import { createFeed } from './feed/feed.ts'
import { openInstances } from './feed/instances.ts'
import { createFeedStates } from './feed/states.ts'
import type { SharedKeyUse } from './fleet/admission.ts'
import { createFleetHub } from './fleet/hub.ts'
import { ENFORCED_BY_NOBODY } from './store/enforced.ts'
import { createConsoleAccess } from './console-access/console-access.ts'
import { createAlerts } from './monitoring/alerts.ts'
import { createDigests } from './monitoring/digests.ts'
import { createFigures } from './monitoring/figures.ts'
import { createRefusals } from './monitoring/refusals.ts'
import { createToldEvents } from './events/told-events.ts'
import { createGatewayKeys } from './keys/gateway-keys.ts'
import { checkMasterKey } from './keys/master-key.ts'
import type { RsaKey } from './keys/rsa-keys.ts'
import { createSigningKeys } from './keys/signing-keys.ts'
import { createTicketSecret } from './keys/ticket-secret.ts'
import { createVault } from './keys/vault.ts'
import { createRealms } from './realm/realms.ts'
import { deleteRealmRecordsExpiredBefore } from './store/queries/revocations.ts'
import { isReserved } from './store/reserved.ts'
import type { Engine } from './store/sqlite.ts'
import { openStore } from './store/store.ts'
import { createCertificates } from './tenants/certificates.ts'
import { createFleetSource } from './tenants/fleet-source.ts'
import { createPolicies } from './tenants/policies.ts'
import { createProtectionStatements } from './tenants/protection-statements.ts'
import { createTenants } from './tenants/tenants.ts'
import { createProbeClient } from './verification/probe-client.ts'
import { createIntegration } from './verification/integration.ts'
import { createSelfReports } from './verification/self-reports.ts'
import { createVerification } from './verification/verification.ts'
import { createDispatcher } from './webhooks/dispatcher.ts'
import {
  createAddressCheck,
  createReceiverClient,
  type ReceiverWorld,
} from './webhooks/receiver-client.ts'
import { readWebhookQueue } from './webhooks/queue.ts'
import { createDeliveries } from './webhooks/sent.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export interface ServicesWorld {
  readonly engine: Engine
  readonly masterKey: Buffer
  readonly fleetKey: string
  /** Whether gateways of other machines may still come with it. */
  readonly sharedFleetKey?: SharedKeyUse
  readonly baseUrl: string
  readonly edgeUrlFor: (hostname: string) => string
  /** Balancers in front, as CIDRs: they say who the client is. */
  readonly trustedProxies?: readonly string[]
  readonly breaches?: BreachList | undefined
  readonly mailTransport: MailTransport
  /** CIDRs where a tenant's database may be although such addresses are refused. */
  readonly directoryAddresses?: readonly string[]
  /** How webhooks are reached. */
  readonly receivers?: ReceiverWorld
  /** Who writes guides; null: nobody. */
  readonly ai?: AiSettings | null
  readonly aiWorld?: ProviderWorld
  /** What a new password's hash and a new signing key cost; as much as they should, if nothing is said. */
  readonly passwordCost?: PasswordCost
  readonly generateKey?: () => Promise<RsaKey>
  readonly clock: Clock
  readonly log: Logger
}

const PUBLIC_RECEIVERS: ReceiverWorld = { allowPrivate: [], egressProxy: null }

export type Services = Awaited<ReturnType<typeof createServices>>

export async function createServices(world: ServicesWorld) {
  const { engine, masterKey, fleetKey, baseUrl, edgeUrlFor, clock, log } = world
  const store = await openStore(engine, clock)
  const vault = createVault(masterKey)
  await checkMasterKey(store, vault)
  const keys = createSigningKeys({ store, vault, clock, generate: world.generateKey })
  const tenants = createTenants({ store, vault, keys, clock, edgeUrlFor })
  const policies = createPolicies({ store, clock })
  const certificates = createCertificates({ store, vault })
  const turns = createTurns()
  const passwords = createPasswordHasher({}, turns, world.passwordCost)
  const addresses = createAddresses(world.directoryAddresses)
  const directories = createUserDirectories({ store, vault, log, turns, addresses })
  const strength = createStrength()
  const { breaches = noBreachList } = world
  const passwordRules = createPasswordRules({ store, passwords, strength, breaches })
  const users = createUsers({ store, passwords, passwordRules, policies, clock, directories })
  const tickets = createTickets({ store, vault, clock })
  const mails = createMails({ store, vault, transport: world.mailTransport, clock, log })
  const accountMail = createAccountMail({ store, tickets, mails, users, baseUrl, clock })
  const attempts = createAttempts({ store, vault, clock })
  const addressBlocks = createAddressBlocks({ store, clock, countedAs })
  const devices = createDevices({ store, vault, clock })
  const factors = createFactors({ store, vault })
  const sessions = createSessions({ store, clock })
  const revocations = createRevocations({ store })
  const logoutNotices = createLogoutNotices({ store, tenants, keys, baseUrl, clock, log })
  const fleetSource = createFleetSource({ store, vault, revocations, baseUrl, edgeUrlFor })

  const feedStates = createFeedStates({ store, revocations, clock })
  const clients = createClients({ store, vault, states: feedStates, clock })
  const instances = await openInstances({ store, states: feedStates, clock })
  const feed = createFeed({ states: feedStates, instances, clock })

  const figures = createFigures({ store, clock })
  const enforcement = createEnforcement({ store, clock })
  const ticketSecret = createTicketSecret({ store, vault })
  const gatewayKeys = createGatewayKeys({
    store,
    vault,
    tickets: ticketSecret,
    onRevoked(keyIds, ticket_secret) {
      fleet.cut(keyIds)
      fleet.changeSettings({ base_url: baseUrl, ticket_secret })
    },
    onRemoved: (gatewayId) => fleet.forget(gatewayId),
  })
  const fleet = createFleetHub({
    source: fleetSource,
    fleetKey,
    sharedKey: world.sharedFleetKey ?? 'local',
    keys: gatewayKeys,
    clock,
    log,
    settings: { base_url: baseUrl, ticket_secret: await ticketSecret.current() },
    onActivity: (_gatewayId, seen) =>
      sessions.seen(
        seen.map(({ tenant_id, sid, at }) => ({ tenantId: tenant_id, sid, atMs: at * SECOND_MS })),
      ),
    onEvents: (gatewayId, events) => enforcement.receive(gatewayId, events),
    onFigures: (gatewayId, counted) => figures.receive(gatewayId, counted),
  })
  store.onCommit(({ tenantIds }) => {
    for (const tenantId of tenantIds) fleet.tenantChanged(tenantId)
  })
  store.enforceBy(async (revoked) => {
    const ofGateways = [...revoked].filter(([tenantId]) => !isReserved(tenantId))
    if (ofGateways.length === 0) return ENFORCED_BY_NOBODY
    for (const [tenantId, state] of ofGateways) fleet.revoked(tenantId, state)
    return fleet.revocationsSettled(LIMITS.fleetEnforceMsMax)
  })

  const { receivers = PUBLIC_RECEIVERS } = world
  const receiver = createReceiverClient(receivers)
  const dispatcher = createDispatcher({ store, vault, receiver, clock, log })
  const checkAddress = createAddressCheck(receivers)
  const webhooks = createWebhooks({ store, vault, checkAddress, clock })
  const deliveries = createDeliveries({ store, dispatcher })

  const client = createProbeClient({ nowMs: () => clock.nowMs() })
  const verification = createVerification({
    store,
    tenants,
    keys,
    client,
    instances,
    clock,
    baseUrl,
    edgeUrlFor,
  })
  const trialPeople = createTrialPeople({ store, passwords, clock })
  const integration = createIntegration({
    store,
    tenants,
    people: trialPeople,
    instances,
    clock,
    baseUrl,
    edgeUrlFor,
    log,
  })
  const guides = createGuides({ store })
  const budgets = createBudgets({ store, clock })
  const { ai: settings = null, aiWorld } = world
  const ai = settings === null ? null : { settings, provider: createProvider(settings, aiWorld) }
  const analysis = createAnalysis({ store, guides, budgets, ai, baseUrl, log })
  const realms = createRealms({
    store,
    vault,
    tenants,
    keys,
    users,
    policies,
    tickets,
    accountMail,
    attempts,
    factors,
    devices,
    sessions,
    revocations,
    baseUrl,
    clock,
    log,
  })

  const auditTrail = createAuditTrail({ store })
  const consoleAccess = createConsoleAccess({
    accountMail,
    attempts,
    auditTrail,
    factors,
    policies,
    store,
    vault,
    keys,
    tenants,
    users,
    sessions,
    revocations,
    fleet,
    baseUrl,
    clock,
    log,
  })

  return {
    clock,
    log,
    baseUrl,
    edgeUrlFor,
    /** TLS ends in front of us at somebody who is not named: all clients have one address. */
    clientsHidden: baseUrl.startsWith('https:') && (world.trustedProxies ?? []).length === 0,
    store,
    vault,
    keys,
    tenants,
    protectionStatements: createProtectionStatements({ tenants, keys, clock, baseUrl }),
    policies,
    replayPolicy: createPolicyReplay({ store, policies, clock }),
    certificates,
    passwords,
    directories,
    passwordRules,
    users,
    tickets,
    mails,
    accountMail,
    attempts,
    addressBlocks,
    devices,
    factors,
    sessions,
    revocations,
    logoutNotices,
    webhooks,
    deliveries,
    dispatcher,
    auditTrail,
    fleetSource,
    fleet,
    clients,
    instances,
    feed,
    enforcement,
    figures,
    webhookQueue: () => readWebhookQueue(store, dispatcher),
    refusals: createRefusals({ store }),
    toldEvents: createToldEvents({ store }),
    alerts: createAlerts({ store, clock }),
    digests: createDigests({ store, clock, log }),
    verification,
    selfReports: createSelfReports({ store }),
    integration,
    trialPeople,
    guides,
    budgets,
    analysis,
    realms,
    consoleAccess,
    /** Pruned by the jobs; written by the realms. */
    realmRecords: {
      prune: (limit: number) =>
        store.change(({ queries, nowMs }) =>
          deleteRealmRecordsExpiredBefore(queries, nowMs, limit),
        ),
    },
    gatewayKeys,
    gateways: () => fleet.gateways(),
    /** Who goes by what has just been changed of a tenant, or by its end. */
    changeEnforced: async (tenantId: string) => {
      const revision = (await tenants.find(tenantId))?.revision ?? (await store.revision())
      return fleet.enforced(tenantId, revision, LIMITS.fleetEnforceMsMax)
    },
    changesSettled: async () => fleet.settled(await store.revision(), LIMITS.fleetSettleMsMax),

    /** In the reverse order of what stands on what. */
    async close(): Promise<void> {
      realms.close()
      await directories.close()
      await analysis.close()
      await integration.close()
      await verification.close()
      await fleet.close()
      await instances.close()
      await logoutNotices.close()
      await dispatcher.close()
      await mails.close()
      await strength.close()
      await breaches.close()
      await store.close()
    },
  }
}
