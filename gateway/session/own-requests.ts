/** What the service's own addresses take. */
import { answerJson } from '../answers.ts'
import type { RequestContext } from '../request.ts'

export function refuseMethod(context: RequestContext, allow: string) {
  const body = { error: 'method_not_allowed', detail: `This address takes ${allow}.` }
  answerJson(context.exchange, 405, body, [`Allow: ${allow}`])
}

/** A parameter that is given twice is given by nobody (CVE-2026-9689). */
export function onlyParameter(query: string, name: string): string | undefined {
  const values = new URLSearchParams(query).getAll(name)
  return values.length === 1 ? values[0] : undefined
}

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}
