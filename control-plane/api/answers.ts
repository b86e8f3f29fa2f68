/** How every API answer ends: request id, no caching, and one shape of error; people read of it on a page. */
import { randomUUID } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import type { Logger } from 'pino'
import { Refusal } from '../../shared/errors.ts'
import { describeError } from '../../shared/log.ts'
import { REFUSAL_PAGE_HEADERS, refusalPageFor } from '../pages/refusal-page.ts'
import { isHangUp } from '../listener/hang-up.ts'
import type { ApiContext, ApiEnv } from '../http/context.ts'

/** The server has given its answer an id already; what is called without a server gets one here. */
export const requestIds: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const given = c.env?.outgoing?.getHeader('x-request-id')
  const requestId = typeof given === 'string' ? given : randomUUID()
  c.set('requestId', requestId)
  c.header('X-Request-Id', requestId)
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Cache-Control', 'no-store')
  await next()
}

/** The one place where an error becomes an answer. What went wrong inside stays in the log. */
export function answerError(log: Logger) {
  return (error: Error, c: ApiContext): Response => {
    if (error instanceof Refusal) return answerRefusal(c, error)
    const requestId = c.get('requestId')
    if (!isHangUp(error, c.env?.incoming))
      log.error(
        { error: describeError(error), request_id: requestId, path: c.req.path },
        'request failed',
      )
    return answerRefusal(c, new Refusal('internal'))
  }
}

export function answerRefusal(c: ApiContext, refusal: Refusal): Response {
  const { retry_after: retryAfter } = refusal.fields
  const headers: Record<string, string> = {}
  if (typeof retryAfter === 'number') headers['Retry-After'] = String(retryAfter)
  if (refusal.status === 401) headers['WWW-Authenticate'] = challengeOf(refusal)
  const status = refusal.status as 400
  const page =
    isRead(c) && refusalPageFor(refusal, c.req.method, (name) => c.req.header(name) ?? '')
  return page === false || page === undefined
    ? c.json(refusal.body(), status, headers)
    : c.body(page, status, { ...headers, ...REFUSAL_PAGE_HEADERS })
}

/** What is posted to the API comes from programs. */
const isRead = ({ req: { method } }: ApiContext) => method === 'GET' || method === 'HEAD'

function challengeOf({ code }: Refusal): string {
  return code === 'client_credentials_invalid' ? 'Basic realm="service", charset="UTF-8"' : 'Bearer'
}
