/**
 * `export const proxy = service.next(NextResponse)` in `proxy.ts` on the Node runtime. Next.js has
 * read the request before this sees it, so a path is decided on as Next.js spells it; what reaches
 * a custom server first goes through `service.node()` as it stood on the wire.
 */
import type { Guard } from '../guard.ts'
import { judgement } from './carry-out.ts'
import { requestOf, responseOf } from './hono.ts'
import { writeIdentityTo } from './identity-headers.ts'
import { addToResponse } from './private-answers.ts'

export interface NextResponses<Answer> {
  next(init: { request: { headers: Headers } }): Answer
}

export function nextAdapter<Answer extends Response>(
  guard: Guard,
  responses: NextResponses<Answer>,
) {
  if (typeof responses?.next !== 'function')
    throw new TypeError("service-node: next(NextResponse) needs NextResponse from 'next/server'")
  return async (request: Request): Promise<Answer | Response> => {
    const outcome = await judgement(guard, requestOf(request))
    if (outcome.kind === 'answer') return responseOf(outcome)
    const headers = new Headers(request.headers)
    writeIdentityTo(headers, outcome)
    const response = responses.next({ request: { headers } })
    addToResponse(response.headers, outcome)
    return response
  }
}
