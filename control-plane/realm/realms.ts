/**
 * All realms behind one address. Each request reads its tenant's row, so a realm is always the one
 * of the newest revision, in every control plane; the cache only saves building it again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { countedAs, countedWidelyAs } from '../../shared/client-address.ts'
import { Refusal } from '../../shared/errors.ts'
import { REALMS_PREFIX } from '../../shared/issuer.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits, type Rate } from '../../shared/rate-limits.ts'
import { TENANT_ID } from '../../shared/fleet/snapshot.ts'
import { createFairSemaphore } from '../concurrency/fair-semaphore.ts'
import { addressRates } from '../http/address-rates.ts'
import { addressOf } from '../listener/client-address.ts'
import { isHangUp } from '../listener/hang-up.ts'
import { wasKnown } from '../listener/known-credentials.ts'
import { asStranger } from '../store/precedence.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import {
  answerMessage,
  placeOfTenant,
  setSecurityHeaders,
  type MessageKind,
  isUnavailable,
} from './answers.ts'
import {
  isForPeople,
  realmRouteOf,
  tooLongIn,
  wayOf,
  type Counted,
  type RealmRoute,
} from './routes.ts'
import { attemptCookieName } from './sign-in/attempt-cookie.ts'
import { personRate } from './sign-in/person-rate.ts'
import { createProvenAttempts } from './sign-in/proven-attempts.ts'
import type { RealmCounts, RealmWorld } from './world.ts'

/** With the provider, which is a fourth of all that is loaded; not everybody who has realms is asked. */
export const loadRealm = () => import('./realm.ts')

type RealmHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

interface CachedRealm {
  readonly revision: number
  /** Askers at the same time share one building. */
  readonly handler: Promise<RealmHandler>
}

