/** `app.register(service.fastify())`: a hook in front of every route of the server, 404s included. */
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import type { Guard } from '../guard.ts'
import { guardMessages } from './carry-out.ts'
import type { Incoming, Outgoing } from './messages.ts'

interface FastifyRequest {
  readonly raw: Incoming & { originalUrl?: string }
  serviceClaims?: TokenClaims | undefined
}

interface FastifyReply {
  readonly raw: Outgoing
  /** What is written to `raw` is the answer. */
  hijack(): unknown
}

type OnRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

interface FastifyInstance {
  decorateRequest(name: string, value: undefined): unknown
  hasRequestDecorator(name: string): boolean
  addHook(name: 'onRequest', hook: OnRequest): unknown
}

type FastifyPlugin = (instance: object, options: unknown, done: (error?: Error) => void) => void

export function fastifyAdapter(guard: Guard): FastifyPlugin {
  const onRequest: OnRequest = (request, reply, done) => {
    const { raw } = request
    const target = raw.originalUrl ?? raw.url ?? ''
    guardMessages(
      guard,
      { request: raw, response: reply.raw, target },
      (outcome) => {
        request.serviceClaims = raw.serviceClaims
        if (outcome !== undefined && outcome.target !== target) raw.url = outcome.target
        done()
      },
      () => reply.hijack(),
    )
  }

  const plugin: FastifyPlugin = (given, _options, done) => {
    const instance = given as FastifyInstance
    if (hasChildren(instance)) return done(new Error(TOO_LATE))
    if (!instance.hasRequestDecorator('serviceClaims'))
      instance.decorateRequest('serviceClaims', undefined)
    instance.addHook('onRequest', onRequest)
    done()
  }
  // what fastify-plugin does: the hook belongs to the server and not to a context of its own
  return Object.assign(plugin, {
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: 'service-node',
  })
}

const TOO_LATE =
  'service-node: register service.fastify() before every other plugin; routes registered earlier would not be protected'

/** Contexts that exist already have their own list of hooks, which a later hook is not added to. */
function hasChildren(instance: object): boolean {
  for (let at: object | null = instance; at !== null; at = Object.getPrototypeOf(at) as object) {
    const symbol = Object.getOwnPropertySymbols(at).find(
      ({ description }) => description === 'fastify.children',
    )
    if (symbol === undefined) continue
    const children: unknown = (at as Record<symbol, unknown>)[symbol]
    return !Array.isArray(children) || children.length > 0
  }
  throw new Error(
    'service-node: this Fastify version is not supported; wrap its handler in service.node() instead',
  )
}
