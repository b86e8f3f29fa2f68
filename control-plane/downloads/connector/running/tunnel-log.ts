/** What the tunnel tells, as lines of the log: what goes on being so is told once. */
import { refusalText } from '../tunnel/refusals.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import type { Log } from '../../resident/log.ts'

export function createTunnelLog(log: Log): (event: TunnelEvent) => void {
  /** By gateway, until it is connected again. */
  const refused = new Map<string, string>()
  /** Why the application could not be reached the last time; '' when it could. */
  let unreached = ''

  return (event) => {
    switch (event.type) {
      case 'connected':
        refused.delete(event.gateway)
        return log.info({ gateway_id: event.gateway, worker: event.worker }, 'connected')
      case 'lost':
        return log.warn(
          { gateway_id: event.gateway, worker: event.worker, error: event.reason },
          'not connected',
        )
      case 'refused': {
        const { gateway, reason } = event
        if (refused.get(gateway) === reason) return
        refused.set(gateway, reason)
        return log.warn({ gateway_id: gateway, reason }, refusalText(reason))
      }
      case 'opened': {
        const reason = event.isReached ? '' : (event.reason ?? 'unknown')
        if (reason === unreached) return
        unreached = reason
        if (reason === '') return log.info({}, 'the application answers again')
        return log.warn({ reason }, 'the application cannot be reached')
      }
      case 'checked':
        return
    }
  }
}
