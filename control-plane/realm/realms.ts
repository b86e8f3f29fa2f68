/**
 * All realms behind one address. Each request reads its tenant's row, so a realm is always the one
 * of the newest revision, in every control plane; the cache only saves building it again.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { countedAs } from '../../shared/client-address.ts'
import { LIMITS } from '../../shared/limits.ts'
import { createRateLimits, type Rate, type RateLimits } from '../../shared/rate-limits.ts'
import { TENANT_ID } from '../../shared/snapshot.ts'
import { addressOf } from '../listener/client-address.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { answerMessage, placeOfTenant, setSecurityHeaders, type MessageKind } from './answers.ts'
import { createRealm } from './realm.ts'
import type { RealmWorld } from './world.ts'

export type RealmHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

interface CachedRealm {
  readonly revision: number
  /** Askers at the same time share one building. */
  readonly handler: Promise<RealmHandler>
}

export interface Realms {
  /** Answers everything below `/auth/realms/`. */
  handle: RealmHandler
  /** The tenant has changed: its realm is built anew for the next request. */
  invalidate(tenantId: string): void
  /** How many realms are built at the moment. */
  readonly cachedCount: number
  close(): void
}

const TARGET = /^\/auth\/realms\/([^/?#]*)(\/[^?#]*)?(\?.*)?$/
/** What people see; everything else is asked by programs. */
const PEOPLE_PATH = /^\/(?:authorize|sign-in|logout|account)(?:\/|$)/
/** What stays true of a suspended tenant: its keys, its looks, and that people may sign out. */
const SUSPENDED_PATH = /^\/(?:\.well-known\/[a-z-]+|jwks|logo|logout(?:\/confirm)?)$/

/**
 * What anybody can make us write without a password, each write a commit of its own in the queue
 * that revocations wait in: requests for a sign-in, and answers to its page.
 */
const COUNTED_PATHS = [
  { name: 'authorize', methods: ['GET', 'HEAD', 'POST'], path: /^\/authorize(?:\/|$)/ },
  { name: 'signIn', methods: ['POST'], path: /^\/sign-in\// },
  { name: 'account', methods: ['POST'], path: /^\/account\// },
] as const

/** How often one address may do so. */
export type RealmRates = Readonly<Record<(typeof COUNTED_PATHS)[number]['name'], Rate>>

const RATES: RealmRates = {
  authorize: LIMITS.rateAuthorize,
  signIn: LIMITS.rateSignIn,
  account: LIMITS.rateAccount,
}

export function createRealms(world: RealmWorld, rates: RealmRates = RATES): Realms {
  const { tenants, store, log, baseUrl } = world
  const isHttps = baseUrl.startsWith('https:')
  const rateLimits = createRateLimits(world.clock)
  const tokenLimits = createRateLimits(world.clock) // strangers push nobody else out of it
  const cache = new LRUCache<string, CachedRealm>({ max: LIMITS.realmsCachedMax })
  store.onCommit(({ tenantIds }) => tenantIds.forEach((tenantId) => cache.delete(tenantId)))

  function handlerOf(tenant: Tenant): Promise<RealmHandler> {
    const { tenantId, revision } = tenant
    const known = cache.get(tenantId)
    if (known?.revision === revision) return known.handler
    const handler = buildHandler(world, tenant, tokenLimits)
    const entry = { revision, handler }
    cache.set(tenantId, entry)
    handler.catch(() => {
      if (cache.peek(tenantId) === entry) cache.delete(tenantId) // the next request tries again
    })
    return handler
  }

  function waitSecondsOf(request: IncomingMessage, path: string): number | undefined {
    const method = request.method ?? ''
    const counted = COUNTED_PATHS.find(
      (one) => one.path.test(path) && (one.methods as readonly string[]).includes(method),
    )
    if (counted === undefined) return undefined
    const { name } = counted
    return rateLimits.waitSeconds(name, countedAs(addressOf(request)), rates[name])
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const [, tenantId = '', path = '/', query = ''] = TARGET.exec(request.url ?? '') ?? []
    const isForPeople = PEOPLE_PATH.test(path)
    const waitSeconds = waitSecondsOf(request, path)
    if (waitSeconds !== undefined) {
      response.setHeader('Retry-After', String(waitSeconds))
      const place = placeOfTenant(baseUrl, undefined)
      return answerMessage(request, response, 'too_many', place, isForPeople)
    }
    const tenant = TENANT_ID.test(tenantId) ? await tenants.find(tenantId) : undefined
    const refuse = (kind: MessageKind) =>
      answerMessage(request, response, kind, placeOfTenant(baseUrl, tenant), isForPeople)
    if (tenant === undefined || tenant.status === 'draft') return refuse('unknown')
    if (tenant.status === 'suspended' && !SUSPENDED_PATH.test(path)) return refuse('suspended')
    try {
      const handler = await handlerOf(tenant)
      request.url = path + query
      await handler(request, response)
    } catch (error) {
      log.error({ tenantId, err: error }, 'realm failed')
      if (!response.headersSent) await refuse('internal')
      else response.destroy()
    }
  }

  return {
    async handle(request, response) {
      setSecurityHeaders(response, isHttps)
      try {
        await answer(request, response)
      } catch (error) {
        log.error({ err: error }, 'realm failed')
        if (!response.headersSent) response.writeHead(500)
        response.end()
      }
    },
    invalidate: (tenantId) => void cache.delete(tenantId),
    get cachedCount() {
      return cache.size
    },
    close: () => cache.clear(),
  }
}

async function buildHandler(
  world: RealmWorld,
  tenant: Tenant,
  tokenLimits: RateLimits,
): Promise<RealmHandler> {
  const { issuer, provider } = await createRealm(world, tenant, tokenLimits)
  const baseUrl = new URL(issuer).pathname // the provider finds its mount path under this name
  const callback = provider.callback()
  return async (request, response) => {
    await callback(Object.assign(request, { baseUrl }), response)
  }
}
