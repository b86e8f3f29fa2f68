/** How the gateway gives an answer of its own. */
import type { Answer } from '../../shared/sign-in/answer.ts'
import type { Exchange } from '../wire/exchange.ts'

/** Every answer names its request, so that a person who quotes it can be helped. */
export function respond(exchange: Exchange, { status, headerLines, body }: Answer) {
  const requestId = (exchange.context as { readonly requestId?: string } | undefined)?.requestId
  const idLines = requestId === undefined ? [] : [`X-Request-Id: ${requestId}`]
  exchange.respond({ status, headerLines: [...headerLines, ...idLines], body })
}
