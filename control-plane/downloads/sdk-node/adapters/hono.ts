/** `app.use(service.hono())`, on @hono/node-server. */
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import type { Guard, GuardedRequest, Outcome } from '../guard.ts'
import { fieldsOf, hasBody, judgement, type Answer, type Forward } from './carry-out.ts'
import { withholdSession, writeIdentity, writeIdentityTo } from './identity-headers.ts'
import { IncomingRequest, PASSED, type Incoming, type Outgoing } from './messages.ts'
import { addToAnswer, addToResponse } from './private-answers.ts'

export interface HonoContext {
  readonly env: unknown
  readonly req: { readonly raw: Request }
  res: Response
  set(name: 'serviceClaims', claims: TokenClaims | undefined): void
}

type Next = () => Promise<void>

export function honoAdapter(guard: Guard) {
  return (c: HonoContext, next: Next): Promise<Response | void> => {
    const { incoming, outgoing } = (c.env ?? {}) as { incoming?: Incoming; outgoing?: Outgoing }
    if (incoming === undefined || outgoing === undefined) return guardRequest(guard, c, next)
    if (incoming[PASSED] === guard) return next()
    const carryOut = (outcome: Outcome): Promise<Response | void> => {
      if (outcome.kind === 'answer') return Promise.resolve(responseOf(outcome))
      incoming[PASSED] = guard
      return passOn(c, incoming, outgoing, outcome, next)
    }
    const outcome = judgement(guard, new IncomingRequest(incoming))
    return outcome instanceof Promise ? outcome.then(carryOut) : carryOut(outcome)
  }
}

function passOn(
  c: HonoContext,
  incoming: Incoming,
  outgoing: Outgoing,
  { target, identity, isForeignPage, privateCookies }: Forward,
  next: Next,
): Promise<void> {
  incoming.url = target
  writeIdentity(incoming, identity)
  if (isForeignPage) withholdSession(incoming)
  incoming.serviceClaims = identity?.claims
  c.set('serviceClaims', identity?.claims)
  Object.defineProperty(c.req.raw, 'headers', headersOf(incoming))
  addToAnswer(outgoing, { isPrivate: identity !== undefined, cookies: privateCookies })
  return next()
}

/**
 * Whoever asked for a header before us has made node-server keep a copy of the lines as they came.
 * So the request gets headers that are made of what is left, once somebody asks for them.
 */
function headersOf(incoming: Incoming): PropertyDescriptor {
  let headers: Headers | undefined
  return {
    configurable: true,
    enumerable: true,
    get() {
      if (headers !== undefined) return headers
      headers = new Headers()
      const { rawHeaders } = incoming
      for (let at = 0; at + 1 < rawHeaders.length; at += 2)
        if (!rawHeaders[at]!.startsWith(':')) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
      return headers
    },
  }
}

/** Without a server, as `app.request()` in a test: all that there is, is the standard's Request. */
async function guardRequest(guard: Guard, c: HonoContext, next: Next): Promise<Response | void> {
  const outcome = await judgement(guard, requestOf(c.req.raw))
  if (outcome.kind === 'answer') return responseOf(outcome)
  const { identity, isForeignPage, privateCookies } = outcome
  writeIdentityTo(c.req.raw.headers, identity, isForeignPage)
  c.set('serviceClaims', identity?.claims)
  await next()
  addToResponse(c.res.headers, { isPrivate: identity !== undefined, cookies: privateCookies })
}

/** What of a Request a guard can be told. */
export function requestOf({ method, url, headers }: Request): GuardedRequest {
  const { pathname, search, host, protocol } = new URL(url)
  const lines = [...headers].flat()
  return {
    method,
    target: pathname + search,
    rawHeaders: headers.has('host') ? lines : ['host', host, ...lines],
    peerAddress: '',
    isSecure: protocol === 'https:',
  }
}

export function responseOf(answer: Answer): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(fieldsOf(answer)))
    for (const one of [value].flat()) headers.append(name, one)
  const { status, body } = answer
  return new Response(body !== '' && hasBody(status) ? body : null, { status, headers })
}
