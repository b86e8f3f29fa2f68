import { ACME_LIMITS } from './acme-limits.ts'
import { DEVICE_CODE_LIMITS } from './device-code-limits.ts'
import { CONNECTION_LIMITS } from './connection-limits.ts'
import { CONNECTOR_LIMITS } from './connector-limits.ts'
import { DEVICE_LIMITS } from './device-limits.ts'
import { EDGE_LIMITS } from './edge-limits.ts'
import { FLEET_LIMITS } from './fleet-limits.ts'
import { HOSTNAME_LIMITS } from './hostname-limits.ts'
import { LISTENER_LIMITS } from './listener-limits.ts'
import { PEOPLE_LIMITS } from './people-limits.ts'
import { PROJECT_LIMITS } from './project-limits.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { RULE_LIMITS } from './rule-limits.ts'
import { SCIM_LIMITS } from './scim-limits.ts'
import { SERVICE_LIMITS } from './service-limits.ts'
import { STORE_LIMITS } from './store-limits.ts'
import { WEBHOOK_LIMITS } from './webhook-limits.ts'

/**
 * What clients, tenants, machines and their files may use of us, in one place. What only one file can
 * mean (a pause, a time-out of its own) stands there, beside what it bounds.
 */
export const LIMITS = {
  ...ACME_LIMITS,
  ...DEVICE_CODE_LIMITS,
  ...CONNECTION_LIMITS,
  ...CONNECTOR_LIMITS,
  ...DEVICE_LIMITS,
  ...EDGE_LIMITS,
  ...HOSTNAME_LIMITS,
  ...LISTENER_LIMITS,
  ...RULE_LIMITS,
  ...PEOPLE_LIMITS,
  ...PROJECT_LIMITS,
  ...REPORT_LIMITS,
  ...SCIM_LIMITS,
  ...SERVICE_LIMITS,
  ...STORE_LIMITS,
  ...WEBHOOK_LIMITS,
  // sessions
  sessionTokenBytesMax: 1536, // what a realm issues
  sessionTokenReadBytesMax: 4096, // what is looked at, cookies being no larger
  flowCookiesMax: 5,
  flowCookieBytesMax: 2048,
  flowSecondsMax: 600,
  /** Lines that end other session cookies; with more a balancer would not take the head. */
  strayCookiesMax: 32,
  strayCookieBytesMax: 5 * 1024,
  /** Browsers take no longer `Path`, so no cookie has one. */
  cookiePathBytesMax: 1024,
  /** Code exchanges that one client can cause, an office behind one address among them. */
  rateCallback: { burst: 200, perSecond: 20 },
  /** Of each network of IPv6, free of what its site may; all of them together have as much again. */
  rateCallbackFew: { burst: 5, perSecond: 0.2 },
  /** Flows that a worker remembers as used, each until its cookie is too old. */
  usedFlowsMax: 50_000,
  issuedAheadSecondsMax: 60,
  tokensProvenPerRequestMax: 2,
  signInHopsMax: 8,
  returnToBytesMax: 1024,
  verifyCacheEntriesMax: 50_000,
  /** A longer Cookie header is read anew with every request. */
  rememberedCookiesMax: 3072,
  // paths
  pathDecodingRoundsMax: 3,
  pathSegmentsMax: 256,
  /** Ways to read a path, over all rounds; the usual has one, and each round adds one. */
  pathReadingsMax: 8,
  /** Of all these together: a long path has fewer. */
  pathReadCharactersMax: 20 * 1024,
  /** Segments that are held against those of sealed prefixes, for each way to read a path. */
  pathComparisonsMax: 4096,
  /** Paths of rules that one path may stand for: each has its clauses asked, and a short name stands for many. */
  pathPlacesMax: 64,
  /** Stretches beyond ASCII in a path whose bytes are not UTF-8. */
  pathForeignRunsMax: 16,
  // answers that are given early
  /** What is read and thrown away of a body that has its answer already, at the edge as well. */
  unwantedBodyBytesMax: 64 * 1024 * 1024,
  unwantedBodyMsMax: 20_000,
  /** Of these, without a byte: its sender has stopped. */
  unwantedBodySilentMsMax: 5000,
  /** Segments like `index.php`, `_next` or `ADMIN~1`, each of which is one more way to read a path. */
  pathOddSegmentsMax: 16,
  // the API
  jsonBodyBytesMax: 1024 * 1024,
  /** Of those who have not shown who they are. */
  strangersBodyBytesMax: 16 * 1024,
  /** Of all objects and lists in a body: each costs far more than the bytes that it is sent in. */
  jsonValuesMax: 20_000,
  pageItemsMax: 200,
  pageItemsDefault: 50,
  hostnamesPerTenantMax: 100,
  pathPrefixesPerTenantMax: 200,
  pathPrefixBytesMax: 512,
  passwordBytesMax: 1024,
  /** In the form that is hashed, which may be longer than what was typed. */
  passwordNormalizedBytesMax: 4096,
  passwordCharactersMin: 8,
  passwordHistoryMax: 24,
  /** Behind these a password is strong or a repetition. */
  passwordStrengthCharactersMax: 32,
  /** Of one estimate, of the wait before it, and of questions about one person at a time. */
  passwordStrengthMsMax: 5000,
  passwordStrengthWaitMsMax: 8000,
  passwordStrengthPerPersonMax: 2,
  passwordQueueMax: 200,
  passwordQueuePerTenantMax: 100,
  realmsCachedMax: 200,
  passwordMemoryKibMax: 256 * 1024,
  // a person's own account
  ownSessionsListedMax: 100,
  factorsPerUserMax: 10,
  /** What a gateway reads of the list of somebody's sessions, and how long it waits for it. */
  ownSessionsBytesMax: 256 * 1024,
  ownSessionsMsMax: 3000,
  /** Asked for at the same time, per worker; whoever comes on top is shown their session alone. */
  ownSessionsAsksMax: 32,
  rateOwnSessions: { burst: 20, perSecond: 1 },
  /** One change ends at most so many sessions with a notice each. */
  logoutNoticesAtOnceMax: 10_000,
  /** At the same time; one tenant leaves room for the others. */
  logoutNoticesSentMax: 20,
  logoutNoticesPerTenantMax: 5,
  /** For an application that is too slow for all that it should hear. */
  logoutNoticeKeptMs: 24 * 3600 * 1000,
  slowListenersMax: 1000,
  /** At the same time, over as many connections; one tenant leaves room for the others. */
  mailSendsMax: 4,
  mailSendsPerTenantMax: 3,
  mailSendMsMax: 60_000,
  /** To one person, of each kind: the last says that there may be more that are not told of. */
  rateNoticesOfPerson: { burst: 5, perSecond: 5 / 3600 },
  /** Of people to a tenant, and of what others change of them: what is over waits, so long at most. */
  rateInvitations: { burst: 500, perSecond: 500 / 3600 },
  rateNoticesOfTenant: { burst: 500, perSecond: 500 / 3600 },
  invitationWaitMsMax: 24 * 3600 * 1000,
  rateInvitationsOfAddress: { burst: 3, perSecond: 3 / 3600 },
  mailboxMailsMax: 100,
  // policies
  networksPerPolicyMax: 1000,
  /** Of what came to a list, and of what went, in events and on a page. */
  listEntriesToldMax: 10,
  /** The same in the audit trail. */
  auditListBytesMax: 16 * 1024,
  replayDaysMax: 31,
  replaySignInsMax: 200_000,
  /** After which the rest is left out, and that is said. */
  replayMsMax: 5_000,
  jsonDepthMax: 32,
  // a tenant's own database as the source of its users
  directoryConnectMsMax: 2000,
  directoryStatementMsMax: 2000,
  directoryConnectionsPerTenantMax: 4,
  /** Sign-ins that wait for a connection, and for how long; more are told to come back. */
  directoryWaitingPerTenantMax: 64,
  directoryWaitMsMax: 2000,
  directoryIdleMsMax: 30_000,
  /** Of the answer to one question, on the wire. */
  directoryAnswerBytesMax: 1024 * 1024,
  /** Of a name that has several addresses: so many are tried, one after the other. */
  addressesTriedMax: 4,
  /** Tenants whose connections are kept at the same time. */
  directoriesOpenMax: 100,
  directoryQueryCharactersMax: 4000,
  directoryMessageCharactersMax: 300,
  directoryIdCharactersMax: 200,
  secretCharactersMax: 512,
  cursorCharactersMax: 1024,
  originCharactersMax: 300,
  brandLogoBytesMax: 64 * 1024,
  /** How long an answer waits for the gateways to have applied what it answers for. */
  fleetSettleMsMax: 250,
  /** The same for what ends sessions: it says who does not enforce it by then. */
  fleetEnforceMsMax: 1000,
  // API rates: a bucket of so many calls that refills at so many a second
  rateBucketsMax: 20_000,
  /** For whom there is no room there. */
  rateSharedBucketsMax: 4096,
  rateOperator: { burst: 3000, perSecond: 300 },
  rateAnalyzer: { burst: 300, perSecond: 5 },
  /** Of an application: every one of its instances polls, often all from one address. */
  rateClient: { burst: 5000, perSecond: 500 },
  rateProbe: { burst: 20, perSecond: 0.2 },
  /** Each shows the application a person whom it may add to its own users. */
  rateIntegration: { burst: 10, perSecond: 1 / 60 },
  ratePublic: { burst: 2000, perSecond: 100 },
  rateRefused: { burst: 1000, perSecond: 10 },
  /** What strangers may do: so many times as often from all networks of a site as from one. */
  rateSiteFactor: 8,
  // sign-in rates, per address: offices and whole providers share one, so they only stop loops
  rateAuthorize: { burst: 1200, perSecond: 50 },
  rateAccount: { burst: 60, perSecond: 1 },
  /** The token endpoint: of an application, and of whoever does not show its secret. */
  rateToken: { burst: 3000, perSecond: 300 },
  rateTokenRefused: { burst: 60, perSecond: 1 },
  rateSignIn: { burst: 600, perSecond: 20 },
  rateLogout: { burst: 600, perSecond: 20 },
  /** Of one person, from wherever: enough for a crowd of tests, and for a probe that does each minute. */
  rateSignInOfPerson: { burst: 1000, perSecond: 1 / 60 },
  /** Of a request for a sign-in, which is kept until it is answered. */
  authorizeStateBytesMax: 2048,
  authorizeRedirectBytesMax: 2048,
  authorizeParameterBytesMax: 1024,
  /** All of it together, as it is kept; a hint is a token of ours, and comes on top. */
  authorizeKeptBytesMax: 5 * 1024,
  openSignInsPerAddressMax: 1000,
  /** Of all networks of a site, a /48 of IPv6. */
  openSignInsPerSiteMax: 2000,
  openSignInsPerTenantMax: 20_000,
  /** Alive, whatever a policy says: the oldest make room. */
  sessionsPerPersonMax: 100,
  /** Browsers that one account is signed in to the realm with, and as many grants. */
  realmRecordsPerPersonMax: 200,
  /** Of whatever kind, by one revocation: more than these, with the codes and tokens of some minutes. */
  realmRecordsEndedAtOnceMax: 500,
  /** Whose sessions are counted before others have their turn. */
  peopleCountedAtOnceMax: 200,
  /** That browsers of a person have open, and as many again that they have answered. */
  signInsPerPersonMax: 100,
  /** Requests of strangers that are worked on, and that wait for it. */
  strangersAtOnceMax: 2,
  strangersWaitingMax: 128,
  strangersWaitingPerAddressMax: 32,
  /** Requests that are begun in one turn of the event loop, the operator's aside. */
  admittedPerTurnMax: 2,
  admissionWaitingMax: 4096,
  admissionWaitingPerAddressMax: 128,
  admissionWaitingPerSiteMax: 1024,
  /** Keys and cookies that were found good, and for how long they go first. */
  knownCredentialsMax: 20_000,
  knownCredentialMsMax: 15 * 60 * 1000,
  nameCharactersMax: 200,
  usernameCharactersMax: 100,
  emailCharactersMax: 254,
  sessionSecondsMax: 365 * 24 * 3600,
  addressTextMax: 100,
  userAgentTextMax: 400,
  endedSessionKeptMs: 24 * 3600 * 1000,
  probeTimeoutMs: 5000,
  probeBodyBytesMax: 64 * 1024,
  probedHostnamesMax: 24,
  probedSealedMax: 10,
  probesAtOnceMax: 16,
  probeClockSkewMsMax: 30_000,
  verificationValidMs: 24 * 3600 * 1000,
  /** One signature of a tenant's protection serves all who ask for it meanwhile. */
  protectionStatementKeptMs: 5000,
  protectionStatementsKeptMax: 2000,
  protectionStatementBytesMax: 4096,
  /** How long `verifyClaims()` goes by one answer, from when it asked: after go-live, at most this. */
  protectionKnownMs: 5000,
  protectionAskMsMax: 3000,
  /** Of all code and settings that one local check reads. */
  localChecksBytesMax: 64 * 1024 * 1024,
  /** A check for secrets looks into tracked files up to this. */
  localChecksTrackedFilesMax: 50_000,
  /** A sign-in from end to end, as a check of the integration: all of it, and each page. */
  signInTrialMsMax: 60_000,
  signInTrialPageMsMax: 10_000,
  signInTrialPageBytesMax: 512 * 1024,
  signInTrialCookiesMax: 100,
  signInTrialRedirectsMax: 8,
  /** How long an old session may live on after the sign-out, on top of what a poll takes. */
  signOutSeenMsMax: 5000,
  // what the command line tool reports of itself
  selfReportChecksMax: 100,
  selfReportsKeptMax: 200,
  checkNameCharactersMax: 64,
  selfReportTextCharactersMax: 1000,
  toolVersionCharactersMax: 64,
  projectNameCharactersMax: 100,
  signingKeysPerTenantMax: 8,
  signingKeyBitsMin: 2048,
  /** A longer signature leaves too little of a token for who it is about. */
  signingKeyBitsMax: 4096,
  /** Of a certificate: each handshake at the edge waits for one signature. */
  tlsKeyBitsMax: 4096,
  certificateBytesMax: 64 * 1024,
  privateKeyBytesMax: 16 * 1024,
  certificateBytesPerTenantMax: 512 * 1024,
  /** How long the client secret before the newest one may count as well. */
  secretOverlapSecondsMax: 30 * 24 * 3600,
  secretOverlapSecondsDefault: 24 * 3600,
  // the enforcement feed
  feedPollsPerSecondMax: 500,
  feedInstancesPerTenantMax: 10_000,
  /** What one tenant adds to the number that slows all: half of what may ask every second. */
  feedInstancesCountedPerTenantMax: 250,
  feedInstancesMax: 50_000,
  feedInstanceKeptMs: 7 * 24 * 3600 * 1000,
  /** Of the states that are kept to be answered with. */
  feedStateBytesMax: 128 * 1024 * 1024,
  feedStateReadAgainMs: 10 * 60 * 1000,
  /** With more revocations than these it is written anew so often at most. */
  feedStateSmallEntriesMax: 2000,
  feedStateWrittenAgainMs: 1000,
  rateFeedInstance: { burst: 10_000, perSecond: 50 },
  rateFeedTenant: { burst: 30_000, perSecond: 2_000 },
  eventsPerBatchMax: 1000,
  eventTextCharactersMax: 200,
  eventOutcomeCharactersMax: 50,
  eventHostCharactersMax: 261,
  enforcementEventsPerTenantMax: 100_000,
  /** Of them, so that noise at a sealed path pushes out nothing else. */
  sealedEventsPerTenantMax: 50_000,
  enforcementEventKeptMs: 35 * 24 * 3600 * 1000,
  /** Single events, of a whole tenant. */
  rateEnforcementEvents: { burst: 10_000, perSecond: 100 },
  /** Of them those that end a session: only somebody who had one causes any. */
  rateSessionEnds: { burst: 20_000, perSecond: 200 },
  /** What is passed on of them where no session of ours has ended: of one person, of all. */
  rateToldOfPerson: { burst: 1, perSecond: 1 / 60 },
  rateTold: { burst: 200, perSecond: 1 },
  // the console
  consoleSessionMs: 8 * 3600 * 1000,
  consoleIdleMs: 30 * 60 * 1000,
  /** How long a proof of who one is counts for secrets and for going back. */
  consoleFreshMs: 5 * 60 * 1000,
  consoleLinkMs: 15 * 60 * 1000,
  consoleFormKeptMs: 24 * 3600 * 1000,
  /** What a form has come to, for its second sending. */
  consoleFormAnswerMs: 60 * 1000,
  consoleFormAnswersMax: 100,
  consoleFormBytesMax: 256 * 1024,
  /** Of whoever has not signed in. */
  consoleStrangersFormBytesMax: 16 * 1024,
  /** What was typed into a form that could not be taken: for so long, so many of one person. */
  consoleKeptFormMs: 3600 * 1000,
  consoleKeptFormsPerPersonMax: 10,
  /** Of colleagues: how long a link is good, how many wait in a tenant, and how often one mails. */
  consoleInvitationMs: 7 * 24 * 3600 * 1000,
  consoleInvitationsPerTenantMax: 20,
  rateConsoleInvitations: { burst: 10, perSecond: 10 / 3600 },
  rateConsoleInvitationsOfAddress: { burst: 3, perSecond: 3 / 3600 },
  /** Less than what a stop waits for. */
  consoleReceiptMsMax: 8_000,
  /** How long the answer to a form waits for a receiver, so that the page can say what came of it. */
  consoleDeliveryMsMax: 3_000,
  consoleSearchCharactersMax: 100,
  consoleSearchResultsMax: 8,
  /** Of one person, on their page. */
  signInsListedMax: 20,
  /** Events that one page looks through for a person or an address. */
  eventsLookedThroughMax: 2000,
  eventBytesLookedThroughMax: 1024 * 1024,
  /** Of one value of an event, as a page shows it. */
  eventValueCharactersShown: 300,
  /** Of one address, whoever asks. */
  rateConsole: { burst: 1200, perSecond: 40 },
  /** Forms that are sent, by one person and about one tenant: each writes, and for long. */
  rateConsoleSaves: { burst: 120, perSecond: 1 },
  rateConsoleSavesOfTenant: { burst: 480, perSecond: 4 },
  rateConsoleFormsShownAgain: { burst: 10, perSecond: 0.1 },
  // monitoring
  figureMinutesKeptMs: 25 * 3600 * 1000,
  /** A digest that is told of late begins up to 14 days and 11 hours ago. */
  figureHoursKeptMs: 15 * 24 * 3600 * 1000,
  figureDaysKeptMs: 400 * 24 * 3600 * 1000,
  /** Of hours or days that one answer tells of. */
  figureTimesMax: 400,
  /** How long a gateway may keep a batch of counts and have it told from one that was taken. */
  figureBatchKeptMs: 35 * 24 * 3600 * 1000,
  alertsPerTenantMax: 20,
  alertThresholdMax: 1_000_000_000,
  alertWindowSecondsMax: 24 * 3600,
  alertCoolDownSecondsMax: 7 * 24 * 3600,
  digestsKeptMs: 400 * 24 * 3600 * 1000,
  timeZoneCharactersMax: 64,
  /** No request that was under way when a tenant was removed lasts so long. */
  removedSweptAgainMs: 10 * 60 * 1000,
  ...FLEET_LIMITS,
  // the middleware in an application
  /** In the application's own memory: a few kilobytes each. */
  enforcedSessionsRememberedMax: 10_000,
  enforcementStateBytesMax: 16 * 1024 * 1024,
  enforcementBacklogBytesMax: 5 * 1024 * 1024,
  enforcementBatchSentMax: 500,
  enforcementBatchBytesSentMax: 256 * 1024,
} as const
