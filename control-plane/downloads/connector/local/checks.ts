/**
 * Asks gateways whether a request would come through, while somebody wants to know. A check takes a
 * connection of a gateway's, which a thousand connectors must not cost it while nobody looks.
 */
import { LIMITS } from '../../../../shared/limits.ts'
import type { LinkStatus, Tunnel } from '../tunnel/tunnel.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import { NO_CONNECTION } from './health.ts'

/** Who asks gets an answer by then, whatever is missing. */
const WAITED_MS = 2000
/** A link that is new, or busy, has no connection to check with for a moment. */
const AGAIN_MS = 100

type CheckedTunnel = Pick<Tunnel, 'check' | 'status'>
type Link = Pick<LinkStatus, 'gateway' | 'worker'>

export function createChecks(tunnel: CheckedTunnel, nowMs: () => number) {
  let checkedMs = -Infinity
  /** Asked, and without an answer so far. */
  const missing = new Set<string>()
  const again = new Set<NodeJS.Timeout>()
  const waiters = new Set<() => void>()

  function ask(links: readonly Link[]): void {
    const asked = new Set(links.map(nameOf))
    for (const name of asked) missing.add(name)
    tunnel.check((gateway, worker) => asked.has(nameOf({ gateway, worker })))
  }

  function settle(link: Link): void {
    missing.delete(nameOf(link))
    if (missing.size === 0) for (const done of waiters) done()
  }

  function askAgain(link: Link): void {
    if (waiters.size === 0) return settle(link)
    const timer = setTimeout(() => {
      again.delete(timer)
      ask([link])
    }, AGAIN_MS)
    again.add(timer)
  }

  return {
    onEvent(event: TunnelEvent): void {
      if (event.type === 'lost') settle(event)
      if (event.type !== 'checked') return
      if (event.reason === NO_CONNECTION) askAgain(event)
      else settle(event)
    },

    /** Settles once every link that is connected has answered lately, or with the time. */
    async look(): Promise<void> {
      const connected = tunnel.status().filter(({ isConnected }) => isConnected)
      const isDue = nowMs() - checkedMs >= LIMITS.connectorCheckMs
      if (isDue) {
        checkedMs = nowMs()
        missing.clear()
      }
      const due = isDue ? connected : connected.filter(isUnknown)
      const others = due.filter((link) => !missing.has(nameOf(link)))
      if (others.length > 0) ask(others)
      if (missing.size > 0) await answered()
    },

    close(): void {
      for (const timer of again) clearTimeout(timer)
      for (const done of waiters) done()
    },
  }

  function answered(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(deadline)
        waiters.delete(done)
        resolve()
      }
      const deadline = setTimeout(done, WAITED_MS)
      waiters.add(done)
    })
  }
}

const nameOf = ({ gateway, worker }: Link) => `${gateway} ${worker}`
/** Since it is connected, nobody has asked, or there was nothing to check with. */
const isUnknown = ({ check }: LinkStatus) =>
  check.reachedMs === undefined && (check.problem === '' || check.problem === NO_CONNECTION)
