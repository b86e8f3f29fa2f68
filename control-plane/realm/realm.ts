/**
 * One realm: the OpenID Connect provider of one tenant as its record and keys are now. Nothing
 * that a sign-in needs to go on is kept in here, so that it can be thrown away at any moment.
 */
import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { Provider } from 'oidc-provider'
import { decodeJwt } from 'jose'
import { nowSeconds, SECOND_MS } from '../../shared/clock.ts'
import { Refusal } from '../../shared/errors.ts'
import { notBeforeOf } from '../store/queries/revocations.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { clientIdOf } from '../tenants/tenants.ts'
import { addressOf } from './address.ts'
import { providerConfiguration } from './configuration.ts'
import type { RealmRecords } from './records.ts'
import { showProviderError } from './realm-errors.ts'
import { realmPages } from './realm-pages.ts'
import { createRealmRecords } from './records.ts'
import { endSession } from './session-end.ts'
import { sessionEnd } from './session-life.ts'
import { issueSessionTokens } from './session-token.ts'
import type { RealmWorld } from './world.ts'

export type RealmContext = Parameters<Parameters<Provider['use']>[0]>[0]

export interface Realm {
  readonly tenant: Tenant
  readonly clientId: string
  readonly issuer: string
  readonly provider: Provider
  readonly records: RealmRecords
  /** The application's own addresses, as people know them: `https://app.example.com/`. */
  readonly applicationUrls: readonly string[]
}

export function issuerOf(baseUrl: string, tenantId: string): string {
  return `${baseUrl}/auth/realms/${tenantId}`
}

export async function createRealm(world: RealmWorld, tenant: Tenant): Promise<Realm> {
  const { baseUrl, vault, clock, log } = world
  const { tenantId } = tenant
  const issuer = issuerOf(baseUrl, tenantId)
  const base = new URL(baseUrl)
  const clientId = clientIdOf(tenantId)
  const [clientSecret, { jwks }] = await Promise.all([
    world.tenants.clientSecret(tenantId),
    world.keys.signingSet(tenantId),
  ])
  const [key] = jwks
  if (key === undefined) throw new Error(`the realm ${tenantId} has no signing key`)
  const redirectUris = world.tenants.redirectUris(tenant)
  const applicationUrls = redirectUris.map((uri) => new URL('/', uri).href)
  const records = createRealmRecords({
    ...world,
    tenantId,
    onCodeReused: async (sids) => {
      log.warn({ tenantId, sids }, 'an authorization code came twice, ending what was made from it')
      for (const sid of sids) await endSession(world, tenantId, sid, 'code_reused')
    },
  })

  const configuration = providerConfiguration(
    {
      tenant,
      mountPath: `/auth/realms/${tenantId}`,
      isHttps: base.protocol === 'https:',
      clientId,
      clientSecret,
      redirectUris,
      postLogoutRedirectUris: applicationUrls,
      jwks,
      cookieKeys: [vault.deriveKey(`realm.cookies/${tenantId}`).toString('base64url')],
      adapter: records.adapter,
      clock,
    },
    {
      renderError: (ctx, out, error) => showProviderError(realm, world, ctx, out, error),
      signInUrl: (ctx, uid) => {
        const uri = ctx.oidc.params?.redirect_uri
        const host = typeof uri === 'string' ? new URL(uri).host : ''
        return `${issuer}/sign-in/${uid}?app=${encodeURIComponent(host)}`
      },
      findAccount: (_ctx, userId) => findAccount(world, tenantId, userId),
      loadExistingGrant: (ctx) => loadGrant(ctx, clientId),
      mustSignInAgain: (ctx) => mustSignInAgain(ctx, world, tenant, clientId),
      isOtherAccount,
    },
  )
  const provider = new Provider(issuer, configuration)
  answerUnder(provider, base)
  issueSessionTokens(provider, { issuer, clientId, tenant, key }, world)
  const failures: EventEmitter = provider // Koa's own event, which would go to the console
  failures.on('error', (error: unknown) => log.error({ tenantId, err: error }, 'realm failed'))
  provider.on('server_error', (_ctx, error) => log.error({ tenantId, err: error }, 'realm failed'))
  const refused = (
    _ctx: KoaContextWithOIDC,
    { message, error_description, error_detail }: Problem,
  ) => log.info({ tenantId, error: message, error_description, error_detail }, 'request refused')
  provider.on('authorization.error', refused)
  provider.on('grant.error', refused)
  provider.on('userinfo.error', refused)
  const realm: Realm = { tenant, clientId, issuer, provider, records, applicationUrls }
  for (const middleware of realmPages(realm, world)) provider.use(middleware)
  return realm
}

