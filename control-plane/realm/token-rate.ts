/**
 * How often the token endpoint is asked. Who has the secret is counted apart from who guesses it: a
 * stranger behind the same address must not keep the real application out.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../shared/clock.ts'
import { countedAs } from '../../shared/client-address.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { RateLimits } from '../../shared/rate-limits.ts'
import { isSameSecret } from '../keys/vault.ts'
import { addressOf } from '../listener/client-address.ts'
import { noteGood } from '../listener/known-credentials.ts'
import type { ClientSecrets } from '../tenants/client-secrets.ts'
import { messageJson } from './answers.ts'
import { isRealmClientId } from './clients/realm-clients.ts'
import { addressRates } from '../http/address-rates.ts'
import { readForm } from '../http/form.ts'
import type { Realm, RealmContext } from './world.ts'

const TOKEN_PATH = /^\/token\/?$/i

export function tokenRate(
  { tenant: { tenantId }, clientId }: Pick<Realm, 'tenant' | 'clientId'>,
  secrets: ClientSecrets,
  { clock, rateLimits }: { readonly clock: Clock; readonly rateLimits: RateLimits },
) {
  const ofStrangers = addressRates(rateLimits)
  /** Other applications that have shown their secret, by a hash of what they showed: strangers look nothing up. */
  const shown = new LRUCache<string, string>({ max: LIMITS.realmClientsPerTenantMax })

  return async function limitTokens(ctx: RealmContext, next: () => Promise<unknown>) {
    if (!TOKEN_PATH.test(ctx.path)) return next()
    const address = addressOf(ctx.req)
    const scope = `${tenantId} `
    const key = scope + countedAs(address)
    const basic = basicOf(ctx.get('authorization'))
    const other = basic && shown.get(hashOf(basic))
    if (basic && (other !== undefined || isOwn(basic))) {
      noteGood(ctx.req)
      const wait = rateLimits.waitSeconds('token', other ?? key, LIMITS.rateToken)
      if (wait !== undefined) return refuse(ctx, wait)
      await next()
      if (ctx.status === 401) shown.delete(hashOf(basic)) // it was deleted since
      return
    }
    const wait = ofStrangers.waitSeconds('tokenRefused', address, LIMITS.rateTokenRefused, scope)
    if (wait !== undefined) {
      const form = await ownForm(ctx)
      if (form === undefined) return refuse(ctx, wait)
      const waitOfOwn = rateLimits.waitSeconds('token', key, LIMITS.rateToken)
      if (waitOfOwn !== undefined) return refuse(ctx, waitOfOwn)
      Object.assign(ctx.req, { body: form }) // where the provider looks for what has been read
      return next()
    }
    await next()
    if (ctx.status === 401) return
    // It was the secret after all, in the body or another application's: what was taken is given back
    ofStrangers.giveBack('tokenRefused', address, LIMITS.rateTokenRefused, scope)
    if (basic && isRealmClientId(basic.id)) shown.set(hashOf(basic), scope + basic.id)
  }

  function isOwn({ id, secret }: Basic): boolean {
    return id === clientId && isSecret(secret)
  }

  /** What came in the body, where it holds the secret. */
  async function ownForm({ req, method }: RealmContext) {
    const form = method === 'POST' ? await readForm(req) : undefined
    if (form?.kind !== 'form') return undefined
    const { client_id: id, client_secret: secret, ...rest } = Object.fromEntries(form.fields)
    if (id !== clientId || secret === undefined || !isSecret(secret)) return undefined
    return { ...rest, client_id: id, client_secret: secret }
  }

  function isSecret(secret: string): boolean {
    const { current, previous } = secrets
    const isPrevious = previous !== undefined && isSameSecret(secret, previous.secret)
    return isSameSecret(secret, current) || (isPrevious && clock.nowMs() < previous.untilMs)
  }
}

interface Basic {
  readonly id: string
  readonly secret: string
}

const hashOf = ({ id, secret }: Basic) =>
  createHash('sha256').update(`${id}:${secret}`).digest('base64url')

/** RFC 6749, section 2.3.1: both are encoded like a form before they are put together. */
function basicOf(authorization: string): Basic | undefined {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]{1,2000})$/i.exec(authorization) ?? []
  const [name = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  const [id, secret] = [decoded(name), decoded(rest.join(':'))]
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function refuse(ctx: RealmContext, waitSeconds: number) {
  ctx.set('Retry-After', String(waitSeconds))
  ctx.status = 429
  ctx.body = messageJson('too_many')
}
