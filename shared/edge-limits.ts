/** Of a gateway and what it is spoken to with; a part of `LIMITS`, which is what is asked. */
export const EDGE_LIMITS = {
  // the edge, per request
  headBytesMax: 16 * 1024,
  headerCountMax: 100,
  targetBytesMax: 8 * 1024,
  methodBytesMax: 32,
  authorityBytesMax: 261,
  /** Of all that Connection says, each word of which may name a line that ends here. */
  connectionBytesMax: 1024,
  trailerBytesMax: 8 * 1024,
  chunkLineBytesMax: 256,
  chunkExtensionBytesMax: 16 * 1024,
  chunkSizeDigitsMax: 12,
  /** A chunk of less is counted as an extension of so much, which is what it costs to write it anew. */
  chunkTinyBytes: 64,
  upstreamHeadBytesMax: 64 * 1024,
  upstreamHeaderCountMax: 256,
  informationalAnswersMax: 16,
  /** A body up to here is gathered and sent in one write with its head. */
  smallBodyBytesMax: 16 * 1024,
  /** What is read and thrown away of a body that nobody wants, to keep the connection. */
  drainedBodyBytesMax: 64 * 1024,
  /** How long a client that owes us nothing may take to end its side behind a last answer. */
  lingerMsMax: 2000,
  ownFormBytesMax: 16 * 1024,
  /** Of a form or a query, told before it is parsed: the longest of ours has a few dozen. */
  formFieldsMax: 200,
  // the edge, per connection and address
  connectionsPerAddressMax: 512,
  /**
   * At one worker: a site, which may have 65,536 networks, has at most half of what all others leave, and
   * what one address may have in any case.
   */
  connectionsMaxOfAll: 65_536,
  /** Addresses without a connection whose budgets are still remembered: seconds, of each. */
  indebtedAddressesMax: 10_000,
  /** Of TLS, that one address begins with one worker, and a site at most: an office whose lines all come back. */
  handshakesPerAddress: { burst: 400, perSecond: 100 },
  /**
   * Connections of HTTP/2 that last less than this are short. Where a site has spent half of what it may
   * have of them, its handshakes begin so many a second.
   */
  shortConnectionMsMax: 2000,
  shortConnections: { burst: 400, perSecond: 25 },
  /**
   * Of TLS, that a site sends without bringing anything: ten microseconds of ours for 27 bytes. Of an
   * honest client nothing counts but records of less than 22 bytes, for what is missing to that: with
   * the smallest requests over HTTP/2 that is 37,000 a second.
   */
  emptyRecordBytes: { burst: 1024 * 1024, perSecond: 256 * 1024 },
  emptyRecordsLookMs: 100,
  /** Connections in one look, unless something has kept us from looking. */
  emptyRecordsLookedAt: 1000,
  /** And while the thread has worked for less than this share of the time: a thousand idle ones are to cost nothing. */
  emptyRecordsLookedAtIdle: 25,
  emptyRecordsBusyShareMin: 0.25,
  /** The longest one, with what seals it. */
  tlsRecordBytesMax: 5 + 16_384 + 256,
  /** Those of browsers have at most 2 KiB. */
  clientHelloBytesMax: 16 * 1024,
  clientHelloRecordsMax: 64,
  requestsPerConnectionMax: 100_000,
  /**
   * Reads of less than this, over HTTP/1.1: so many of a connection are free, and again where as much
   * comes in larger ones; beyond it its site has a budget, and is slowed down to it.
   */
  smallReadBytes: 64,
  smallReadsFree: 64,
  smallReads: { burst: 20_000, perSecond: 20_000 },
  /** Whole frames of WebSockets that are as small: five hundred people who draw sixty times a second. */
  smallFrames: { burst: 40_000, perSecond: 40_000 },
  /** Whoever waits for its turn to be read pays for so many of these, then the next one does. */
  throttledInRotation: 8,
  /** Who owes more is ended: a window of 64 KiB in pieces of eight bytes, or five in pieces of forty. */
  throttledOwedMax: 8192,
  /** A body that we have not read for so long is given up: an application waits for it as well. */
  throttledMsMax: 300_000,
  /** Of requests that one site has sent at once: then all others have their turn. */
  requestsPerTurnMax: 64,
  /** As what one to `/service/…` counts there: a sign-in that begins seals, signs and asks. */
  ownEndpointRequests: 16,
  /** What takes longer until it is forwarded or answered counts there as one more for each of these. */
  requestMs: 0.1,
  /** Of these, what a connection begins before the next one that waits. */
  requestsInRotation: 8,
  /** As many as requests that are often under way at once: beyond it sockets are made and thrown away. */
  upstreamIdleSocketsMax: 256,
  upstreamSocketsMax: 1024,
  upstreamWaitingMax: 4096,
  /**
   * Of these two, what one client may have of one tenant: and never more than half of what others
   * have left, but a few. So there is always room for one more.
   */
  upstreamSocketsPerClientMax: 512,
  upstreamWaitingPerClientMax: 1024,
  upstreamShareMin: 4,
  /** What a body or an answer moves at least, over each idle time: the slowest phone does. */
  progressBytesPerSecondMin: 240,
  resolvedNamesMax: 10_000,
  proxyHeaderBytesMax: 2048,
  acceptBacklogMax: 4096,
  // what the edge tells of itself
  logCharactersHeldMax: 1024 * 1024,
  /** Tenants beyond it are counted together: by a worker between two reports, and in metrics. */
  countedTenantsMax: 5000,
  metricTenantsMax: 500,
  webSocketsPerSessionMax: 64,
  webSocketsPerClientMax: 2_000,
  webSocketsPerTenantMax: 10_000,
  webSocketsPerProcessMax: 20_000,
  // HTTP/2, per connection
  http2StreamsMax: 100,
  /** Of one address, over all its connections. */
  http2StreamsPerAddressMax: 1024,
  /** Of them, bodies that are not small and not whole: each has an application wait for it. */
  http2UploadsPerAddressMax: 256,
  /** Of a connection that begins while its address has half of either under way, until it has not. */
  http2StreamsBesideManyMax: 8,
  /**
   * Of answers that the client has not taken, over all streams of a connection: first little, then
   * as much as it has taken before. Beyond it nothing more is read from applications.
   */
  http2UnsentBytesMin: 256 * 1024,
  http2UnsentBytesMax: 2 * 1024 * 1024,
  /** The same of all connections of a worker: beyond the first a site has at most half of what the others leave. */
  http2UnsentBytesMaxOfAll: 256 * 1024 * 1024,
  http2StreamWindowBytes: 64 * 1024,
  http2ConnectionWindowBytes: 1024 * 1024,
  /** Where a header block is cut off with the stream; above `headBytesMax` it is answered 431. */
  http2HeaderBlockBytesMax: 32 * 1024,
  http2HeaderFieldsMax: 256,
  /** HEADERS and the CONTINUATIONs behind it. */
  http2BlockFramesMax: 9,
  /** PRIORITY, padding, unknown frames and others that bring nothing: nothing is owed for them. */
  http2IdleFrames: { burst: 10_000, perSecond: 4000 },
  /** Frames that make no sense, empty ones among them: nobody sends so many by mistake. */
  http2InvalidFramesMax: 100,
  /** Heads of unfinished streams, unpacked: a reference of a few bytes repeats 16 KiB of them. */
  http2HeadBytesPerAddressMax: 4 * 1024 * 1024,
  /**
   * Streams, of six kilobytes each, and heads of all clients together: at one worker a site has at most half
   * of what the others leave, but for a few of each address, which are no more than its connection costs.
   */
  http2StreamsMaxOfAll: 32_768,
  http2StreamsFew: 8,
  http2HeadBytesMaxOfAll: 256 * 1024 * 1024,
  http2HeadBytesFew: 16 * 1024,
  /** Streams that their client cancels; four zooms of a map are 240. nghttp2's figures. */
  http2Cancels: { burst: 1000, perSecond: 33 },
  /** Streams that end without their answer in any other way, whoever ended them. */
  http2Resets: { burst: 200, perSecond: 20 },
  /** Of a site, DATA frames that carry less than this, beyond so many of a body: slowed down to it. */
  http2SmallDataFrameBytes: 64,
  http2SmallDataFramesFree: 16,
  http2SmallDataFrames: { burst: 10_000, perSecond: 4000 },
  /** PING and SETTINGS, each of which is owed an answer. */
  http2ControlFrames: { burst: 100, perSecond: 10 },
  /** Of these three together, what a connection may have that its site is not charged for. */
  http2CostsFree: { burst: 10, perSecond: 1 },
  /** The same of idle frames. */
  http2IdleFramesFree: { burst: 200, perSecond: 20 },
  /**
   * What a site has of them over all its connections: five hundred people who leave a page of twenty
   * images every ten seconds, ten connections whose streams all break, two PINGs a second from each, ten
   * connections with as many idle frames as one may have.
   */
  http2CostsPerSite: {
    cancels: { burst: 10_000, perSecond: 1000 },
    resets: { burst: 2000, perSecond: 200 },
    controlFrames: { burst: 5000, perSecond: 1000 },
    idleFrames: { burst: 100_000, perSecond: 40_000 },
  },
  /** A stream of which nothing is taken, while its connection takes others. */
  http2StreamIdleMsMax: 300_000,
  // cookies of realms, which all realms of a host are sent
  realmSessionCookiesMax: 20,
  attemptCookiesMax: 10,
  /** Accounts of one realm that a browser is known for. */
  deviceTokensMax: 5,
  // traces, of one worker or control plane
  traceSpansPerSecondMax: 100,
  traceSpansHeldMax: 2048,
  traceSpansPerRequestMax: 256,
  /** Of the control plane: a request that changes very much has no more. */
  traceSpansPerTraceMax: 64,
} as const

type Widened<Limit> = Limit extends number
  ? number
  : { readonly [Name in keyof Limit]: Widened<Limit[Name]> }

/** For who may be given others. */
export type EdgeLimits = Widened<typeof EDGE_LIMITS>
