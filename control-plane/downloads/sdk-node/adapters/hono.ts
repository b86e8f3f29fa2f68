/** `app.use(service.hono())`, on @hono/node-server. */
import { UNKNOWN_PEER } from '../../../../shared/client-address.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import type { Guard, GuardedRequest, Outcome, Answer, Forward } from '../guard.ts'
import { admit, fieldsOf, hasBody, judgement } from './carry-out.ts'
import { writeIdentityTo } from './identity-headers.ts'
import { IncomingRequest, PASSED, type Incoming, type Outgoing } from './messages.ts'
import { watchAnswer, watchBody, watchSocket } from './still-open.ts'
import { addToAnswer, addToResponse } from './private-answers.ts'

interface HonoContext {
  readonly env: unknown
  readonly req: { raw: Request }
  res: Response
  set(name: 'serviceClaims', claims: TokenClaims | undefined): void
}

type Next = () => Promise<void>

export function honoAdapter(guard: Guard) {
  return (context: object, next: Next): Promise<Response | void> => {
    const c = context as HonoContext
    const { incoming, outgoing } = messagesOf(c.env)
    if (incoming === undefined) return guardRequest(guard, c, next)
    if (incoming[PASSED] === guard) return next()
    const carryOut = (outcome: Outcome): Promise<Response | void> => {
      if (outcome.kind === 'answer') return Promise.resolve(responseOf(outcome))
      if (outgoing === undefined) watchSocket(guard, incoming.socket, outcome)
      else watchAnswer(guard, incoming, outgoing, outcome)
      admit(guard, incoming, outcome)
      incoming.url = outcome.target
      c.set('serviceClaims', outcome.identity?.claims)
      cleanNative(c.req.raw, outcome)
      if (outgoing !== undefined) addToAnswer(outgoing, outcome)
      return next()
    }
    const outcome = judgement(guard, new IncomingRequest(incoming))
    return outcome instanceof Promise ? outcome.then(carryOut) : carryOut(outcome)
  }
}

interface Messages {
  readonly incoming?: Incoming
  /** There is none for an upgrade, by a listener of node-server's or node-ws' own: only the socket. */
  readonly outgoing?: Outgoing
}

/** Other runtimes, and tests of an application, have other things by these names. */
function messagesOf(env: unknown): Messages {
  const messages = (env ?? {}) as Messages
  return Array.isArray(messages.incoming?.rawHeaders) ? messages : {}
}

/**
 * What node-server hands out only looks like a Request. The real one, with headers of its own, is
 * made when somebody first needs it, and that may have been before us: a limit on bodies, a logger.
 * What exists is cleaned where it is kept; the rest is made later, of lines that are clean by then.
 */
function cleanNative(raw: Request, outcome: Forward): void {
  if (isNative(raw)) return writeIdentityTo(raw.headers, outcome)
  let isKnown = false
  for (const symbol of Object.getOwnPropertySymbols(raw)) {
    const kept = (raw as unknown as Record<symbol, unknown>)[symbol]
    if (symbol.description === 'incomingKey') isKnown = true
    else if (kept instanceof Headers) writeIdentityTo(kept, outcome)
    else if (isNative(kept)) writeIdentityTo(kept.headers, outcome)
  }
  if (!isKnown) throw new Error(UNKNOWN_SERVER)
}

const UNKNOWN_SERVER =
  'service-node: this @hono/node-server version is not supported; wrap its handler in service.node() instead'

/** Also of a class of its own: node-server has one between it and the standard's. */
const isNative = (value: unknown): value is Request =>
  value instanceof Request && !Object.getOwnPropertySymbols(value).some(isOfNodeServer)
const isOfNodeServer = ({ description }: symbol) => description === 'incomingKey'

/** Without a message of Node's, as `app.request()` in a test: there is the standard's Request. */
async function guardRequest(guard: Guard, c: HonoContext, next: Next): Promise<Response | void> {
  const outcome = await judgement(guard, requestOf(c.req.raw))
  if (outcome.kind === 'answer') return responseOf(outcome)
  cleanStandard(c, outcome)
  c.set('serviceClaims', outcome.identity?.claims)
  const { release, until } = watchBody(guard, outcome)
  await next().finally(() => c.res.body ?? release())
  if (c.res.body !== null) c.res = new Response(until(c.res.body), c.res)
  addToResponse(c.res.headers, outcome)
}

function cleanStandard(c: HonoContext, outcome: Forward) {
  const { raw } = c.req
  try {
    writeIdentityTo(raw.headers, outcome)
  } catch {
    // in some runtimes nobody may change what came in: then the request is another one
    const headers = new Headers(raw.headers)
    writeIdentityTo(headers, outcome)
    const { method, url, bodyUsed } = raw
    c.req.raw = bodyUsed ? new Request(url, { method, headers }) : new Request(raw, { headers })
  }
}

/** What of a Request a guard can be told. */
export function requestOf({ method, url, headers }: Request): GuardedRequest {
  const { pathname, search, host, protocol } = new URL(url)
  const lines = [...headers].flat()
  return {
    method,
    target: pathname + search,
    rawHeaders: headers.has('host') ? lines : ['host', host, ...lines],
    peerAddress: UNKNOWN_PEER,
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
