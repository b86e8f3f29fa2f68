/** Machines that come in by credentials of their own: what people know of them is a service. */
export const SERVICE_LIMITS = {
  servicesPerTenantMax: 100,
  serviceNameCharactersMax: 100,
  /** The one in use, and the one that is to follow it. */
  serviceSecretsMax: 2,
  serviceSecretSecondsMin: 3600,
  serviceSecretSecondsMax: 365 * 24 * 3600,
  serviceSecretSecondsDefault: 90 * 24 * 3600,
  /** A token that a machine gets for its secret, and how often it may ask for one. */
  serviceTokenSeconds: 600,
  /** How far ahead a signed assertion may end, and by how much clocks may differ. */
  serviceAssertionSecondsMax: 300,
  serviceAssertionSkewSeconds: 30,
  serviceAssertionIdCharactersMax: 256,
  serviceKeyBitsMin: 2048,
  serviceKeyBitsMax: 4096,
  serviceKeyIdCharactersMax: 200,
  rateServiceTokens: { burst: 60, perSecond: 1 },
  /** Of how many a worker knows that their signature holds. */
  serviceTokensRememberedMax: 10_000,
  /** How exact it is when a secret was last used, and of how many a worker knows when it said so. */
  serviceUseToldSeconds: 300,
  serviceUsesRememberedMax: 10_000,
  /** What one report may stand for. */
  eventCountMax: 1_000_000,
  serviceUsesKeptMs: 2 * 24 * 3600 * 1000,
  /** Wrong credentials of one address or network; right ones come in all the same. */
  rateServiceFailures: { burst: 20, perSecond: 0.2 },
  /**
   * For so long an application believes what it is told of a service, renewed long before: a gateway
   * goes on for six days without its control plane.
   */
  serviceIdentitySeconds: 7 * 24 * 3600,
  serviceIdentityRenewedMs: 24 * 3600 * 1000,
} as const
