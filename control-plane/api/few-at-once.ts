/** For calls that hold much or take long: a tenant has so many of them under way, and no more. */
import type { MiddlewareHandler } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import type { ApiEnv } from '../http/context.ts'

const RETRY_AFTER_SECONDS = 10

/** In front of the handler, and so before anything of a body is read. */
export function fewAtOnce(max = Infinity): MiddlewareHandler<ApiEnv> {
  if (max === Infinity) return (_c, next) => next()
  const underWay = new Map<string, number>()
  return async (c, next) => {
    const { tenantId } = c.get('tenant')
    const count = underWay.get(tenantId) ?? 0
    if (count >= max)
      throw new Refusal(
        'rate_limited',
        { retry_after: RETRY_AFTER_SECONDS },
        `No more than ${max} of these at once: wait for one to end.`,
      )
    underWay.set(tenantId, count + 1)
    try {
      await next()
    } finally {
      const left = (underWay.get(tenantId) ?? 1) - 1
      if (left === 0) underWay.delete(tenantId)
      else underWay.set(tenantId, left)
    }
  }
}