const TARGET = /^\/auth\/realms\/([^/?#]*)(\/[^?#]*)?(\?.*)?$/
/** How often one address may do so, and one person come in. */
export type RealmRates = Readonly<Record<Counted | 'signInOfPerson', Rate>>

const RATES: RealmRates = {
  authorize: LIMITS.rateAuthorize,
  signIn: LIMITS.rateSignIn,
  device: LIMITS.rateDeviceProof,
  account: LIMITS.rateAccount,
  logout: LIMITS.rateLogout,
  signInOfPerson: LIMITS.rateSignInOfPerson,
}

export type Realms = ReturnType<typeof createRealms>

export function createRealms(world: RealmWorld, changedRates: Partial<RealmRates> = {}) {
  const rates = { ...RATES, ...changedRates }
  const { tenants, store, log, baseUrl } = world
  const isHttps = baseUrl.startsWith('https:')
  const rateLimits = addressRates(createRateLimits(world.clock))
  const counts: RealmCounts = {
    tokenLimits: createRateLimits(world.clock), // strangers push nobody else out of it
    personRate: personRate(rates.signInOfPerson),
  }
  const limits = {
    concurrency: LIMITS.strangersAtOnceMax,
    waitingMax: LIMITS.strangersWaitingMax,
    waitingPerTenantMax: LIMITS.strangersWaitingPerAddressMax,
  }
  const strangers = createFairSemaphore(limits)
  // with a session, or on the way back after a proof: no flood of strangers stands before them
  const known = createFairSemaphore(limits)
  const proven = createProvenAttempts(world.clock)
  const cache = new LRUCache<string, CachedRealm>({ max: LIMITS.realmsCachedMax })
  store.onCommit(({ tenantIds }) => tenantIds.forEach((tenantId) => cache.delete(tenantId)))
  store.onRestart(() => cache.clear())

  function handlerOf(tenant: Tenant): Promise<RealmHandler> {
    const { tenantId, revision } = tenant
    const known = cache.get(tenantId)
    if (known?.revision === revision) return known.handler
    const handler = buildHandler(world, tenant, counts)
    const entry = { revision, handler }
    cache.set(tenantId, entry)
    handler.catch(() => {
      if (cache.peek(tenantId) === entry) cache.delete(tenantId) // the next request tries again
    })
    return handler
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const [, tenantId = '', path = '/', query = ''] = TARGET.exec(request.url ?? '') ?? []
    const place = placeOfTenant(baseUrl, undefined)
    const route = realmRouteOf(request.method ?? '', path)
    if (route === undefined) {
      const kind = TENANT_ID.test(tenantId) ? 'not_found' : 'unknown'
      return answerMessage(request, response, kind, place, isForPeople(path))
    }
    const { counted, isForPeople: isPage = false } = route
    world.tracing.note('http.route', `${REALMS_PREFIX}:tenant${wayOf(route)}`)
    const address = addressOf(request)
    const waitSeconds = counted && rateLimits.waitSeconds(counted, address, rates[counted])
    if (waitSeconds !== undefined) {
      response.setHeader('Retry-After', String(waitSeconds))
      return answerMessage(request, response, 'too_many', place, isPage)
    }
    if (counted === 'signIn') proven.watch(request)
    const work = () => answerRoute(request, response, route, { tenantId, path, query })
    if (counted === undefined) return work()
    // whose session it proves is known further in
    if (counted === 'logout') return work()
    // a password has a queue of its own behind this; what is only asked for has this one, and what
    // comes as a form writes nothing and waits for its sender: it must not hold a turn meanwhile
    if (counted !== 'authorize' || request.method === 'POST') return asStranger(work)
    try {
      const uid = path.split('/')[2] // of who is on the way back
      const isProven = uid && proven.isShown(request, attemptCookieName(tenantId, uid, isHttps))
      const semaphore = wasKnown(request) || isProven ? known : strangers
      const [site, network] = [countedWidelyAs(address), countedAs(address)]
      await semaphore.take((leave) => asStranger(work, leave), site, network)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await answerMessage(request, response, 'unavailable', place, isPage)
    }
  }

  async function answerRoute(
    request: IncomingMessage,
    response: ServerResponse,
    { counted, isForPeople: isPage = false, holdsWhileSuspended = false }: RealmRoute,
    { tenantId, path, query }: { tenantId: string; path: string; query: string },
  ) {
    const tenant = TENANT_ID.test(tenantId) ? await tenants.find(tenantId) : undefined
    const refuse = (kind: MessageKind, details?: readonly string[]) =>
      answerMessage(request, response, kind, placeOfTenant(baseUrl, tenant), isPage, details)
    if (tenant === undefined || tenant.status === 'draft') return refuse('unknown')
    world.tracing.note('tenant_id', tenantId)
    if (tenant.status === 'suspended' && !holdsWhileSuspended) return refuse('suspended')
    const tooLong = counted === 'authorize' ? tooLongIn(query) : undefined
    if (tooLong !== undefined) return refuse('request_wrong', ['invalid_request', tooLong])
    try {
      const handler = await handlerOf(tenant)
      request.url = path + query
      await handler(request, response)
    } catch (error) {
      if (isHangUp(error, request)) return void response.destroy()
      log.error({ tenant_id: tenantId, error }, 'realm failed')
      if (!response.headersSent) await refuse(isUnavailable(error) ? 'unavailable' : 'internal')
      else response.destroy()
    }
  }

  return {
    /** Answers everything below `/auth/realms/`. */
    async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
      setSecurityHeaders(response, isHttps)
      try {
        await answer(request, response)
      } catch (error) {
        if (isHangUp(error, request)) return void response.destroy()
        log.error({ error }, 'realm failed')
        if (!response.headersSent && isUnavailable(error))
          return answerMessage(
            request,
            response,
            'unavailable',
            placeOfTenant(baseUrl, undefined),
            true,
          )
        if (!response.headersSent) response.writeHead(500)
        response.end()
      }
    },
    close: () => cache.clear(),
  }
}

async function buildHandler(
  world: RealmWorld,
  tenant: Tenant,
  counts: RealmCounts,
): Promise<RealmHandler> {
  const { createRealm } = await loadRealm()
  const { issuer, provider } = await createRealm(world, tenant, counts)
  const baseUrl = new URL(issuer).pathname // the provider finds its mount path under this name
  const callback = provider.callback()
  return async (request, response) => {
    await callback(Object.assign(request, { baseUrl }), response)
  }
}
