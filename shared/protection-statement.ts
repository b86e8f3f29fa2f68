/**
 * How an application behind the edge learns that it is not live yet: the service says so over the
 * tenant's own signature, for half a minute. What is not said, not signed or not recent is `on`.
 */

/** `typ` of the statement's JWT: it can never be taken for a session or for a probe. */
export const PROTECTION_STATEMENT_TYPE = 'service-protection+jwt'
export const PROTECTION_STATEMENT_SECONDS = 30
