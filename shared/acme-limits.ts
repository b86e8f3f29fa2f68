/** Certificates that are ordered: how authorities are asked. */
export const ACME_LIMITS = {
  /** One request to an authority, from the connection to the last byte. */
  acmeRequestMsMax: 30_000,
  acmeAnswerBytesMax: 256 * 1024,
  /** One question whether a hostname leads to our gateways. */
  acmePreflightMsMax: 10_000,
  acmePreflightBytesMax: 4096,
  /** Hostnames that are on their way at the same time. */
  acmeOrdersAtOnceMax: 6,
  /** However long an authority asks for. */
  acmePauseMsMax: 7 * 24 * 3600 * 1000,
} as const
