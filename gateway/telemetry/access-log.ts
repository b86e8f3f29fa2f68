/** One line per request: what was decided, why, and how it went. Never a query, cookie or token. */
import type { Logger } from 'pino'
import type { Exchange } from '../exchange.ts'
import type { ExchangeOutcome } from '../http1/server.ts'
import { RequestContext } from '../request.ts'

export function createAccessLog(log: Logger, nowMs: () => number) {
  return (exchange: Exchange, outcome: ExchangeOutcome): void => {
    const { head, context } = exchange
    const isKnown = context instanceof RequestContext
    log.info({
      kind: 'request',
      tenant: isKnown ? context.tenant.tenantId : undefined,
      request_id: isKnown ? context.requestId : undefined,
      method: head.method,
      host: head.host,
      path: isKnown ? context.path : head.target.split('?', 1)[0],
      decision: isKnown ? context.decision : 'refuse',
      reason: isKnown ? context.reason : undefined,
      status: outcome.status,
      bytes: outcome.bytes,
      ms: nowMs() - exchange.startedMs,
      client: isKnown ? context.clientAddress : exchange.peerAddress,
      ...(outcome.isCut ? { cut: true } : {}),
      ...(outcome.failure === null ? {} : { failure: outcome.failure.code }),
    })
  }
}
