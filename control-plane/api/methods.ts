/** Tells a wrong method (405, with `Allow`) from an address that does not exist (404). */
import type { Hono } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import { answerRefusal } from './answers.ts'
import type { ApiContext, ApiEnv } from '../http/context.ts'

export function answerUnknown(app: Hono<ApiEnv>) {
  let table: readonly { readonly method: string; readonly path: RegExp }[] | undefined

  return (c: ApiContext): Response => {
    table ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => ({ method, path: compile(path) }))
    const here = table.filter(({ path }) => path.test(c.req.path)).map(({ method }) => method)
    const allowed = [...new Set(here)]
    if (allowed.length === 0) return answerRefusal(c, new Refusal('not_found'))
    c.header('Allow', allowed.join(', '))
    return answerRefusal(c, new Refusal('method_not_allowed'))
  }
}

/** Our own patterns hold letters, dashes, dots, slashes and `:names`. */
function compile(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`)
}
