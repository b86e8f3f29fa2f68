/**
 * The one who knocks: single requests at addresses that tenants gave us. A deadline for the whole
 * of it, no redirect followed, no body kept, and no connection left open.
 */
import { Agent, type Dispatcher } from 'undici'
import { SECOND_MS } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { PROBE_CARRIED_HEADER, PROBE_REPLY_HEADER } from '../../shared/probe.ts'
import { createEdgeLookup } from '../outbound/edge-lookup.ts'

export type Answer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** undefined: no such header, which a mounted middleware always sends. */
      readonly reply: string | undefined
      readonly carried: string
      /** How far the other side's clock is ahead of ours; undefined where it does not say. */
      readonly clockAheadMs: number | undefined
    }
  | { readonly kind: 'unanswered'; readonly problem: Problem }

/** As they complete «https://app.example.com/health: …». */
export const PROBLEMS = {
  unresolved: 'the name does not resolve',
  refused: 'the connection was refused',
  unreachable: 'no connection could be made',
  timeout: 'there was no response in time',
  tls: 'the TLS certificate is not accepted',
  broken: 'the response is not valid HTTP, or incomplete',
} as const
export type Problem = keyof typeof PROBLEMS

export interface ProbeClient {
  get(url: string, headers: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

/** Of the deadline, so that who is not there is told from who stays silent. */
const CONNECT_SHARE = 0.6

export function createProbeClient({
  timeoutMs = LIMITS.probeTimeoutMs,
  nowMs,
}: {
  timeoutMs?: number
  nowMs: () => number
}): ProbeClient {
  const agent = new Agent({
    connect: { timeout: timeoutMs * CONNECT_SHARE, lookup: createEdgeLookup() },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    pipelining: 0,
  })

  return {
    async get(url, headers) {
      const askedMs = nowMs()
      try {
        const answer = await agent.request({
          origin: new URL(url).origin,
          path: new URL(url).pathname,
          method: 'GET',
          headers: { 'user-agent': 'Service-Verify/1', accept: '*/*', ...headers },
          reset: true,
          signal: AbortSignal.timeout(timeoutMs),
        })
        const read = toAnswer(answer, askedMs, nowMs())
        await answer.body.dump({ limit: LIMITS.probeBodyBytesMax }).catch(() => {})
        return read
      } catch (error) {
        return { kind: 'unanswered', problem: problemOf(error as NodeJS.ErrnoException) }
      }
    },
    close: () => agent.destroy(),
  }
}

function toAnswer(
  { statusCode, headers }: Dispatcher.ResponseData,
  askedMs: number,
  answeredMs: number,
): Answer {
  const text = (name: string) => {
    const value = headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  // Date leaves out the milliseconds, and was written somewhere between the question and the answer
  const dateMs = Date.parse(text('date') ?? '') + SECOND_MS / 2
  const aheadMs = dateMs - (askedMs + answeredMs) / 2
  return {
    kind: 'answered',
    status: statusCode,
    reply: text(PROBE_REPLY_HEADER),
    carried: text(PROBE_CARRIED_HEADER) ?? '',
    clockAheadMs: Number.isNaN(aheadMs) ? undefined : aheadMs,
  }
}

export function problemOf(error: NodeJS.ErrnoException): Problem {
  const code = error.code ?? ''
  if (/^(?:ENOTFOUND|EAI_|ENODATA)/.test(code)) return 'unresolved'
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return 'refused'
  if (/^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(code)) return 'unreachable'
  if (/TIMEOUT/.test(code) || error.name === 'TimeoutError') return 'timeout'
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_/.test(code)) return 'tls'
  if (error instanceof AggregateError)
    return problemOf((error.errors[0] ?? {}) as NodeJS.ErrnoException)
  return 'broken'
}
