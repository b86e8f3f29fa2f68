/** What the tunnel tells, as lines of the log. Requests are counted, not told. */
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import type { Log } from './log.ts'

/** What a later gateway says besides is told as it is. */
const REFUSED: Readonly<Record<string, string>> = {
  unknown: 'the gateway does not know this connector: it may have been revoked',
  revoked: 'this connector was revoked',
  version: 'the gateway speaks another version: update this connector',
  many: 'the tenant has too many connectors at this gateway',
}

export function logTunnelEvent(log: Log, event: TunnelEvent): void {
  switch (event.type) {
    case 'connected':
      return log.info({ gateway_id: event.gateway, worker: event.worker }, 'connected')
    case 'lost':
      return log.warn(
        { gateway_id: event.gateway, worker: event.worker, error: event.reason },
        'not connected',
      )
    case 'refused':
      return log.warn(
        { gateway_id: event.gateway, reason: event.reason },
        REFUSED[event.reason] ?? 'refused',
      )
    case 'opened':
      if (!event.isReached)
        log.warn({ reason: event.reason ?? '' }, 'the application cannot be reached')
      return
    case 'checked':
      return
  }
}
