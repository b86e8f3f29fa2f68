/** Of connectors, and what they may have of a gateway; a part of `LIMITS`, which is what is asked. */
export const CONNECTOR_LIMITS = {
  /** The one line that each end says before anything else, and how long it may take. */
  connectorHandshakeBytesMax: 4 * 1024,
  connectorHandshakeMsMax: 5000,
  /**
   * TLS handshakes of connectors that one worker begins, a millisecond each: a thousand that come back at
   * once take a tenth of a core for a quarter of a minute. Who would wait for longer comes again.
   */
  connectorHandshakes: { burst: 8, perSecond: 80 },
  connectorHandshakeWaitMsMax: 5000,
  /** Addresses that connectors have come from, at one worker: who comes back goes before strangers. */
  connectorClientsKnownMax: 5000,
  /** Of them networks of one site: anybody can have 65,536, and have joined with one connector. */
  connectorClientsKnownOfSiteMax: 250,
  /** For their turn in the channel between two processes of a gateway, on the way to the worker that they want. */
  connectorsPassedWaitingMax: 16,
  /** One message of a control connection, and what is kept for a connector that reads none of ours. */
  connectorMessageBytesMax: 64 * 1024,
  /** Reads that one line comes in: a record of TLS has up to 16 KiB, and is read at once. */
  connectorLinePiecesMax: 64,
  connectorUnreadBytesMax: 256 * 1024,
  /** What a connector says of its own accord; an answer to each request is besides. */
  connectorWords: { burst: 200, perSecond: 10 },
  /** The one line behind OPEN. */
  connectorAnswerBytesMax: 256,
  /** Of a connector that was asked for its application, while another one could be. */
  connectorAnswerMsMax: 1000,
  /** By requests, while a worker has just begun. */
  connectorsAwaitedMsMax: 3000,
  /** Three pings are without an answer by then. */
  connectorSilentMsMax: 15_000,
  /** Not asked for yet, at one worker: after a while without requests, with the first one, and in a burst. */
  connectorSparesIdle: 1,
  connectorSparesBusy: 4,
  connectorSparesMax: 64,
  /** Of one connector at one worker, in use or not. */
  connectorConnectionsMax: 256,
  /** Without a request for so long, spare connections are given back. */
  connectorSparesKeptMs: 60_000,
  /** And without one for so long, the last of them: the next request waits until one is dialled. */
  connectorLastSpareKeptMs: 600_000,
  /** Requests under way, when a connector is stopped; and when its key is replaced. */
  connectorDrainMsMax: 30_000,
  connectorKeyDrainMsMax: 3600 * 1000,
  /** Then a connector replaces its key. */
  connectorKeyDays: 30,
  connectorsPerTenantMax: 50,
  /** Words of keys that have signed lists of gateways, kept for connectors that were away. */
  connectorHandoversMax: 10,
  // what gateways tell the control plane of them
  /** In one message; of one gateway; and for so long, unless it is renewed. */
  connectorsReportedAtOnceMax: 200,
  connectorsReportedMax: 5000,
  connectorPresenceMs: 15_000,
  connectorReasonCharactersMax: 100,
  /** Of one that comes and goes: events that its tenant's people are told. */
  rateConnectorTold: { burst: 12, perSecond: 1 / 300 },
  connectorKeysMax: 2,
  /** Between two checks of a link, while somebody asks; and how old one that came through may be. */
  connectorCheckMs: 5000,
  connectorCheckedMsMax: 15_000,
  /** Of programs on its own machine that ask how it is. */
  connectorLocalConnectionsMax: 16,
  /** Gateways that connectors dial, told to all gateways. */
  connectorDoorsMax: 500,
  /** Of a tenant's connectors, at so many gateways; and tenants in one message. */
  holdersNamedMax: 8,
  holdersTenantsSentMax: 500,
  // between gateways: at one worker, to or from one worker of another
  hopPingMs: 5000,
  hopConnectionsMax: 512,
  /** Of one gateway, which may have 256 workers: each has one, and one that replaces it. */
  hopLinksMax: 512,
  /** What either end says on a link; that a request is to be its last is besides. */
  hopWords: { burst: 200, perSecond: 10 },
  /** Without any, so long. */
  hopLinkKeptMs: 60_000,
  /** Who has said that no connector is there is not asked again so soon. */
  hopAbsentMs: 1000,
  /** Who has not answered comes last, so long. */
  hopLostMs: 5000,
  /** Asked for one request, one after the other. */
  hopTriesMax: 4,
  // join tokens, and what the program asks of the control plane
  connectorTokensPerTenantMax: 50,
  connectorTokenUsesMax: 50,
  connectorTokenSecondsMin: 60,
  connectorTokenSecondsDefault: 24 * 3600,
  connectorTokenSecondsMax: 30 * 24 * 3600,
  connectorNameCharactersMax: 100,
  connectorChallengeMs: 60_000,
  connectorPollSeconds: 60,
  /** Written down again no sooner, though it asks every minute. */
  connectorSeenEveryMs: 5 * 60_000,
  /** Named to connectors after their last word; so long as if they were there; so many to each. */
  connectorGatewayKeptMs: 3600 * 1000,
  connectorGatewayRecentMs: 5 * 60_000,
  connectorGatewaysMax: 4,
  /** Of an address: a whole data center comes back at once. */
  rateConnectorJoin: { burst: 60, perSecond: 1 / 10 },
  rateConnectorState: { burst: 2000, perSecond: 50 },
  /** Of one connector, from wherever: its key, and so what gateways are told, changes no more often. */
  rateConnectorOwn: { burst: 30, perSecond: 1 / 20 },
} as const
