/** Certificates that are ordered: how authorities are asked, and how they are answered. */
export const ACME_LIMITS = {
  /** One request to an authority, from the connection to the last byte. */
  acmeRequestMsMax: 30_000,
  acmeAnswerBytesMax: 256 * 1024,
  /** Of one tenant: authorities count those of all tenants together. A hundred hostnames have theirs at once. */
  rateAcmeOrders: { burst: 150, perSecond: 30 / 3600 },
  /** One question whether a hostname leads to our gateways, or its record to our zone. */
  acmePreflightMsMax: 10_000,
  acmePreflightBytesMax: 4096,
  /** Records that point to one another, until one points to our zone. */
  acmeAliasesMax: 5,
  /** Hostnames that are on their way at the same time. */
  acmeOrdersAtOnceMax: 6,
  /** Hostnames that are given a renewed wildcard at once; each of them wakes the next. */
  acmeFollowersWokenMax: 20,
  /** However long an authority asks for. */
  acmePauseMsMax: 7 * 24 * 3600 * 1000,
  /** One question of DNS: a name, and what belongs to it. */
  dnsQuestionBytesMax: 512,
  /** Over UDP, where the sender may be somebody else: of one network (/24, /64). */
  dnsAnswersPerSecondMax: 20,
  dnsAnswersBurstMax: 60,
  dnsNetworksMax: 10_000,
  /** That wait for the store. */
  dnsQuestionsAtOnceMax: 1000,
  dnsConnectionsMax: 200,
  dnsConnectionsPerAddressMax: 10,
  dnsConnectionMsMax: 10_000,
  dnsQuestionsPerConnectionMax: 100,
  /** What authorities look for now is read anew after this time; it is written earlier than they are told. */
  dnsValuesMsMax: 250,
  dnsValuesMax: 1000,
} as const
