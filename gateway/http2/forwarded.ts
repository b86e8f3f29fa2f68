/** What is said of a request's body to the application, and the head of the answer as it comes back. */
import { LIMITS } from '../../shared/limits.ts'
import type { ForwardPlan } from '../wire/exchange.ts'
import type { ParsedHead } from '../wire/parsed-head.ts'
import { responseLines } from '../wire/response-lines.ts'
import type { ResponseHead } from '../wire/response-head.ts'
import { appendLines } from './field-lists.ts'

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

/**
 * The stream has ended, and nothing was in it. RFC 9110 section 8.6: that is said where a method has
 * a body as a rule.
 */
export function noteEmptyBody(head: ParsedHead): void {
  head.bodyLength = 0
  head.hasLength ||= WITH_BODY.has(head.method)
}

/** Such a body is waited for, and costs the application nothing before it is whole. */
export const isSmall = ({ bodyLength }: ParsedHead): boolean =>
  bodyLength >= 0 && bodyLength <= LIMITS.smallBodyBytesMax
