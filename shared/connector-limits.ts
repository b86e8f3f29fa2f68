/** Of connectors, and what they may have of a gateway; a part of `LIMITS`, which is what is asked. */
export const CONNECTOR_LIMITS = {
  /** The one line that each end says before anything else, and how long it may take. */
  connectorHandshakeBytesMax: 4 * 1024,
  connectorHandshakeMsMax: 5000,
  /** One message of a control connection. */
  connectorMessageBytesMax: 64 * 1024,
  /** The one line behind OPEN. */
  connectorAnswerBytesMax: 256,
  /** Of a connector that was asked for its application, while another one could be. */
  connectorAnswerMsMax: 1000,
  /** By requests, while a worker has just begun. */
  connectorsAwaitedMsMax: 3000,
  connectorPingMs: 5000,
  connectorSilentMsMax: 15_000,
  /** Not asked for yet, at one worker: while nobody comes, with the first request, and in a burst. */
  connectorSparesIdle: 1,
  connectorSparesBusy: 4,
  connectorSparesMax: 64,
  /** Of one connector at one worker, in use or not. */
  connectorConnectionsMax: 256,
  /** Without a request for so long, spare connections are given back. */
  connectorSparesKeptMs: 60_000,
  connectorsPerTenantMax: 50,
  connectorKeysMax: 2,
} as const
