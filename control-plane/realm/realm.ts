/**
 * One realm: the OpenID Connect provider of one tenant as its record and keys are now. Nothing
 * that a sign-in needs to go on is kept in here, so that it can be thrown away at any moment.
 */
import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider'
import { issuerOf } from '../../shared/issuer.ts'
import { signedOutUrl } from '../../shared/sign-in/signed-out-url.ts'
import { isHangUp } from '../listener/hang-up.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { applicationHomeOf } from '../tenants/application-home.ts'
import { clientIdOf } from '../tenants/tenants.ts'
import { isUnavailable } from './answers.ts'
import { firstOf, registeredClients, takeRegisteredSecrets } from './clients/known-clients.ts'
import { providerConfiguration } from './configuration.ts'
import { Provider } from './oidc.ts'
import { showProviderError } from './realm-errors.ts'
import {
  findAccount,
  isOtherAccount,
  loadGrant,
  mustProveDevice,
  mustSignInAgain,
  mustStepUp,
} from './realm-hooks.ts'
import { realmPages } from './realm-pages.ts'
import { createMachineTokens, machineClients } from './machine-tokens.ts'
import { createRealmRecords } from './records.ts'
import { issueSessionTokens } from './session-token.ts'
import { requestIdOf } from './show.ts'
import { tokenRate } from './token-rate.ts'
import type { Realm, RealmCounts, RealmWorld } from './world.ts'
import { deviceTokensIn } from '../accounts/devices.ts'
import { cookieValues, pathCookieName } from './realm-cookies.ts'
import type { Clock } from '../../shared/clock.ts'
import { isSameSecret } from '../keys/vault.ts'
import type { ClientSecrets } from '../tenants/client-secrets.ts'
import { endSession } from './session-end.ts'

export async function createRealm(
  world: RealmWorld,
  tenant: Tenant,
  { tokenLimits, personRate }: RealmCounts,
): Promise<Realm> {
  const { baseUrl, vault, clock, log } = world
  const { tenantId } = tenant
  const issuer = issuerOf(baseUrl, tenantId)
  const base = new URL(baseUrl)
  const clientId = clientIdOf(tenantId)
  const [clientSecrets, { jwks }] = await Promise.all([
    world.tenants.clientSecrets(tenantId),
    world.keys.signingSet(tenantId),
  ])
  const [key] = jwks
  if (key === undefined) throw new Error(`the realm ${tenantId} has no signing key`)
  const redirectUris = world.tenants.redirectUris(tenant)
  const applicationUrls = redirectUris.map(applicationHomeOf)
  const records = createRealmRecords({
    ...world,
    tenantId,
    otherClients: firstOf(machineClients(tenantId, world), registeredClients(tenantId, world)),
    personAt: (ctx) => personAt(ctx, world, tenantId),
    onCodeReused: async (sids) => {
      log.warn(
        { tenant_id: tenantId, sids },
        'an authorization code came twice, ending what was made from it',
      )
      const requestId = Provider.ctx === undefined ? '' : requestIdOf(Provider.ctx)
      await Promise.all(
        sids.map((sid) => endSession(world, tenantId, sid, 'code_reused', requestId)),
      )
    },
  })

  const ofMachines = { tenantId, issuer, clientId, key, rateLimits: tokenLimits }
  const machineTokens = createMachineTokens(ofMachines, world)
  const configuration = providerConfiguration(
    {
      tenant,
      isHttps: base.protocol === 'https:',
      clientId,
      clientSecret: clientSecrets.current,
      redirectUris,
      postLogoutRedirectUris: [...applicationUrls, ...applicationUrls.map(signedOutUrl)],
      jwks,
      cookieKeys: vault
        .deriveKeys(`realm.cookies/${tenantId}`)
        .map((key) => key.toString('base64url')),
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
      findAccount: (ctx, userId, token) => {
        const asking = ctx.oidc.client?.clientId
        const other = asking === clientId ? undefined : asking
        return findAccount(world, tenantId, userId, other, token)
      },
      loadExistingGrant: (ctx) => loadGrant(ctx, clientId),
      mustSignInAgain: (ctx) => mustSignInAgain(ctx, world, tenant, clientId),
      mustStepUp: (ctx) => mustStepUp(ctx, world, tenant),
      mustProveDevice: (ctx) => mustProveDevice(ctx, world, tenant, clientId),
      isOtherAccount,
      judgeAssertion: machineTokens.judgeAssertion,
    },
  )
  const provider = new RealmProvider(issuer, configuration)
  answerUnder(provider, base)
  takePreviousSecret(provider, clientSecrets, clock)
  machineTokens.issueFrom(provider)
  takeRegisteredSecrets(provider, tenantId, world)
  issueSessionTokens(provider, { issuer, clientId, tenant, key }, world)
  logProblems(provider, tenantId, log)
  const reached = { tenant, clientId, issuer, provider, applicationUrls }
  const realm: Realm = { ...reached, records, personRate }
  provider.use(tokenRate(realm, clientSecrets, { clock, rateLimits: tokenLimits }))
  provider.use(machineTokens.tellOfAssertions)
  for (const middleware of realmPages(realm, world)) provider.use(middleware)
  return realm
}

