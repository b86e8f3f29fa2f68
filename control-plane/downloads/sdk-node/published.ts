/** What TypeScript is told of the package `service-node`: this file, as it stands, is its `index.d.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface VerifyClaimsOptions {
  /** Where the service is, as browsers reach it. Default: `SERVICE_BASE_URL`. */
  readonly baseUrl?: string
  /** Default: `SERVICE_TENANT_ID`. */
  readonly tenantId?: string
  /**
   * One or several PEM public keys. Default: `SERVICE_PUBLIC_KEY_FILE`, else `service_public.pem`
   * where the application was started, if there is one.
   */
  readonly publicKeyFile?: string
  /** Default: the tenant's own address at the service; `false`: the file alone. */
  readonly publicKeyUrl?: string | false
  /**
   * What becomes of requests without claims while the service itself says that the tenant is not
   * live. Default: they pass, and nobody is named. `refuse`: they are refused, then as ever.
   */
  readonly beforeLive?: 'pass' | 'refuse'
  /** Path prefixes that are served without claims: health checks of a load balancer bring none. */
  readonly excluded?: readonly string[]
  /** Is told what goes wrong behind the scenes. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof globalThis.fetch
  /** What time it is, and how long things take: both go by it. */
  readonly nowMs?: () => number
}

export interface EnforceOptions {
  /** Where the service is, as browsers reach it. Default: `SERVICE_BASE_URL`. */
  readonly baseUrl?: string
  /** Default: `SERVICE_TENANT_ID`. */
  readonly tenantId?: string
  /** Default: `SERVICE_CLIENT_SECRET`. Without any, every request is answered 503. */
  readonly clientSecret?: string
  /** While the secret is rotated, the other one. Default: `SERVICE_CLIENT_SECRET_PREVIOUS`. */
  readonly previousClientSecret?: string
  /** How the console names this process. Default: host name and process id. */
  readonly instance?: string
  /**
   * Load balancers whose X-Forwarded-For is believed: addresses, networks, `unix:` for a unix socket,
   * `unknown` for whoever stands in front of `proxy.ts`. Default: `SERVICE_TRUSTED_PROXIES`.
   */
  readonly trustedProxies?: readonly string[]
  /** Default: a day, then refuse. */
  readonly outage?: {
    /** How long the last state that was heard is gone by while the service cannot be reached. */
    readonly limitSeconds?: number
    /** Behind that: refuse whoever needs a session, or go on with the last state. */
    readonly then?: 'refuse' | 'keep'
  }
  /** Is told what goes wrong behind the scenes. Default: a warning of the process. */
  readonly onWarning?: (message: string) => void
  readonly fetch?: typeof globalThis.fetch
  /** What time it is, and how long things take: both go by it. */
  readonly nowMs?: () => number
}

/** What a session says about its user, verified. */
export interface Claims {
  /** The user's id at the service. */
  readonly sub: string
  /** The id of the session. */
  readonly sid: string
  /** Epoch seconds: issued, expires, not valid before, signed in. */
  readonly iat: number
  readonly exp: number
  readonly nbf: number
  readonly authTime: number
  readonly acr: string
  /** How the user has signed in: `pwd`, `otp`, … */
  readonly amr: readonly string[]
  readonly email: string
  readonly name: string
}

/** On Express, Fastify and `node:http` requests: undefined where a path needs no session. */
export interface Guarded {
  serviceClaims?: Claims | undefined
}

export interface Service {
  /** Settles once anybody can be let in: keys and rules are there. */
  ready(): Promise<void>
  /** Ends what runs in the background. */
  close(): Promise<void>

  /** `createServer(service.node(listener))`; also for `checkContinue`, and around any framework. */
  node(
    listener: (request: IncomingMessage & Guarded, response: ServerResponse) => unknown,
  ): (request: IncomingMessage, response: ServerResponse) => void

  /** `server.on('upgrade', service.upgrade(listener))`: else WebSockets go past the guard. */
  upgrade(
    listener: (request: IncomingMessage & Guarded, socket: Duplex, head: Buffer) => unknown,
  ): (request: IncomingMessage, socket: Duplex, head: Buffer) => void

  /** `app.use(service.express())`, before everything else. Claims: `request.serviceClaims`. */
  express(): NodeMiddleware

  /** `app.use(service.nest())` in `main.ts`, on Express and on Fastify. */
  nest(): NodeMiddleware

  /** `app.use(service.koa())`. Claims: `ctx.state.serviceClaims`. */
  koa(): (context: object, next: () => Promise<unknown>) => Promise<unknown>

  /** `await app.register(service.fastify())`, before every other plugin. */
  fastify(): (instance: object, options: unknown, done: (error?: Error) => void) => void

  /** `app.use(service.hono())` on @hono/node-server. Claims: `c.get('serviceClaims')`. */
  hono(): (context: object, next: () => Promise<void>) => Promise<Response | void>

  /** `export const proxy = service.next(NextResponse)` in `proxy.ts`, on the Node.js runtime. */
  next<Answer extends Response>(responses: {
    next(init: { request: { headers: Headers } }): Answer
  }): (request: Request) => Promise<Answer | Response>
}

/** `new Hono<{ Variables: ServiceVariables }>()` */
export interface ServiceVariables {
  serviceClaims: Claims | undefined
}

export type NodeMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void

declare global {
  namespace Express {
    interface Request {
      serviceClaims?: Claims | undefined
    }
  }
}

/** The version of this package, which is that of the service it came from. */
export declare const version: string

/**
 * For applications behind the service's edge (gateway and connector mode). Every request has to
 * carry `X-Service-Claims`, signed with the tenant's key; all others are refused, once the tenant
 * is live. Answers the platform's probes.
 */
export declare function verifyClaims(options?: VerifyClaimsOptions): Service

/**
 * For applications without an edge in front (sdk mode): sign-in, sessions, sealed and excluded
 * paths, revocation, enforced here as the edge would.
 */
export declare function enforce(options?: EnforceOptions): Service
