/** What providers that push people and groups (SCIM) may use of us; a part of `LIMITS`. */
export const SCIM_LIMITS = {
  /** Alive at the same time: one in use, one to rotate to, and some for a second provider. */
  scimTokensPerTenantMax: 5,
  scimTokenNameCharactersMax: 60,
  scimTokenSecondsMin: 3600,
  scimTokenSecondsMax: 365 * 24 * 3600,
  scimTokenSecondsDefault: 180 * 24 * 3600,
  /** A token is written down as used once in so long. */
  scimTokenUsedEveryMs: 60 * 1000,
  /** Of a tenant, whichever of its tokens is shown. */
  rateScim: { burst: 50, perSecond: 25 },
  /** A larger body counts as several requests, since a thousand members take as long. */
  scimBytesPerRequest: 4096,
  /** A group of 20,000 members with their names. */
  scimBodyBytesMax: 4 * 1024 * 1024,
  scimValuesMax: 100_000,
  scimOperationsMax: 1000,
  /** Memberships of a tenant that come or go: each is written down, and what has been for long. */
  rateScimMembers: { burst: 100_000, perSecond: 50 },
  /** Of one group, and named by one request. */
  scimMembersPerGroupMax: 20_000,
  scimPageItemsMax: 200,
  scimPageItemsDefault: 100,
  /** Where a list may begin at most; nobody has so many. */
  scimStartIndexMax: 10_000_000,
  /** Of all groups on one page together; further groups are on the next. */
  scimMembersListedMax: 20_000,
  scimFilterCharactersMax: 1000,
  scimFilterTermsMax: 10,
  scimPathCharactersMax: 500,
  scimAttributeCharactersMax: 200,
  scimExternalIdCharactersMax: 255,
  scimUserNameCharactersMax: 254,
  scimGroupNameCharactersMax: 256,
  /** Attributes and members that a line of the log and an audit entry name. */
  scimNamedMax: 10,
  /** The newest of a tenant, and for how long. */
  scimLogEntriesMax: 500,
  scimLogKeptMs: 30 * 24 * 3600 * 1000,
  scimLogTextCharactersMax: 300,
  /** Of all tenants, between two times that they are written down. */
  scimLogWaitingMax: 5000,
} as const
