/** Of what people are told of what has happened; a part of `LIMITS`, which is what is asked. */
export const REPORT_LIMITS = {
  /** Pairs of outcome and reason that an application reports, and that are told apart. */
  figureKindsPerHourMax: 60,
  // the audit trail, and what a page shows of it and of refusals
  /** Of the newest refusals, and of the tenants that have the most. */
  refusalsListedMax: 10,
  auditKeptMs: 400 * 24 * 3600 * 1000,
  /** Entries of the audit trail on the page of one person. */
  personAuditListedMax: 50,
  /** By one page of a search; the next one goes on from there. */
  auditLookedThroughMax: 2000,
  /** Of an entry with long lists, as far as a search reads it. */
  auditCharactersSearched: 4000,
  auditExportedMax: 20_000,
  // alerts by email
  /** Of one alert, whatever its cooldown. */
  alertEmailEveryMs: 15 * 60_000,
  alertEmailRecipientsMax: 20,
  /** Addresses of others: of one alert, and of a tenant with those that were asked lately. */
  alertOtherRecipientsMax: 10,
  alertRecipientsPerTenantMax: 30,
  /** So long a link confirms, and nobody is asked again. */
  alertConfirmationMsMax: 7 * 24 * 3600 * 1000,
  /** So long nobody is asked again who said no, and of so many a tenant remembers it. */
  alertRefusalMs: 180 * 24 * 3600 * 1000,
  alertRefusalsPerTenantMax: 500,
  // what gateways tell of refused requests
  /** Rows of one worker: of one tenant, and of all. What is beyond is only counted. */
  refusalsListedPerTenantMinuteMax: 60,
  refusalsListedPerMinuteMax: 600,
  refusedPathCharactersMax: 200,
  /** Of a tenant's events, so that noise pushes out nothing else. */
  refusedEventsPerTenantMax: 20_000,
  /** Rows of a whole tenant, from all gateways. */
  rateRefusals: { burst: 2000, perSecond: 20 },
  /** Of the newest requests for sealed paths, so many are put together by path. */
  sealedEventsGroupedMax: 2000,
  sealedPathsListedMax: 50,
} as const
