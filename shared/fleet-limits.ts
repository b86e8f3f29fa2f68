/** Of the fleet link, both ends. */
export const FLEET_LIMITS = {
  snapshotBytesMax: 1024 * 1024,
  /** Of what is added to a tenant: certificates that are renewed have the rest. */
  publishedBytesMax: 960 * 1024,
  fleetMessageBytesMax: 4 * 1024 * 1024,
  fleetBehindRevisionsMax: 10_000,
  fleetUnsentBytesMax: 64 * 1024 * 1024,
  fleetWindowMessagesMax: 64,
  fleetWindowBytesMax: 1024 * 1024,
  fleetPageItemsMax: 200,
  /** Beyond so many, gateways are told which tenants there are, and ask for those that they serve. */
  fleetTenantsToldWholeMax: 5_000,
  /** Also of certificates: each is loaded once for a gateway that comes new (0.5 ms), and weighs 2 KB in each of its workers. */
  fleetCertificatesToldWholeMax: 20_000,
  fleetIndexEntriesSentMax: 500,
  fleetIndexBytesSentMax: 1024 * 1024,
  fleetWantedSentMax: 1_000,
  /** Asked for, and not there yet. */
  fleetTenantsWantedMax: 1_000,
  /** Of those, what one site begins with one worker: each is built, checked, written and compiled for it. */
  fleetTenantsWantedOfSite: { burst: 100, perSecond: 20 },
  /** How long a request waits for a tenant that is not there yet. */
  fleetWantedMsMax: 5_000,
  /** Of the snapshots that a gateway keeps, while it holds those alone that it is asked for. */
  fleetKeptBytesMax: 96 * 1024 * 1024,
  fleetReportItemsMax: 1000,
  fleetReportsHeldMax: 10_000,
  /** Counts per tenant, decision and reason: in one message, and held while there is no link. */
  fleetFiguresSentMax: 2000,
  fleetFiguresHeldMax: 20_000,
  fleetGatewaysKnownMax: 1000,
  /** A revocation names one without a key of its own for so long after it was here last. */
  keylessGatewayKeptMs: 24 * 3600 * 1000,
  /** Of one gateway: the one that it has, and the one that replaces it. */
  gatewayKeysMax: 2,
  fleetRejectionsKeptMax: 100,
  fleetReceiptsWaitingMax: 1_000,
  /** A gateway that is ahead by more than this is not believed: no database loses so many commits. */
  fleetAheadRevisionsMax: 100_000,
  /** What revisions are raised by when commits were lost: beyond all that anybody has seen. */
  fleetEpochRevisions: 1 << 20,
  /** Each costs every gateway everything again. */
  fleetEpochMsMin: 10 * 60 * 1000,
  /** Of what a gateway hands up in one message. */
  heldTenantsSentMax: 100,
  revokedEntriesPerMessageMax: 5_000,
  revokedEntriesPerTenantMax: 50_000,
} as const
