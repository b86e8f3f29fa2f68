/**
 * The one who knocks: single requests at addresses that tenants gave us. A deadline for the whole
 * of it, no redirect followed, no body kept, and no connection left open.
 */
import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns'
import { Agent, type Dispatcher } from 'undici'
import { LIMITS } from '../../shared/limits.ts'
import { PROBE_CARRIED_HEADER, PROBE_REPLY_HEADER } from '../../shared/probe.ts'

export type Answer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** undefined: no such header, which a mounted middleware always sends. */
      readonly reply: string | undefined
      readonly carried: string
      /** How far the other side's clock is ahead of ours; 0 where it does not say. */
      readonly clockAheadMs: number
    }
  | { readonly kind: 'unanswered'; readonly problem: Problem }

export type Problem = 'unresolved' | 'refused' | 'timeout' | 'tls' | 'broken'

export interface ProbeClient {
  get(url: string, headers: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void

export function createProbeClient({
  timeoutMs = LIMITS.probeTimeoutMs,
  nowMs,
}: {
  timeoutMs?: number
  nowMs: () => number
}): ProbeClient {
  const agent = new Agent({
    connect: { timeout: timeoutMs, lookup: lookupLocalhost },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    pipelining: 0,
  })

  return {
    async get(url, headers) {
      try {
        const answer = await agent.request({
          origin: new URL(url).origin,
          path: new URL(url).pathname,
          method: 'GET',
          headers: { 'user-agent': 'Service-Verify/1', accept: '*/*', ...headers },
          reset: true,
          signal: AbortSignal.timeout(timeoutMs),
        })
        const read = toAnswer(answer, nowMs())
        await answer.body.dump({ limit: LIMITS.probeBodyBytesMax }).catch(() => {})
        return read
      } catch (error) {
        return { kind: 'unanswered', problem: problemOf(error as NodeJS.ErrnoException) }
      }
    },
    close: () => agent.destroy(),
  }
}

/** `*.localhost` is this machine (RFC 6761, section 6.3), whatever a resolver makes of it. */
function lookupLocalhost(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  if (!/(?:^|\.)localhost\.?$/i.test(hostname)) return resolve(hostname, options, callback)
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  if (options.all === true) callback(null, addresses)
  else callback(null, '127.0.0.1', 4)
}

function toAnswer({ statusCode, headers }: Dispatcher.ResponseData, nowMs: number): Answer {
  const text = (name: string) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const dateMs = Date.parse(text('date') ?? '')
  return {
    kind: 'answered',
    status: statusCode,
    reply: text(PROBE_REPLY_HEADER),
    carried: text(PROBE_CARRIED_HEADER) ?? '',
    clockAheadMs: Number.isNaN(dateMs) ? 0 : dateMs - nowMs,
  }
}

function problemOf(error: NodeJS.ErrnoException): Problem {
  const code = error.code ?? ''
  if (/^(?:ENOTFOUND|EAI_|ENODATA)/.test(code)) return 'unresolved'
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return 'refused'
  if (/TIMEOUT|ETIMEDOUT/.test(code) || error.name === 'TimeoutError') return 'timeout'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/.test(code)) return 'tls'
  if (error instanceof AggregateError)
    return problemOf((error.errors[0] ?? {}) as NodeJS.ErrnoException)
  return 'broken'
}
