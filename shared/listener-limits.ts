/** What whoever comes to the public listener of the control plane may hold there. */
export const LISTENER_LIMITS = {
  /** Kept ones that wait make room for new ones, so it holds what an address asks at once. */
  publicConnectionsPerAddressMax: 512,
  /** Of which one site has its share, however many networks are in it. */
  publicConnectionsMaxOfAll: 32_768,
  /** Without progress of an answer, and from when it waits for its reader to its end. */
  answerStalledMsMax: 20_000,
  answerUnsentMsMax: 120_000,
  unsentBytesPerAddressMax: 32 * 1024 * 1024,
  /** The same of all addresses, which is what the process has to hold. */
  unsentBytesMax: 256 * 1024 * 1024,
  unsentLookedAtMs: 250,
  /** Requests of one connection without their answers: no browser sends a second one. */
  pipelinedRequestsMax: 8,
  /** What Node's parser is given before we look again: it makes requests of all heads in it. */
  parsedSliceBytesMin: 256,
  /** Of such an answer: then its end waits for the other end, which says that it was read. */
  lingeringAnswerBytesMin: 64 * 1024,
  /** Packages and documents under way to one address, and how long others of it wait. */
  largeAnswersPerAddressMax: 16,
  largeAnswerWaitMsMax: 30_000,
} as const