interface Problem {
  readonly message: string
  readonly error_description?: string | undefined
  readonly error_detail?: string | undefined
}

/**
 * Every address in an answer is made from the configured base, never from the Host or
 * X-Forwarded-* of the request: a poisoned one would send codes and forms to its author.
 */
function answerUnder(provider: Provider, base: URL) {
  Object.defineProperties(provider.request, {
    host: { get: () => base.host },
    protocol: { get: () => base.protocol.slice(0, -1) },
  })
}

async function findAccount(world: RealmWorld, tenantId: string, userId: string) {
  const user = await world.users.get(tenantId, userId).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'user_not_found') return undefined
    throw error
  })
  if (user === undefined || user.isDisabled) return undefined
  return {
    accountId: userId,
    claims: (use: string) => ({
      sub: userId,
      name: user.name,
      email: user.email,
      // Left out of the session token, which every request carries
      ...(use === 'userinfo' ? { preferred_username: user.username } : undefined),
    }),
  }
}

/**
 * Every real sign-in begins a session of its own, with a fresh `sid` and a grant of its own, so
 * that one can end without the other and nothing that was known before it is worth anything
 * after it (session fixation).
 */
async function loadGrant(ctx: KoaContextWithOIDC, clientId: string) {
  const { session, account, result, provider } = ctx.oidc
  if (session === undefined || account === undefined) return undefined
  const isFresh = result?.login !== undefined
  const grantId = isFresh ? undefined : session.grantIdFor(clientId)
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  if (known !== undefined && known.accountId === account.accountId) return known

  session.authorizations = {
    [clientId]: { ip: addressOf(ctx.req), userAgent: ctx.get('user-agent') },
  }
  session.ensureClientContainer(clientId)
  const grant = new provider.Grant({ clientId, accountId: account.accountId })
  grant.addOIDCScope('openid profile email')
  await grant.save()
  return grant
}

async function mustSignInAgain(
  ctx: KoaContextWithOIDC,
  { store, sessions, clock }: RealmWorld,
  tenant: Tenant,
  clientId: string,
): Promise<boolean> {
  const { session, account, result } = ctx.oidc
  if (session?.accountId === undefined) return false // asked for anyway
  if (account === undefined) return true // removed or disabled since
  const signedInAt = session.loginTs ?? 0
  const sid = session.sidFor(clientId)
  const notBefore = await notBeforeOf(store.read, tenant.tenantId, account.accountId, sid)
  if (signedInAt < notBefore) return true
  if (result?.login !== undefined || sid === undefined) return false

  const known = await sessions.find(tenant.tenantId, sid)
  const times = {
    signedInAt,
    lastSeenAt: known && Math.floor(known.lastSeenAt / SECOND_MS),
    isEnded: known?.endedAt != null,
  }
  return sessionEnd(nowSeconds(clock), times, tenant) !== undefined
}

/** The hint was verified when the request came in; now it only says whom it means. */
function isOtherAccount({ oidc: { params, session } }: KoaContextWithOIDC): boolean {
  const hint = params?.id_token_hint
  if (typeof hint !== 'string' || session?.accountId === undefined) return false
  return decodeJwt(hint).sub !== session.accountId
}
