/** The console over real HTTP with figures as of a busy day, for a browser. */
import { once } from 'node:events'
import { pino } from 'pino'
import type { BrowserContext } from 'playwright-core'
import type { FigureSource } from '../../control-plane/store/monitoring-names.ts'
import { createPublicServer } from '../../control-plane/server.ts'
import { addFigures } from '../../control-plane/store/queries/figures.ts'
import { HOUR_MS, MINUTE_MS, systemClock as clock } from '../../shared/clock.ts'
import { startConsole, type Person } from './console.ts'
import type { ServicesOptions } from './control-plane.ts'
import { freePort } from './ports.ts'

interface TestScope {
  teardown(work: () => unknown): void
}

export async function serveConsole(t: TestScope, options: ServicesOptions = {}) {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const world = await startConsole(t, { ...options, baseUrl, clock })
  const { app, services } = world
  const log = pino({ level: 'silent' })
  const server = createPublicServer({ app, realms: services.realms, log, clock })
  server.listen(port)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    ...world,
    at: (path: string) => baseUrl + path,
    enter: (context: BrowserContext, { sessionId }: Person) =>
      context.addCookies([
        { name: 'service_console', value: sessionId, url: `${baseUrl}/console` },
      ]),
  }
}

type Served = Awaited<ReturnType<typeof serveConsole>>

/** So many per hour, in waves, as a day has them. */
const SHAPE: readonly (readonly [FigureSource, string, string, number])[] = [
  ['edge', 'forwarded', 'session', 900],
  ['edge', 'forwarded', 'excluded', 240],
  ['edge', 'sign_in', 'no_session', 160],
  ['edge', 'sign_in', 'idle', 40],
  ['edge', 'sealed', 'sealed', 24],
  ['edge', 'refused', 'path_unreadable', 5],
  ['edge', 'terminate', 'binding_terminate', 2],
  ['realm', 'signed_in', '', 70],
  ['realm', 'step_up', 'second_factor_needed', 30],
  ['realm', 'failed', 'credentials_wrong', 12],
  ['realm', 'failed', 'code_wrong', 4],
  ['realm', 'denied', 'network_denied', 6],
  ['realm', 'denied', 'user_paused', 3],
]

export async function busyDay({ services }: Served, tenantId: string): Promise<void> {
  const nowMs = clock.nowMs()
  const moments = [
    ...Array.from({ length: 48 }, (_, hour) => nowMs - (hour + 1) * HOUR_MS),
    ...Array.from({ length: 60 }, (_, minute) => nowMs - minute * MINUTE_MS),
  ]
  await services.store.change(async ({ queries }) => {
    for (const [place, atMs] of moments.entries()) {
      const wave = 1 + Math.sin(atMs / (3.8 * HOUR_MS)) * 0.7
      const share = place < 48 ? 1 : 1 / 60
      for (const source of ['edge', 'realm'] as const) {
        const figures = SHAPE.filter(([from]) => from === source).map(
          ([, outcome, reason, count], line) => ({
            outcome: outcome as 'sealed',
            reason,
            count: Math.max(
              1,
              Math.round(count * share * (wave + ((place * (line + 3)) % 7) / 12)),
            ),
          }),
        )
        await addFigures(queries, source, atMs, new Map([[tenantId, figures]]))
      }
    }
  })
}
