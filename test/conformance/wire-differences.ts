/**
 * THE list of what may differ between an edge and a middleware: the wire they speak, never what
 * they decide. Nothing else is left out of a comparison, and what stops being different fails.
 * WebSockets are of the wire too: each target opens them in a way of its own, with tests of its own
 * (test/gateway/upgrade, test/control-plane/downloads/sdk-node). What Next.js leaves of a request is
 * in next-proxy.ts.
 */
import { CLIENT_CLAIMS } from '../../shared/enforcement/foreign-headers.ts'
import type { Case, Cell, Outcome, Required } from './case.ts'

export type Side = 'request' | 'own answer' | 'application answer' | 'refusal of the wire'

const SIDES: readonly Side[] = [
  'request',
  'own answer',
  'application answer',
  'refusal of the wire',
]

/** Lines that are not compared, and why. */
const LINES: readonly {
  readonly sides: readonly Side[]
  readonly names: readonly string[]
  readonly why: string
}[] = [
  {
    sides: SIDES,
    names: ['connection', 'keep-alive', 'transfer-encoding', 'date', 'proxy-connection', 'te'],
    why: 'they belong to one connection, and behind an edge there is another one',
  },
  {
    sides: SIDES,
    names: ['x-request-id', 'traceparent', 'tracestate'],
    why: 'the edge names requests in its log; an application has its own way to do that',
  },
  {
    sides: ['request'],
    names: [
      'x-forwarded-for',
      'x-forwarded-proto',
      'x-forwarded-host',
      'x-forwarded-port',
      ...CLIENT_CLAIMS,
    ],
    why: 'where a request came from is said by the edge; inside, by the load balancer in front of the application, which is the application’s to believe',
  },
  {
    sides: ['own answer', 'application answer', 'refusal of the wire'],
    names: ['x-powered-by'],
    why: 'Express writes it into every answer before anybody is asked',
  },
  {
    sides: ['request'],
    names: ['content-length'],
    why: 'the edge writes a length in one spelling; a body itself is no part of a decision',
  },
  {
    sides: ['own answer', 'refusal of the wire'],
    names: ['content-length'],
    why: 'the body itself is compared',
  },
  {
    sides: ['refusal of the wire'],
    names: ['x-content-type-options'],
    why: 'the edge writes such an answer before it knows a tenant; the middleware as all its answers',
  },
  {
    sides: ['application answer'],
    names: ['content-length', 'content-type', 'etag', 'vary'],
    why: 'how frameworks answer `ok` is theirs',
  },
]

export function isOfTheWire(name: string, side: Side): boolean {
  return LINES.some(({ sides, names }) => sides.includes(side) && names.includes(name))
}

/** Both have the edge in front: by address, and by a connection that a connector has dialled. */
export const isEdge = (target: string) => target === 'gateway' || target === 'connector'

/** The one target that one kind of table cannot be asked of, and who stands in for it. */
export const NOT_BEHIND_A_BALANCER = {
  target: 'Next.js by proxy.ts',
  why: 'it is told no address, so neither whose word on X-Forwarded-For counts; its sessions are bound to the browser alone. Who needs the network puts service.node() around a server of their own, and node:http is a target',
}

/** Cells that some targets answer in another way, and what they have to answer then. */
export interface Difference {
  readonly why: string
  /** What is required instead of what the gateway did; undefined where nothing else is. */
  expected(target: string, edge: Cell, given: Case): Required | undefined
}

const targetOf = ({ ask }: Case) => ask.split(' ', 2)[1] ?? ''
const pathOf = (given: Case) => targetOf(given).split('?', 1)[0] ?? ''
/** Never forwarded, whatever else is said. */
const UNASKED = { outcome: 'refused_400', application: null } as const

export const DIFFERENCES: readonly Difference[] = [
  {
    why: 'Node’s own parser answers before anybody is asked: what it cannot read gets to nobody',
    expected: (target, _edge, { nodeAnswers }) =>
      isEdge(target) || nodeAnswers === undefined
        ? undefined
        : { outcome: outcomesOf(nodeAnswers), application: null },
  },
  {
    why: 'an application belongs to one tenant, whatever it is called: hosts are told apart in front of it',
    expected: (target, edge, { inside }) =>
      !isEdge(target) && edge.reason === 'host_unknown' ? inside : undefined,
  },
  {
    why: 'the edge writes such a target anew; a framework has it as it came, and find-my-way 8 routes http://host?x/admin to /admin',
    expected: (target, _edge, given) =>
      !isEdge(target) &&
      !target.startsWith('Next') &&
      /^https?:\/\/[^/?#]*\?/i.test(targetOf(given))
        ? UNASKED
        : undefined,
  },
  {
    why: 'Fastify refuses a path that decodeURIComponent cannot read before its first hook, whatever the edge says of it: nobody is let in by that',
    expected: (target, _edge, given) =>
      target.endsWith('Fastify') && !isForFastify(given) ? UNASKED : undefined,
  },
  {
    why: 'middie, which calls middlewares on Fastify, knows paths only: what is none is answered by Nest, which has no route for it either',
    expected: (target, _edge, given) =>
      target === 'Nest on Fastify' && !/^(?:\/|https?:)/i.test(targetOf(given))
        ? { outcome: 'refused_404', application: null }
        : undefined,
  },
  {
    why: 'the route for everything that Nest makes on Express decodes its parameter: the application refuses what it was given',
    expected: (target, edge, given) =>
      target === 'Nest on Express' && edge.application !== null && !canBeDecoded(pathOf(given))
        ? UNASKED
        : undefined,
  },
  {
    why: 'node-server refuses whatever it can make no URL of before Hono has the request',
    expected: (target, _edge, given) =>
      target === 'Hono' && !isForNodeServer(given) ? UNASKED : undefined,
  },
  {
    why: 'Hono’s URL has its dot segments resolved. It is decided on the line as it came, and no reading of that, this one included, was sealed',
    expected(target, edge, given) {
      const { application } = edge
      if (target !== 'Hono' || application === null) return undefined
      const asked = targetOf(given)
      const { pathname, search } = new URL(asked.replace(/^(?=\/)/, 'http://host.invalid'))
      const isAsItCame = pathname + search === application.target
      return isAsItCame
        ? undefined
        : { ...edge, application: { ...application, target: pathname + search } }
    },
  },
]

/** What is too long is not read to its end, so the answer to it may be lost with the connection. */
const outcomesOf = (status: number): readonly Outcome[] =>
  status === 431 ? ['refused_431', 'refused_0'] : [`refused_${status}`]

function isForFastify(given: Case): boolean {
  return canBeDecoded(pathOf(given)) && !targetOf(given).startsWith('http:///')
}

/** As `newRequest` of @hono/node-server looks at it. */
function isForNodeServer(given: Case): boolean {
  if (!/^(?:\/|https?:\/\/)/.test(targetOf(given)) || pathOf(given).includes('\\')) return false
  const host = /^Host:(.*)\r$/im.exec(given.ask)?.[1]?.trim() ?? ''
  if (host === '' || targetOf(given).startsWith('http')) return true
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return URL.canParse(`http://${host}/`) && new URL(`http://${host}/`).hostname === name
}

function canBeDecoded(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
