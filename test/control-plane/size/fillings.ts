/**
 * What a tenant may have of everything, or `MANY` of what its limits allow in tens of thousands: more
 * than one change may touch. Each table has its rows here, or the reason why it has none.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/clock.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Schema } from '../../../control-plane/store/schema.ts'
import type { SignInFacts } from '../../../control-plane/policy/verdict.ts'

/** A change that holds all of them is over the limit. */
export const MANY = 1.5 * LIMITS.changeRowsWrittenMax

export const TENANT = 'acme'

type Row = Record<string, unknown>
interface Filler {
  readonly rows: number
  /** What is not made up by the kind of its column. */
  readonly row?: (at: number, world: World) => Row
}
/** A reason why there is nothing to fill. */
type Filling = Filler | string

export interface World {
  readonly nowMs: number
  readonly ada: string
  readonly connectionId: string
  readonly webhookId: string
  readonly serviceId: string
}

const many = (row?: Filler['row']): Filler =>
  row === undefined ? { rows: MANY } : { rows: MANY, row }
const some = (rows: number, row?: Filler['row']): Filler =>
  row === undefined ? { rows } : { rows, row }

export const userOf = (at: number) => `usr_fill${at}`
export const deviceOf = (at: number) => `dev_${at.toString(16).padStart(16, '0')}`
const userAt = (at: number) => ({ userId: userOf(at % MANY) })
/** The first so many are ada's, all others somebody's each. */
const adaOr =
  (most: number) =>
  (at: number, { ada }: World) =>
    at < most ? { userId: ada } : userAt(at)
export const GROUP = 'support'
export const ATTRIBUTE = { name: 'department', value: 'Research' }
const SOURCES = ['local', 'scim', 'connection'] as const

const OF_ALL = 'of the whole service, one row for each name'
const OF_OPERATORS = 'of gateways, which operators have'
const OF_CONSOLE = 'of the console, whose rows are of its people and links'

