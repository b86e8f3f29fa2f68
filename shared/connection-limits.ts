/** What identity providers of tenants, and sign-ins by them, may use of us. */
export const CONNECTION_LIMITS = {
  connectionsPerTenantMax: 10,
  connectionNameCharactersMax: 60,
  connectionFieldCharactersMax: 512,
  connectionSecretCharactersMax: 1024,
  connectionMfaValuesMax: 20,
  connectionDomainsPerTenantMax: 50,
  /** Of one document or answer of a provider. */
  providerAnswerBytesMax: 256 * 1024,
  providerMsMax: 5000,
  providerSendsMax: 50,
  providersKeptMax: 500,
  /** From "Continue with" to the way back. */
  upstreamSecondsMax: 600,
  /** On their way at a time, in one browser. */
  upstreamCookiesMax: 5,
  /** How old an ID token of a provider may be. */
  upstreamTokenSecondsMax: 300,
} as const
