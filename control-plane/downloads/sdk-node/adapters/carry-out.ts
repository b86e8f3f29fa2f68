/**
 * What every adapter on Node does with an outcome. A guard that fails in spite of its promise is
 * an answer as well: nothing gets past it. What the application throws stays the application's.
 */
import {
  jsonAnswer,
  type Answer,
  type Forward,
  type Guard,
  type GuardedRequest,
  type Outcome,
} from '../guard.ts'
import { addToAnswer } from './private-answers.ts'
import { withholdSession, withholdToken, writeIdentity } from './identity-headers.ts'
import { watchAnswer } from './still-open.ts'
import { IncomingRequest, PASSED, type Incoming, type Outgoing } from './messages.ts'

const FAILED = jsonAnswer(
  503,
  {
    error: 'unavailable',
    detail: 'This request could not be checked right now. Try again shortly.',
  },
  ['Retry-After', '5'],
)

/** At once where the guard answers at once, and then on the caller's own stack. */
export function judge(
  guard: Guard,
  request: GuardedRequest,
  then: (outcome: Outcome) => void,
): void {
  const outcome = judgement(guard, request)
  if (!(outcome instanceof Promise)) return then(outcome)
  // a microtask of its own: what `then` throws is an uncaught error as ever, no rejection of ours
  void outcome.then((settled) => queueMicrotask(() => then(settled)))
}

/** Never throws, never rejects. */
export function judgement(guard: Guard, request: GuardedRequest): Outcome | Promise<Outcome> {
  try {
    const outcome = guard.judge(request)
    return outcome instanceof Promise ? outcome.catch(() => FAILED) : outcome
  } catch {
    return FAILED
  }
}

/**
 * Answers the request, or hands it to `onForward` as the application is to see it. A request that
 * has come through this guard already goes on: around a server and inside it, it is judged once.
 */
export function guardMessages(
  guard: Guard,
  { request, response, target }: { request: Incoming; response: Outgoing; target?: string },
  onForward: (outcome: Forward | undefined) => void,
  onAnswered?: () => void,
): void {
  if (request[PASSED] === guard) return onForward(undefined)
  judge(guard, new IncomingRequest(request, target), (outcome) => {
    if (response.destroyed) return onAnswered?.() // the client is gone: there is nobody to serve
    if (outcome.kind === 'forward') {
      admit(guard, request, outcome)
      addToAnswer(response, outcome)
      watchAnswer(guard, request, response, outcome)
      return onForward(outcome)
    }
    sendAnswer(request, response, outcome)
    onAnswered?.()
  })
}

/** From here on the request says who its user is, and nobody else does. */
export function admit(guard: Guard, request: Incoming, outcome: Forward): void {
  const { identity, isForeignPage, isTokenOurs = false } = outcome
  request[PASSED] = guard
  writeIdentity(request, identity)
  if (isTokenOurs) withholdToken(request)
  if (isForeignPage) withholdSession(request)
  request.serviceClaims = identity?.claims
}

export function sendAnswer(request: Incoming, response: Outgoing, answer: Answer): void {
  if (response.headersSent) return
  const { status, body } = answer
  for (const [name, value] of Object.entries(fieldsOf(answer))) response.setHeader(name, value)
  response.statusCode = status
  if (hasBody(status)) response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(request.method === 'HEAD' || !hasBody(status) ? undefined : body)
}

/** Repeated fields, Set-Cookie among them, as lists. */
export function fieldsOf({ headers }: Answer): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  for (const [name, value] of headers) {
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  return fields
}

export const hasBody = (status: number): boolean => status !== 204 && status !== 304
