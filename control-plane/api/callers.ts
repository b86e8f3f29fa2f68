/** Who asks. Each endpoint names one of these; a caller that fails costs its address, not its key. */
import type { MiddlewareHandler } from 'hono'
import { Refusal, type ErrorCode } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import type { Clients } from '../feed/clients.ts'
import type { LiveKey } from '../keys/live-key.ts'
import { noteGood } from '../listener/known-credentials.ts'
import type { Tenant, Tenants } from '../tenants/tenants.ts'
import { addressRates } from '../http/address-rates.ts'
import { bearerOf, boundedSecret } from '../http/bearer.ts'
import { addressOf, countedAddressOf, type ApiContext, type ApiEnv } from '../http/context.ts'
import type { Caller } from './endpoint.ts'

/** Each makes the middleware of one endpoint; what is unlimited has no rate for who has the key. */
export type Callers = Readonly<Record<Caller, (isUnlimited: boolean) => MiddlewareHandler<ApiEnv>>>

interface CallersWorld {
  readonly operatorKey: LiveKey
  readonly tenants: Pick<Tenants, 'byAnalyzerKey'>
  readonly clients: Pick<Clients, 'byClientSecret'>
  readonly rates: RateLimits
}

export function createCallers({ operatorKey, tenants, clients, rates }: CallersWorld): Callers {
  const ofStrangers = addressRates(rates)

  function refuse(c: ApiContext, code: ErrorCode): never {
    ofStrangers.take('refused', addressOf(c), LIMITS.rateRefused)
    throw new Refusal(code)
  }

  async function tenantOf(c: ApiContext, key: string | undefined): Promise<Tenant> {
    const tenant = key === undefined ? undefined : await tenants.byAnalyzerKey(key)
    return tenant ?? refuse(c, 'analyzer_key_invalid')
  }

  function admit(
    c: ApiContext,
    tenant: Tenant,
    kind: 'analyzer' | 'client',
    again: () => Promise<Tenant>,
  ) {
    noteGood(c.env?.incoming)
    c.set('tenant', tenant)
    c.set('admitAgain', async () => c.set('tenant', await again()))
    c.set('actor', { name: `${kind}:${tenant.tenantId}`, requestId: c.get('requestId') })
  }

  const limitAnalyzer = (c: ApiContext, tenant: Tenant) =>
    rates.take('analyzer', `${tenant.tenantId} ${countedAddressOf(c)}`, LIMITS.rateAnalyzer)

  return {
    operator: (isUnlimited) => async (c, next) => {
      const key = bearerOf(c)
      const number = key === undefined ? undefined : operatorKey.find(key)
      if (number === undefined) return refuse(c, 'operator_key_invalid')
      c.set('admitAgain', async () => {
        if (!operatorKey.isLive(number)) refuse(c, 'operator_key_invalid')
      })
      if (!isUnlimited) rates.take('operator', countedAddressOf(c), LIMITS.rateOperator)
      c.set('actor', { name: 'operator', requestId: c.get('requestId') })
      await next()
    },
    analyzer: (isUnlimited) => async (c, next) => {
      const tenant = await tenantOf(c, bearerOf(c))
      if (!isUnlimited) limitAnalyzer(c, tenant)
      admit(c, tenant, 'analyzer', () => tenantOf(c, bearerOf(c)))
      await next()
    },
    /** `?api_key=`, for the few endpoints that a browser or `curl -O` fetches from. */
    analyzer_in_query: (isUnlimited) => async (c, next) => {
      const [key, ...others] = c.req.queries('api_key') ?? []
      const given = others.length === 0 ? boundedSecret(key) : undefined
      const tenant = await tenantOf(c, given)
      if (!isUnlimited) limitAnalyzer(c, tenant)
      admit(c, tenant, 'analyzer', () => tenantOf(c, given))
      await next()
    },
    client: (isUnlimited) => async (c, next) => {
      const given = basicOf(c)
      const client = async () =>
        (given && (await clients.byClientSecret(given.clientId, given.clientSecret))) ??
        refuse(c, 'client_credentials_invalid')
      const tenant = await client()
      if (!isUnlimited)
        rates.take('client', `${tenant.tenantId} ${countedAddressOf(c)}`, LIMITS.rateClient)
      admit(c, tenant, 'client', client)
      await next()
    },
    anyone: (isUnlimited) => async (c, next) => {
      if (!isUnlimited) ofStrangers.take('public', addressOf(c), LIMITS.ratePublic)
      await next()
    },
  }
}

/**
 * RFC 7617; our ids hold no colon, and neither they nor our secrets anything to be escaped. Base64
 * is taken in its one spelling: Node would read over what does not belong there.
 */
function basicOf(c: ApiContext): { clientId: string; clientSecret: string } | undefined {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const given = bytes.toString('utf8')
  const [, clientId, secret] = /^([^:]{1,100}):([\x21-\x7e]+)$/.exec(given) ?? []
  const clientSecret = boundedSecret(secret)
  return clientId === undefined || clientSecret === undefined
    ? undefined
    : { clientId, clientSecret }
}
