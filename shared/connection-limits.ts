/** What identity providers of tenants, and sign-ins by them, may use of us. */
export const CONNECTION_LIMITS = {
  connectionsPerTenantMax: 10,
  connectionNameCharactersMax: 60,
  connectionFieldCharactersMax: 512,
  connectionSecretCharactersMax: 1024,
  connectionMfaValuesMax: 20,
  /** Claims that are attributes here. */
  connectionAttributesMax: 20,
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
  /** Other applications that sign people in by a realm. */
  realmClientsPerTenantMax: 50,
  realmClientAddressesMax: 20,
  /** In one of their tokens; with more, none is named. */
  realmClientGroupsMax: 200,
  /** How long one of their ID tokens counts. */
  realmClientTokenSeconds: 300,
  // SAML. Elements, depth and attributes bound what canonicalization costs (test/bench of the worst)
  samlResponseBytesMax: 256 * 1024,
  /** The form that carries it: base64, and what a form makes of that. */
  samlFormBytesMax: 512 * 1024,
  samlElementsMax: 1200,
  samlAttributesMax: 3000,
  samlDepthMax: 24,
  /** Of what is signed, in its canonical form; and of what its signature says, at anybody's wish. */
  samlCanonicalCharactersMax: 512 * 1024,
  samlSignedInfoCharactersMax: 8 * 1024,
  /** Of metadata, which is only read: directories list all claims that they know. */
  samlMetadataElementsMax: 8000,
  samlCertificatesMax: 8,
  samlCertificateCharactersMax: 16 * 1024,
  samlAttributeNamesMax: 200,
  /** Of what an assertion says, until its browser comes for it. */
  samlClaimsCharactersMax: 64 * 1024,
  samlGroupsMappedMax: 200,
  /** How long an assertion may count: so long its id is remembered. */
  samlAssertionSecondsMax: 24 * 3600,
  /** From a verified response to the browser's own next request. */
  samlAnswerSecondsMax: 120,
  samlMetadataEveryMs: 24 * 3_600_000,
  /** After it could not be read. */
  samlMetadataAgainMs: 3_600_000,
} as const
