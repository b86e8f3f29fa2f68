/** A request as it goes on to the application, with what has been read of its body. */
import type { ForwardPlan } from '../wire/exchange.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import type { UpstreamRequest } from '../wire/upstream-call.ts'

export function upstreamRequest(
  head: ParsedHead,
  plan: ForwardPlan,
  firstBody: string,
  isBodyWhole: boolean,
): UpstreamRequest {
  return {
    method: head.method,
    target: head.target,
    client: plan.client,
    lines: plan.requestLines + head.keptLines,
    bodyLength: head.bodyLength,
    hasLength: head.hasLength,
    firstBody,
    isBodyWhole,
    isRawChunked: true,
  }
}