/** Without the answers that are forms which send themselves, and so need JavaScript. */
class RealmProvider extends Provider {
  override registerResponseMode(...mode: Parameters<OidcProvider['registerResponseMode']>) {
    if (mode[0] !== 'form_post') super.registerResponseMode(...mode)
  }
}

interface Problem {
  readonly message: string
  readonly error_description?: string | undefined
  readonly error_detail?: string | undefined
}

function logProblems(provider: OidcProvider, tenantId: string, log: RealmWorld['log']) {
  const failures: EventEmitter = provider // Koa's own event, which would go to the console
  failures.on('error', (error: unknown, ctx?: KoaContextWithOIDC) => {
    if (ctx !== undefined && isHangUp(error, ctx.req)) return
    log.error({ tenant_id: tenantId, error }, 'realm failed')
  })
  provider.on('server_error', (ctx, error) => {
    if (isHangUp(error, ctx.req)) return
    if (isUnavailable(error)) return answerUnavailable(ctx)
    log.error({ tenant_id: tenantId, request_id: requestIdOf(ctx), error }, 'realm failed')
  })
  const refused = (ctx: KoaContextWithOIDC, problem: Problem) => {
    const { message: error, error_description, error_detail } = problem
    const request_id = requestIdOf(ctx)
    log.info(
      { tenant_id: tenantId, request_id, error, error_description, error_detail },
      'request refused',
    )
  }
  provider.on('authorization.error', refused)
  provider.on('grant.error', refused)
  provider.on('userinfo.error', refused)
}

/** People have their page by now; what a program asked for has been answered as our failure. */
function answerUnavailable(ctx: KoaContextWithOIDC) {
  if (ctx.status === 503) return
  ctx.status = 503
  ctx.set('Retry-After', '5')
  ctx.body = { error: 'temporarily_unavailable', error_description: 'try again in a few seconds' }
}

/**
 * Every address in an answer is made from the configured base, never from the Host or
 * X-Forwarded-* of the request: a poisoned one would send codes and forms to its author.
 */
function answerUnder(provider: OidcProvider, base: URL) {
  Object.defineProperties(provider.request, {
    host: { get: () => base.host },
    protocol: { get: () => base.protocol.slice(0, -1) },
  })
}

/** Who has signed in with a browser before: by its session, or by the cookie that it keeps. */
async function personAt(
  ctx: KoaContextWithOIDC,
  { devices, baseUrl }: Pick<RealmWorld, 'devices' | 'baseUrl'>,
  tenantId: string,
): Promise<string | undefined> {
  const { accountId } = ctx.oidc.session ?? {}
  if (accountId !== undefined) return accountId
  const name = pathCookieName(tenantId, 'device', baseUrl.startsWith('https:'))
  const tokens = deviceTokensIn(cookieValues(ctx.get('cookie'), name))
  return tokens.length === 0 ? undefined : devices.firstOwner(tenantId, tokens)
}

/** While a client secret is being replaced, the token endpoint takes the one before it as well. */
function takePreviousSecret(
  provider: OidcProvider,
  { previous }: ClientSecrets,
  clock: Clock,
): void {
  if (previous === undefined) return
  const { prototype } = provider.Client // a class of this provider's own
  const isCurrent = prototype.compareClientSecret
  prototype.compareClientSecret = async function (actual) {
    const isPrevious = isSameSecret(actual, previous.secret) && clock.nowMs() < previous.untilMs
    return (await isCurrent.call(this, actual)) || isPrevious
  }
}