export const FILLINGS: Readonly<Record<keyof Schema, Filling>> = {
  // access
  accessRules: 'written by the API below, with the group and the attribute in it',
  groups: some(LIMITS.groupsPerTenantMax - 2, (at) => ({ name: `group ${at}` })),
  // everybody is in one group by each source, and ada in very many
  groupMembers: some(4 * MANY, (at, { ada }) =>
    at < 3 * MANY
      ? { group: GROUP, ...userAt(at), source: SOURCES[Math.floor(at / MANY)] }
      : { group: `group ${at - 3 * MANY}`, userId: ada, source: 'connection' },
  ),
  personAttributes: some(2 * MANY + 100, (at, { ada }) =>
    at < 2 * MANY
      ? { ...ATTRIBUTE, ...userAt(at), source: at < MANY ? 'connection' : 'scim' }
      : { userId: ada, name: `name${at % 10}`, source: 'local' },
  ),
  pastAttributes: many((at, { nowMs, ada }) => ({
    userId: ada,
    endedAt: nowMs - at,
    source: 'scim',
  })),
  accessRuleVersions: some(LIMITS.ruleVersionsKeptMax, (at, { nowMs }) => ({
    at: nowMs - DAY_MS - at,
    content: { groups: [], rules: [] },
  })),
  pastMembers: some(2 * MANY, (at, { nowMs, ada }) => ({
    ...(at < MANY ? { userId: ada } : userAt(at)),
    group: GROUP,
    source: 'scim',
    endedAt: nowMs - at,
  })),
  // certificates, claims and proofs of names
  acmeOrders: some(LIMITS.hostnamesPerTenantMax - 1, (at, { nowMs }) => ({
    hostname: `h${at}.acme.example`,
    step: 'waiting',
    dueAt: nowMs + 1000 * DAY_MS,
  })),
  acmeAuthorities: OF_ALL,
  hostnameClaims: some(LIMITS.hostnameClaimsPerTenantMax, (at, { nowMs }) => ({
    hostname: `claim${at}.acme.example`,
    dueAt: nowMs + 1000 * DAY_MS,
  })),
  hostnameProofs: some(LIMITS.hostnamesPerTenantMax - 1, (at, { nowMs }) => ({
    hostname: `h${at}.acme.example`,
    dueAt: nowMs + 1000 * DAY_MS,
  })),
  // analyses
  guides: some(LIMITS.guidesKeptPerTenantMax, (at) => ({
    number: at + 1000,
    content: { summary: '', edits: [], commands: [], notes: [], warnings: [] },
  })),
  analyses: many((_, { nowMs }) => ({ outcome: 'guide', startedAt: nowMs - 40 * DAY_MS })),
  // providers
  connections: some(LIMITS.connectionsPerTenantMax - 1, () => ({
    preset: 'oidc',
    state: 'draft',
    mfaValues: [],
    attributes: [],
    groups: [],
  })),
  connectionIdentities: many((at, { connectionId }) => ({
    connectionId,
    issuer: 'https://id.company.example',
    subject: `subject-${at}`,
    ...userAt(at),
  })),
  connectionDomains: some(
    LIMITS.connectionDomainsPerTenantMax - 1,
    (at, { nowMs, connectionId }) => ({
      domain: `d${at}.example`,
      connectionId,
      provenAt: nowMs,
      dueAt: nowMs + 1000 * DAY_MS,
    }),
  ),
  upstreamSessions: many((at, { connectionId, nowMs }) => ({
    sid: sidOf(at),
    connectionId,
    subject: 'of-the-user',
    upstreamSid: 'theirs',
    expiresAt: nowMs + HOUR_MS,
  })),
  realmClients: some(LIMITS.realmClientsPerTenantMax - 1, (at) => ({
    clientId: `cli_${String(at).padStart(32, '0')}`,
    redirectUris: [],
    postLogoutRedirectUris: [],
  })),
  clientSessions: many((at, { nowMs }) => ({
    sid: sidOf(at),
    clientId: 'cli_of_one',
    expiresAt: nowMs + HOUR_MS,
  })),
  upstreamLogouts: many((_, { connectionId, nowMs }) => ({
    connectionId,
    expiresAt: nowMs + HOUR_MS,
  })),
  samlConnections: some(1, () => ({ certificates: [], groups: [] })),
  samlAnswers: many((_, { connectionId, nowMs }) => ({
    connectionId,
    claims: {},
    answerUntil: nowMs + MINUTE_MS,
    endsAt: nowMs + HOUR_MS,
  })),
  // SCIM
  scimTokens: 'each is made by its own call, five at most',
  scimPeople: many((at) => ({ ...userAt(at), details: {} })),
  scimGroups: some(LIMITS.groupsPerTenantMax - 2, (at) =>
    at === 0 ? { groupId: 'grp_support', name: GROUP } : { name: `group ${at}` },
  ),
  scimRequests: some(LIMITS.scimLogEntriesMax, (_, { nowMs }) => ({ at: nowMs - DAY_MS })),
  // connectors
  connectorTokens: some(LIMITS.connectorTokensPerTenantMax - 1, (_, { nowMs }) => ({
    expiresAt: nowMs + DAY_MS,
  })),
  connectorPresence: some(50, () => ({ content: [] })),
  connectors: some(LIMITS.connectorsPerTenantMax, (at) => ({ connectorId: connectorOf(at) })),
  connectorKeys: some(2 * LIMITS.connectorsPerTenantMax, (at) => ({
    connectorId: connectorOf(at % LIMITS.connectorsPerTenantMax),
  })),
  gatewayDoors: OF_OPERATORS,
  // the console
  consoleRoles: many((at) => ({ userId: `usr_console${at}`, role: 'viewer' })),
  consoleSessions: many((at, { nowMs }) => ({
    userId: `usr_console${at % 10}`,
    expiresAt: nowMs + HOUR_MS,
    lastSeenAt: nowMs,
  })),
  consoleLinks: OF_CONSOLE,
  consoleForms: many(),
  consoleKeptForms: many((at) => ({ userId: `usr_console${at % 10}` })),
  consoleInvitations: some(LIMITS.consoleInvitationsPerTenantMax - 1, (_, { nowMs }) => ({
    role: 'viewer',
    expiresAt: nowMs + DAY_MS,
  })),
  deviceCodes: many((_, { nowMs }) => ({
    tenantId: null,
    state: 'open',
    expiresAt: nowMs + HOUR_MS,
  })),
  // the service
  counters: OF_ALL,
  facts: OF_ALL,
  rates: many((_, { nowMs }) => ({ fullAt: nowMs + HOUR_MS })),
  leases: OF_ALL,
  tenants: 'is the tenant',
  tenantHostnames: some(LIMITS.hostnamesPerTenantMax - 1, (at) => ({
    hostname: `h${at}.acme.example`,
    position: at + 1,
  })),
  tenantCertificates: some(LIMITS.hostnamesPerTenantMax - 1, (at, { nowMs }) => ({
    hostname: `h${at}.acme.example`,
    notAfter: nowMs + 1000 * DAY_MS,
  })),
  tenantTombstones: 'there is none of a tenant that is there',
  signingKeys: 'made by rotations, eight at most',
  // people
  users: many((at) => ({
    ...userAt(at),
    username: `person${at}`,
    usernameKey: `person${at}`,
    email: `person${at}@acme.example`,
    emailKey: `person${at}@acme.example`,
    source: 'own',
    passwordHash: '',
  })),
  sessions: many((at, world) => ({
    sid: sidOf(at),
    ...adaOr(LIMITS.sessionsPerPersonMax)(at, world),
    issuedAt: world.nowMs - MINUTE_MS,
    expiresAt: world.nowMs + HOUR_MS,
    deviceId: deviceOf(at < MANY / 2 ? 0 : at),
  })),
  revocations: many((_, { nowMs }) => ({
    kind: 'sid',
    notBefore: Math.floor(nowMs / 1000),
    keptUntil: nowMs + HOUR_MS,
  })),
  realmRecords: some(2 * MANY, (at, { ada, nowMs }) => ({
    model: ['Session', 'Grant', 'AuthorizationCode', 'Interaction'][at % 4],
    accountId: at < 3 * LIMITS.realmRecordsPerPersonMax ? ada : userOf(at % MANY),
    sid: sidOf(at % MANY),
    expiresAt: nowMs + HOUR_MS,
  })),
  outbox: many((at) => ({ sequence: 1_000_000 + at, event: 'user.created', content: {} })),
  audit: many((at, { ada }) => ({
    sequence: 1_000_000 + at,
    userId: ada,
    content: {},
    tenantNumber: 1,
  })),
  verificationChecks: some(LIMITS.selfReportsKeptMax, () => ({
    source: 'self_report',
    status: 'pass',
  })),
  signInTrials: 'one of each tenant',
  keylessGateways: OF_OPERATORS,
  gatewayKeys: OF_OPERATORS,
  signIns: some(2 * MANY, (at, world) => ({
    ...adaOr(MANY)(at, world),
    at: world.nowMs - at,
    ip: '192.0.2.7',
    countedAs: '192.0.2.7',
    isFailure: at % 2 === 0,
    outcome: 'refused',
    reason: 'password_wrong',
    facts: FACTS,
  })),
  addressBlocks: many((_, { nowMs }) => ({ blockedUntil: nowMs + HOUR_MS })),
  signUps: some(LIMITS.signUpsWaitingMax, (_, { nowMs }) => ({ expiresAt: nowMs + 30 * DAY_MS })),
  factors: some(MANY, (at, world) => ({
    ...adaOr(LIMITS.factorsPerUserMax)(at, world),
    kind: 'totp',
  })),
  knownDevices: some(MANY, adaOr(LIMITS.knownDevicesPerPersonMax)),
  // twenty a day to one address, and they are gone after a month
  accountTickets: some(MANY, (at, world) => ({
    ...adaOr(100)(at, world),
    purpose: 'reset',
    expiresAt: world.nowMs + HOUR_MS,
  })),
  passwordHistory: some(MANY, adaOr(LIMITS.passwordHistoryMax)),
  mails: many((_, { nowMs }) => ({ kind: 'notice', nextAt: nowMs + 1000 * DAY_MS })),
  logoutNotices: many((at, world) => ({
    ...adaOr(MANY / 2)(at, world),
    sid: sidOf(at),
    nextAt: world.nowMs + 1000 * DAY_MS,
  })),
  userDirectories: 'the own one of a tenant, which has then no people of its own',
  tenantPolicies: 'one of each policy',
  // devices
  deviceTickets: some(LIMITS.deviceTicketsPerTenantMax - 1, (_, { nowMs }) => ({
    platform: 'linux',
    expiresAt: nowMs + DAY_MS,
  })),
  enrolledDevices: many((at, world) => ({
    deviceId: deviceOf(at),
    ...adaOr(LIMITS.devicesPerPersonMax)(at, world),
    ticketId: 'tick-1',
    platform: 'linux',
    keyStorage: 'software',
    machineHash: at % 2 === 0 ? 'one-machine' : `machine-${at}`,
    approvedAt: world.nowMs,
    seenAt: world.nowMs,
    boots: [],
  })),
  devicePostures: many((at) => ({
    deviceId: deviceOf(at),
    posture: {},
    factsSince: {},
    unmetSince: {},
  })),
  deviceTypedCodes: many((at, { nowMs }) => ({
    deviceId: deviceOf(at),
    expiresAt: nowMs + HOUR_MS,
  })),
  deviceChallenges: many((at, world) => ({
    ...adaOr(100)(at, world),
    expiresAt: world.nowMs + HOUR_MS,
  })),
  // what gateways and middlewares say
  feedInstances: many((_, { nowMs }) => ({ lastPollAt: nowMs })),
  enforcementEvents: many((at, { nowMs }) => ({
    sequence: 1_000_000 + at,
    at: nowMs - at,
    outcome: 'sealed',
  })),
  figures: many((at, { nowMs }) => ({
    step: at % 2 === 0 ? 'minute' : 'hour',
    at: nowMs - at * MINUTE_MS,
    source: 'edge',
    outcome: 'sealed',
    reason: 'sealed',
    count: 1,
  })),
  serviceFigures: many((at, { nowMs }) => ({
    step: 'minute',
    at: nowMs - at * MINUTE_MS,
    source: 'edge',
    outcome: 'sealed',
    reason: 'sealed',
    count: 1,
  })),
  figureAdditions: many((at, { nowMs }) => ({
    at: Math.floor((nowMs - at) / MINUTE_MS) * MINUTE_MS,
    source: 'edge',
    outcome: 'sealed',
    reason: `reason-${at}`,
    count: 1,
  })),
  tenantRefusals: many((at, { nowMs }) => ({ step: 'hour', at: nowMs - at * HOUR_MS, count: 1 })),
  figureBatches: OF_OPERATORS,
  alerts: some(LIMITS.alertsPerTenantMax - 2, () => ({
    metric: 'sealed_hits',
    threshold: 1_000_000,
    windowSeconds: 60,
    emailRecipients: [],
  })),
  alertRecipients: some(100, () => ({ language: 'en' })),
  digests: some(60, () => ({ edge: [] })),
  // machines
  services: some(LIMITS.servicesPerTenantMax - 2, (at) => ({ serviceId: serviceOf(at) })),
  serviceSecrets: some(LIMITS.servicesPerTenantMax - 2, (at, { nowMs }) => ({
    serviceId: serviceOf(at),
    endsAt: nowMs + DAY_MS,
  })),
  serviceAssertions: many((_, { nowMs }) => ({ endsAt: nowMs + MINUTE_MS })),
  serviceUses: some(LIMITS.servicesPerTenantMax * 49, (at, { nowMs }) => ({
    serviceId: serviceOf(Math.floor(at / 49)),
    hourAt: nowMs - (at % 49) * HOUR_MS,
    count: 1,
  })),
  // webhooks
  webhooks: some(LIMITS.webhooksPerTenantMax - 2, () => ({
    url: 'https://hooks.example/in',
    events: ['alert.triggered'],
    state: 'active',
  })),
  webhookDeliveries: some(2 * MANY, (at, { webhookId, nowMs }) => ({
    deliveryId: `dlv_fill${at}`,
    webhookId,
    event: 'user.created',
    body: '{}',
    state: at < MANY ? 'pending' : 'failed',
    nextAt: nowMs + 1000 * DAY_MS,
  })),
  webhookEndings: some(100, (at) => ({ webhookId: `gone-${at}`, state: 'cancelled' })),
  webhookAttempts: some(2 * MANY, (at) => ({ deliveryId: `dlv_fill${at}`, number: 1 })),
  webhookKept: 'one of each tenant',
}

const FACTS = {
  at: 0,
  address: '192.0.2.7',
  failures: { user: [], address: [], site: [] },
  password: 'wrong',
  passwordChangedAt: null,
  device: { isKnown: false, isNetworkKnown: false },
  factors: [],
  proof: 'none',
  isStepUp: false,
  sessions: 0,
} satisfies SignInFacts

const sidOf = (at: number) => `sid-fill-${at}`
const connectorOf = (at: number) => `con-fill-${at}`
const serviceOf = (at: number) => `svc_fill${at}`
