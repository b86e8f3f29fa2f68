/** What a running connector tells about itself on this machine, put together. */
import type { Tunnel } from '../tunnel/tunnel.ts'
import type { TunnelEvent } from '../tunnel/worker-link.ts'
import { createChecks } from './checks.ts'
import { createCounts } from './counts.ts'
import { healthOf } from './health.ts'
import type { LoopbackListener } from '../../resident/loopback.ts'
import { openLocalListener } from './listener.ts'
import { METRICS_TYPE, metricsText } from './metrics.ts'
import { statusView, type LocalFacts } from './status-view.ts'

interface LocalWorld {
  /** Undefined: nobody can ask. */
  readonly port: number | undefined
  readonly tunnel: Pick<Tunnel, 'status' | 'gateways' | 'check'>
  readonly facts: () => LocalFacts
  /** A clock that nobody sets. */
  readonly nowMs: () => number
}

export type Local = Awaited<ReturnType<typeof startLocal>>

/** A port that is taken is no reason not to run. */
export async function startLocal({ port, tunnel, facts, nowMs }: LocalWorld) {
  const startedMs = nowMs()
  const counts = createCounts()
  let isDraining = false
  let listener: LoopbackListener | undefined
  let problem = ''
  const health = () =>
    healthOf({ gateways: tunnel.gateways, links: tunnel.status(), isDraining, nowMs: nowMs() })
  const status = () =>
    statusView({
      facts: facts(),
      health: health(),
      counts: counts.now(),
      startedMs,
      nowMs: nowMs(),
    })

  const checks = createChecks(tunnel, nowMs)
  if (port !== undefined)
    try {
      listener = await openLocalListener(port, {
        look: checks.look,
        status,
        metrics: () => ({ type: METRICS_TYPE, text: text() }),
        ready() {
          const now = health()
          return { isReady: now.is_ready, body: now }
        },
      })
    } catch (error) {
      problem = problemOf(error as NodeJS.ErrnoException, port)
    }

  function text(): string {
    const { program, listSequence, listConfirmedMs } = facts()
    const { user, system } = process.cpuUsage()
    return metricsText({
      program,
      health: health(),
      counts: counts.now(),
      listSequence,
      listAgeSeconds:
        listConfirmedMs === undefined ? undefined : (nowMs() - listConfirmedMs) / 1000,
      upSeconds: (nowMs() - startedMs) / 1000,
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
    })
  }

  return {
    /** Undefined where it does not listen. */
    port: listener?.port,
    /** Why it does not, although it was to; '' where it does. */
    problem,
    health,
    status,
    onEvent(event: TunnelEvent) {
      counts.onEvent(event)
      checks.onEvent(event)
    },
    /** From now on it is not ready. */
    drain() {
      isDraining = true
    },
    async close() {
      checks.close()
      await listener?.close()
    },
  }
}

function problemOf({ code = 'unknown', message }: NodeJS.ErrnoException, port: number): string {
  const advice = 'choose another one with --local-port, or none with --local-port none'
  return code === 'EADDRINUSE'
    ? `port ${port} is taken, so there is no /ready, no /metrics and no status: ${advice}`
    : `port ${port} cannot be listened on (${message}), so there is no /ready, no /metrics and no status: ${advice}`
}
