/** Who asks. Each endpoint names one of these; a caller that fails costs its address, not its key. */
import type { MiddlewareHandler } from 'hono'
import { Refusal, type ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import { isSameSecret } from '../keys/vault.ts'
import type { Tenant, Tenants } from '../tenants/tenants.ts'
import { addressOf, type ApiContext, type ApiEnv } from './api-env.ts'

export interface Callers {
  readonly operator: MiddlewareHandler<ApiEnv>
  /** `Authorization: Bearer <ANALYZER_KEY>`. */
  readonly analyzer: MiddlewareHandler<ApiEnv>
  /** The same without a rate: for what must never be refused. */
  readonly analyzerUnlimited: MiddlewareHandler<ApiEnv>
  /** `?api_key=`, for the few endpoints that a browser or `curl -O` fetches from. */
  readonly analyzerInQuery: MiddlewareHandler<ApiEnv>
  readonly anyone: MiddlewareHandler<ApiEnv>
}

export interface CallersWorld {
  readonly operatorKey: string
  readonly tenants: Pick<Tenants, 'byAnalyzerKey'>
  readonly rates: RateLimits
}

export function createCallers({ operatorKey, tenants, rates }: CallersWorld): Callers {
  function refuse(c: ApiContext, code: ErrorCode): never {
    rates.take('refused', addressOf(c), LIMITS.rateRefused)
    throw new Refusal(code)
  }

  async function tenantOf(c: ApiContext, key: string | undefined): Promise<Tenant> {
    const tenant = key === undefined ? undefined : await tenants.byAnalyzerKey(key)
    return tenant ?? refuse(c, 'analyzer_key_invalid')
  }

  function admit(c: ApiContext, tenant: Tenant) {
    c.set('tenant', tenant)
    const name = `analyzer:${tenant.tenantId}`
    c.set('actor', { name, requestId: c.get('requestId') })
  }

  const limitAnalyzer = (c: ApiContext, tenant: Tenant) =>
    rates.take('analyzer', `${tenant.tenantId} ${addressOf(c)}`, LIMITS.rateAnalyzer)

  return {
    async operator(c, next) {
      const key = bearerOf(c)
      if (key === undefined || !isSameSecret(key, operatorKey)) refuse(c, 'operator_key_invalid')
      rates.take('operator', addressOf(c), LIMITS.rateOperator)
      c.set('actor', { name: 'operator', requestId: c.get('requestId') })
      await next()
    },
    async analyzer(c, next) {
      const tenant = await tenantOf(c, bearerOf(c))
      limitAnalyzer(c, tenant)
      admit(c, tenant)
      await next()
    },
    async analyzerUnlimited(c, next) {
      admit(c, await tenantOf(c, bearerOf(c)))
      await next()
    },
    async analyzerInQuery(c, next) {
      const [key, ...others] = c.req.queries('api_key') ?? []
      const tenant = await tenantOf(c, others.length === 0 ? boundedSecret(key) : undefined)
      limitAnalyzer(c, tenant)
      admit(c, tenant)
      await next()
    },
    async anyone(c, next) {
      rates.take('public', addressOf(c), LIMITS.ratePublic)
      await next()
    },
  }
}

/**
 * The scheme in any case, exactly one token behind it. RFC 6750, section 2.1 allows fewer
 * characters, but an operator may set a key of any visible ones, and has to get in with it.
 */
function bearerOf(c: ApiContext): string | undefined {
  const match = /^Bearer ([\x21-\x7e]+)$/i.exec(c.req.header('authorization') ?? '')
  return boundedSecret(match?.[1])
}

function boundedSecret(secret: string | undefined): string | undefined {
  return secret !== undefined && secret.length <= LIMITS.secretCharactersMax ? secret : undefined
}
