/** Tells a wrong method (405, with `Allow`) from an address that does not exist (404); people read of it on a page. */
import type { Hono } from 'hono'
import { Refusal } from '../../shared/errors.ts'
import { isNavigation } from '../../shared/enforcement/navigation.ts'
import { languageOf } from '../../shared/sign-in/language.ts'
import { answerRefusal } from './answers.ts'
import type { ApiContext, ApiEnv } from '../http/context.ts'
import { NOT_FOUND_HEADERS, notFoundPage } from '../pages/not-found.ts'

export function answerUnknown(app: Hono<ApiEnv>) {
  let table: readonly { readonly method: string; readonly path: RegExp }[] | undefined

  return (c: ApiContext): Response => {
    table ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => ({ method, path: compile(path) }))
    const here = table.filter(({ path }) => path.test(c.req.path)).map(({ method }) => method)
    const allowed = [...new Set(here)]
    if (allowed.length === 0)
      return isRead(c) ? nothingThere(c) : answerRefusal(c, new Refusal('not_found'))
    c.header('Allow', allowed.join(', '))
    return answerRefusal(c, new Refusal('method_not_allowed'))
  }
}

/** By a person, who opened it in a browser. */
const isRead = ({ req }: ApiContext) =>
  (req.method === 'GET' || req.method === 'HEAD') &&
  isNavigation({
    method: req.method,
    secFetchMode: req.header('sec-fetch-mode') ?? '',
    accept: req.header('accept') ?? '',
    requestedWith: req.header('x-requested-with') ?? '',
    isUpgrade: false,
  })

function nothingThere(c: ApiContext): Response {
  const language = languageOf(c.req.header('accept-language') ?? '')
  return c.body(notFoundPage(language), 404, {
    ...NOT_FOUND_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
  })
}

/** Our own patterns hold letters, dashes, dots, slashes and `:names`. */
function compile(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/:[^/]+/g, '[^/]+')}$`)
}
