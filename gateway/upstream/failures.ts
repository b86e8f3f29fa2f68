/** What a socket's error means to whoever waits for an answer. */
import { failure, type UpstreamFailure } from '../wire/upstream-call.ts'

export function failureOf(error: NodeJS.ErrnoException, wasConnected: boolean): UpstreamFailure {
  const code = error.code ?? ''
  if (wasConnected) return failure('upstream_reset', `the connection broke: ${code}`)
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return failure('upstream_unresolved', 'the application has no address')
    case 'ECONNREFUSED':
      return failure('upstream_refused', 'the application refuses connections')
    case 'ETIMEDOUT':
      return failure('upstream_connect_timeout', 'the application could not be reached in time')
    default:
      return /^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)
        ? failure('upstream_tls_failed', `TLS with the application failed: ${code}`)
        : failure('upstream_unreachable', `the application cannot be reached: ${code}`)
  }
}
