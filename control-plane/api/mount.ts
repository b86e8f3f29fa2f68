/** The endpoints as routes: who may not call one is refused before anything of a body is read. */
import type { Hono, MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../http/context.ts'
import type { Callers } from './callers.ts'
import type { Declaration, Endpoint } from './endpoint.ts'
import { fewAtOnce } from './few-at-once.ts'

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
