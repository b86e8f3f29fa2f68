/** A request as it goes on to the application, and the head of the answer as it comes back. */
import { LIMITS } from '../../shared/limits.ts'
import type { ForwardPlan } from '../wire/exchange.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import { responseLines } from '../wire/response-lines.ts'
import type { UpstreamRequest } from '../wire/upstream-call.ts'
import type { ResponseHead } from '../wire/response-head.ts'
import { appendLines } from './field-lists.ts'

export function upstreamRequest(
  head: ParsedHead,
  plan: ForwardPlan,
  firstBody: string,
  isBodyWhole: boolean,
): UpstreamRequest {
  const { method, target, keptLines, bodyLength, hasLength } = head
  const isEmpty = isBodyWhole && firstBody === ''
  return {
    method,
    target,
    client: plan.client,
    lines: plan.requestLines + keptLines,
    bodyLength: isEmpty ? 0 : bodyLength,
    // RFC 9110 section 8.6: said where a method has a body as a rule, even if it is empty.
    hasLength: hasLength || (isEmpty && WITH_BODY.has(method)),
    firstBody,
    isBodyWhole,
    isRawChunked: false,
  }
}

export function answerFields(
  response: ResponseHead,
  plan: ForwardPlan,
  dateLine: () => string,
): string[] {
  const fields = [':status', String(response.status)]
  appendLines(fields, responseLines(response, plan, true, dateLine))
  if (response.contentLength >= 0) fields.push('content-length', String(response.contentLength))
  return fields
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** Such a body is waited for, and costs the application nothing before it is whole. */
export const isSmall = ({ bodyLength }: ParsedHead): boolean =>
  bodyLength >= 0 && bodyLength <= LIMITS.smallBodyBytesMax
