/** Asks every gateway again and again whether a request would come through. */
import { LIMITS } from '../../../../shared/limits.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import { NO_CONNECTION } from './health.ts'

/** A link that is new has no connection to check with for a moment. */
const SOON_MS = 100

export function createChecks(tunnel: Pick<Tunnel, 'check'>) {
  const every = setInterval(() => tunnel.check(), LIMITS.connectorCheckMs)
  const soon = new Map<string, { waitMs: number; timer: NodeJS.Timeout | undefined }>()

  function checkSoon(gateway: string, worker: number): void {
    const key = `${gateway} ${worker}`
    const { waitMs, timer } = soon.get(key) ?? { waitMs: SOON_MS, timer: undefined }
    // From there on it is asked with all others.
    if (timer !== undefined || waitMs >= LIMITS.connectorCheckMs) return
    const next = setTimeout(() => {
      soon.set(key, { waitMs: waitMs * 2, timer: undefined })
      tunnel.check((name, at) => name === gateway && at === worker)
    }, waitMs)
    soon.set(key, { waitMs, timer: next })
  }

  return {
    onEvent(event: TunnelEvent): void {
      if (event.type !== 'connected' && event.type !== 'checked') return
      const { gateway, worker } = event
      if (event.type === 'connected') {
        clearTimeout(soon.get(`${gateway} ${worker}`)?.timer)
        soon.delete(`${gateway} ${worker}`)
        checkSoon(gateway, worker)
      } else if (event.reason === NO_CONNECTION) checkSoon(gateway, worker)
    },
    close(): void {
      clearInterval(every)
      for (const { timer } of soon.values()) clearTimeout(timer)
    },
  }
}
