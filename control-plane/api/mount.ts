/** The endpoints as routes: who may not call one is refused before anything of a body is read. */
import type { Hono, MiddlewareHandler } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import type { ApiEnv } from '../http/context.ts'
import type { Callers } from './callers.ts'
import type { Declaration, Endpoint } from './endpoint.ts'

export function mount(app: Hono<ApiEnv>, endpoints: readonly Endpoint[], callers: Callers) {
  for (const { declaration, handle } of endpoints) {
    const path = declaration.path.replaceAll(/\{([^}]+)\}/g, ':$1')
    const few = fewAtOnce(declaration.atOncePerTenantMax)
    app.on(declaration.method, path, admit(callers, declaration), few, handle)
  }
}

function admit(callers: Callers, { caller, isUnlimited }: Declaration): MiddlewareHandler<ApiEnv> {
  return callers[caller](isUnlimited === true)
}

const RETRY_AFTER_SECONDS = 10

/**
 * For calls that hold much or take long: a tenant has so many of them under way, and no more. In
 * front of the handler, and so before anything of a body is read.
 */
function fewAtOnce(max = Infinity): MiddlewareHandler<ApiEnv> {
  if (max === Infinity) return (_c, next) => next()
  const underWay = new Map<string, number>()
  return async (c, next) => {
    const { tenantId } = c.get('tenant')
    const count = underWay.get(tenantId) ?? 0
    if (count >= max)
      throw new Refusal(
        'rate_limited',
        { retry_after: RETRY_AFTER_SECONDS },
        `Only ${max} of these can run at once. Wait for one to finish.`,
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
