/** Of signing in a command line tool with a code; a part of `LIMITS`, which is what is asked. */
export const DEVICE_CODE_LIMITS = {
  /** How long a code is good, and a folder or a machine is called at most. */
  deviceCodeMs: 10 * 60 * 1000,
  deviceNameCharactersMax: 64,
  /** Open at the same time: in all, of a network, and of a site (a /48 of IPv6). */
  deviceCodesOpenMax: 2000,
  /** Of all, only for networks that have none open yet. */
  deviceCodesForOthers: 500,
  deviceCodesPerAddressMax: 20,
  deviceCodesPerSiteMax: 40,
  /** Between two questions of one tool; each that comes sooner adds to it. */
  deviceCodeIntervalSeconds: 2,
  deviceCodeSlowDownSeconds: 2,
  deviceCodeIntervalSecondsMax: 60,
  /** Of one address: codes that are asked for, and questions whether one was allowed. */
  rateDeviceCodes: { burst: 20, perSecond: 1 / 30 },
  rateDeviceTokens: { burst: 100, perSecond: 15 },
  /** Codes that are typed in and that no tool has: of one person, from wherever. */
  rateDeviceCodeGuesses: { burst: 10, perSecond: 1 / 60 },
  /** Tenants that the page offers at once; a search finds the others. */
  deviceTenantsListedMax: 50,
} as const
