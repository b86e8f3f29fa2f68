/** Hostnames that tenants add by themselves. */
export const HOSTNAME_LIMITS = {
  hostnameClaimsPerTenantMax: 20,
  /** Of one that nobody shows to be theirs. */
  hostnameClaimKeptMs: 30 * 24 * 3600 * 1000,
  /** One look, at name servers and at the hostname itself. */
  hostnameLookMsMax: 6000,
  hostnameAnswerBytesMax: 4096,
  /** Between two looks at one hostname, however often somebody asks. */
  hostnameLookAgainMsMin: 10_000,
  /** A record that proved a hostname and is gone: from then on its administrators are warned. */
  hostnameUnprovenWarnedMs: 24 * 3600 * 1000,
  /** From then on the hostname is served no more, if it was missed often enough. */
  hostnameUnprovenMsMax: 14 * 24 * 3600 * 1000,
  hostnameUnprovenLooksMin: 20,
  /** At the same time, tenants in turn. */
  hostnameLooksAtOnceMax: 8,
} as const
