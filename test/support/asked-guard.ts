/** A guard of `enforce()` with its service, asked as an adapter would ask it. */
import { createEnforcement } from '../../control-plane/downloads/sdk-node/enforce/enforcement.ts'
import type { EnforceOptions } from '../../control-plane/downloads/sdk-node/published.ts'
import type { Outcome } from '../../control-plane/downloads/sdk-node/guard.ts'
import { startFeedService, USER_AGENT } from './feed-service.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export interface Asked {
  readonly cookie?: string
  readonly headers?: readonly string[]
  readonly method?: string
  readonly peerAddress?: string
  readonly userAgent?: string
}

export type AskedGuard = Awaited<ReturnType<typeof startGuard>>

export async function startGuard(
  t: Teardown,
  change: Record<string, unknown> = {},
  options: EnforceOptions = {},
) {
  const service = await startFeedService(t, change)
  const warnings: string[] = []
  let aheadMs = 0
  const guard = createEnforcement({
    ...service.options,
    nowMs: () => Date.now() + aheadMs,
    onWarning: (message) => void warnings.push(message),
    ...options,
  })
  t.teardown(() => guard.close())

  async function ask(target: string, asked: Asked = {}): Promise<Told> {
    const { cookie, headers = [], method = 'GET', peerAddress = '127.0.0.1' } = asked
    const rawHeaders = ['Host', 'app.localhost', 'User-Agent', asked.userAgent ?? USER_AGENT]
    if (cookie !== undefined) rawHeaders.push('Cookie', cookie)
    rawHeaders.push(...headers)
    return tell(await guard.judge({ method, target, rawHeaders, peerAddress, isSecure: false }))
  }

  return {
    service,
    guard,
    warnings,
    ask,
    /** Time passes at the application's machine. */
    pass: (ms: number) => void (aheadMs += ms),
  }
}

/** An outcome in a few words. */
export interface Told {
  readonly kind: 'forward' | number
  readonly user?: string | undefined
  readonly reason?: string | undefined
  readonly location?: string | undefined
  readonly cookies: readonly string[]
  readonly body: string
}

function tell(outcome: Outcome): Told {
  if (outcome.kind === 'forward')
    return {
      kind: 'forward',
      user: outcome.identity?.claims.sub,
      cookies: outcome.privateCookies.map(nameOf),
      body: '',
    }
  const { status, headers, body } = outcome
  const valuesOf = (wanted: string) =>
    headers.filter(([name]) => name === wanted).map(([, value]) => value)
  const json = body.startsWith('{') ? (JSON.parse(body) as Record<string, string>) : {}
  return {
    kind: status,
    reason: json['reason'] ?? json['error'],
    location: valuesOf('Location')[0],
    cookies: valuesOf('Set-Cookie').map(nameOf),
    body,
  }
}

const nameOf = (cookie: string) => cookie.slice(0, cookie.indexOf('='))
