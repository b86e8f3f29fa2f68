/** Every limit of the service in one place. Each is tested at N and at N + 1. */
export const LIMITS = {
  // the edge, per request
  headBytesMax: 16 * 1024,
  headerCountMax: 100,
  targetBytesMax: 8 * 1024,
  methodBytesMax: 32,
  trailerBytesMax: 8 * 1024,
  chunkLineBytesMax: 256,
  upstreamHeadBytesMax: 64 * 1024,
  ownFormBytesMax: 16 * 1024,
  // the edge, per connection and address
  pipelinedRequestsMax: 16,
  connectionsPerAddressMax: 512,
  requestsPerConnectionMax: 100_000,
  upstreamIdleSocketsMax: 64,
  upstreamSocketsMax: 1024,
  streamBufferBytesMax: 256 * 1024,
  // sessions
  sessionTokenBytesMax: 1536, // what a realm issues
  sessionTokenReadBytesMax: 4096, // what is looked at, cookies being no larger
  flowCookiesMax: 5,
  flowSecondsMax: 600,
  issuedAheadSecondsMax: 60,
  signInHopsMax: 8,
  returnToBytesMax: 2048,
  verifyCacheEntriesMax: 50_000,
  // paths
  pathDecodingRoundsMax: 3,
  pathSegmentsMax: 256,
  // the API
  jsonBodyBytesMax: 1024 * 1024,
  formBodyBytesMax: 64 * 1024,
  pageItemsMax: 200,
  pageItemsDefault: 50,
  hostnamesPerTenantMax: 100,
  pathPrefixesPerTenantMax: 200,
  pathPrefixBytesMax: 512,
  passwordBytesMax: 1024,
  // the fleet link
  snapshotBytesMax: 1024 * 1024,
  fleetMessageBytesMax: 4 * 1024 * 1024,
  fleetBehindRevisionsMax: 10_000,
  fleetUnsentBytesMax: 64 * 1024 * 1024,
} as const
