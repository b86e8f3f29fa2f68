/** Answers that we write ourselves, as text of one write. */
import { STATUS_CODES } from 'node:http'
import type { WallClock } from '../../shared/clock.ts'
import type { OwnAnswer } from './exchange.ts'
import type { Refusal } from './refusals.ts'

/** `Date: …` with CRLF, made once a second. */
export function createDateLine(clock: WallClock): () => string {
  let second = -1
  let line = ''
  return () => {
    const nowMs = clock.nowMs()
    const now = Math.floor(nowMs / 1000)
    if (now !== second) {
      second = now
      line = `Date: ${new Date(nowMs).toUTCString()}\r\n`
    }
    return line
  }
}

const FIELD_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/

/** A value that came from outside must never end a line of ours (CVE-2022-31150). */
export const isSafe = (answer: OwnAnswer): boolean =>
  answer.headerLines.every((line) => FIELD_LINE.test(line))

/** To be written as UTF-8. `connectionLine` is '' or ends in CRLF. */
export function answerText(
  answer: OwnAnswer,
  method: string,
  dateLine: string,
  connectionLine: string,
): string {
  const { status, headerLines, body } = answer
  const lines = headerLines.length === 0 ? '' : `${headerLines.join('\r\n')}\r\n`
  const start = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}${dateLine}`
  if (status === 204 || status === 304) return `${start}${connectionLine}\r\n`
  const head = `${start}Content-Length: ${Buffer.byteLength(body)}\r\n${connectionLine}\r\n`
  return method === 'HEAD' ? head : head + body
}

/** What a refusal looks like where nobody asked for another look. */
export function plainAnswer(
  refusal: Pick<Refusal, 'status' | 'code' | 'detail'>,
  headerLines: readonly string[] = [],
): OwnAnswer {
  return {
    status: refusal.status,
    headerLines: [...headerLines, 'Content-Type: application/json', 'Cache-Control: no-store'],
    body: JSON.stringify({ error: refusal.code, detail: refusal.detail }) + '\n',
  }
}

/** `lines` has a CRLF behind each. */
export const withLines = (answer: OwnAnswer, lines: string): OwnAnswer => ({
  ...answer,
  headerLines: [...answer.headerLines, ...lines.split('\r\n').slice(0, -1)],
})
