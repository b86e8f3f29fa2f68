/** Answers that we write ourselves, on a stream. */
import type { OwnAnswer } from '../wire/exchange.ts'
import { isSafe, plainAnswer } from '../wire/answer.ts'
import { REFUSALS } from '../wire/refusals.ts'
import { STRICT_TRANSPORT_LINE } from '../wire/response-lines.ts'
import { appendLines } from './field-lists.ts'
import type { ServerStream } from './protocol/stream.ts'

/** Returns the status that the client is sent, which is not the asked one where that was unsafe. */
export function sendAnswer(stream: ServerStream, asked: OwnAnswer, dateLine: string): number {
  const { status, headerLines, body } = isSafe(asked) ? asked : plainAnswer(REFUSALS.internal)
  const fields = [':status', String(status)]
  const own = headerLines.length === 0 ? '' : `${headerLines.join('\r\n')}\r\n`
  appendLines(fields, own + dateLine + STRICT_TRANSPORT_LINE)
  const hasBody = status !== 204 && status !== 304
  if (hasBody) fields.push('content-length', String(Buffer.byteLength(body)))
  const isWhole = !hasBody || body === ''
  stream.respond(fields, isWhole)
  if (!isWhole) stream.end(Buffer.from(body), null)
  return status
}
