/**
 * The provider's settings: what one confidential client needs for the code flow with PKCE, what machines
 * need for their tokens, and nothing beside it. Everything that the provider can do and this page does not name is off.
 */
import type { Adapter, Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { MINUTE_MS, SECOND_MS, type Clock, nowSeconds } from '../../shared/clock.ts'
import { ACR_PASSWORD, ACR_SECOND_FACTOR } from '../policy/verdict.ts'
import type { PrivateSigningJwk } from '../keys/signing-keys.ts'
import type { Tenant } from '../store/queries/tenants.ts'
import { errors, interactionPolicy } from './oidc.ts'
import { LIMITS } from '../../shared/limits.ts'
import { ASSERTION_ALGS } from './machine-assertions.ts'
import { pathCookieName, realmCookieName, sessionCookiePath } from './realm-cookies.ts'
import { LANGUAGES } from '../../shared/sign-in/language.ts'
import { SESSION_ENDED } from '../../shared/sign-in/session-ended.ts'
import { CODE_SECONDS } from './session-life.ts'

/** How long a person may take over the sign-in page. */
export const SIGN_IN_SECONDS = 3600
const ACCESS_TOKEN_SECONDS = 600
const ANONYMOUS_SESSION_SECONDS = (10 * MINUTE_MS) / SECOND_MS

const off = { enabled: false } as const

interface RealmSettings {
  readonly tenant: Tenant
  readonly isHttps: boolean
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUris: readonly string[]
  readonly postLogoutRedirectUris: readonly string[]
  readonly jwks: readonly PrivateSigningJwk[]
  readonly cookieKeys: readonly string[]
  readonly adapter: (model: string) => Adapter
  readonly clock: Clock
}

/** What the realm decides itself while the provider runs a request. */
type RealmHooks = Required<
  Pick<Configuration, 'findAccount' | 'loadExistingGrant' | 'renderError'>
> & {
  readonly signInUrl: (ctx: KoaContextWithOIDC, uid: string) => string
  /** Whether the session in the cookie may not be continued without asking. */
  readonly mustSignInAgain: (ctx: KoaContextWithOIDC) => Promise<boolean>
  /** Whether more than what the session was opened with is asked for. */
  readonly mustStepUp: (ctx: KoaContextWithOIDC) => Promise<boolean>
  /** Whether the session was begun without a device that the policy demands by now. */
  readonly mustProveDevice: (ctx: KoaContextWithOIDC) => Promise<boolean>
  /** Whether the application named another account than the one that is signed in. */
  readonly isOtherAccount: (ctx: KoaContextWithOIDC) => boolean
  /** A machine has signed who it is: throws where that counts for nothing. */
  readonly judgeAssertion: NonNullable<Configuration['assertJwtClientAuthClaimsAndHeader']>
}

export function providerConfiguration(settings: RealmSettings, hooks: RealmHooks): Configuration {
  const { tenant, clock } = settings
  const applicationOrigins = settings.redirectUris.map((uri) => new URL(uri).origin)
  const { tenantId } = tenant
  const { isHttps } = settings

  return {
    adapter: settings.adapter,
    clients: [
      {
        client_id: settings.clientId,
        client_secret: settings.clientSecret,
        client_name: tenant.name,
        redirect_uris: settings.redirectUris,
        post_logout_redirect_uris: settings.postLogoutRedirectUris,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic', // which takes client_secret_post too
        id_token_signed_response_alg: 'RS256',
      },
    ],
    jwks: { keys: settings.jwks },
    discovery: { ui_locales_supported: [...LANGUAGES] },
    responseTypes: ['code'],
    extraParams: { response_mode: refuseOtherModes, [SESSION_ENDED]: null },
    pkce: { required: () => true },
    scopes: ['openid'],
    claims: {
      openid: ['sub', 'sid', 'acr', 'amr', 'auth_time'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username', 'groups'],
    },
    conformIdTokenClaims: false, // name and e-mail travel in the session token
    acrValues: [ACR_PASSWORD, ACR_SECOND_FACTOR],
    subjectTypes: ['public'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    assertJwtClientAuthClaimsAndHeader: hooks.judgeAssertion,
    // scripts of the application itself may ask, those of others get nothing to read
    clientBasedCORS: (_ctx, origin) => applicationOrigins.includes(origin),
    clockTolerance: LIMITS.serviceAssertionSkewSeconds, // of assertions: all other times are our own
    allowOmittingSingleRegisteredRedirectUri: false,
    enabledJWA: {
      idTokenSigningAlgValues: ['RS256'],
      clientAuthSigningAlgValues: ASSERTION_ALGS,
    },
    routes: {
      authorization: '/authorize',
      token: '/token',
      userinfo: '/userinfo',
      jwks: '/jwks',
      end_session: '/logout',
    },
    features: {
      rpInitiatedLogout: { enabled: true },
      backchannelLogout: { enabled: true }, // our own notices; this names them in discovery
      userinfo: { enabled: true },
      clientCredentials: { enabled: true }, // for machines: machine-tokens.ts
      devInteractions: off,
      dPoP: off,
      pushedAuthorizationRequests: off,
      resourceIndicators: off,
    },
    cookies: {
      names: {
        // Whoever could plant it would sign its victim in as somebody else
        session: realmCookieName(tenantId, 'session', isHttps),
        interaction: pathCookieName(tenantId, 'sign_in', isHttps),
        resume: pathCookieName(tenantId, 'resume', isHttps),
      },
      // The provider gives each sign-in a path of its own, which keeps five tabs apart
      short: { httpOnly: true, sameSite: 'lax', signed: true, secure: isHttps },
      long: {
        httpOnly: true,
        sameSite: 'lax',
        signed: true,
        secure: isHttps,
        path: sessionCookiePath(tenantId, isHttps),
      },
      keys: settings.cookieKeys,
    },
    ttl: {
      AuthorizationCode: CODE_SECONDS,
      AccessToken: ACCESS_TOKEN_SECONDS,
      ClientCredentials: LIMITS.serviceTokenSeconds,
      Interaction: SIGN_IN_SECONDS,
      Grant: tenant.maxSessionSeconds + SIGN_IN_SECONDS,
      // From the sign-in on, not from the last use: coming back does not make it longer
      Session: (_ctx, { loginTs }) =>
        loginTs === undefined
          ? ANONYMOUS_SESSION_SECONDS
          : Math.max(1, loginTs + tenant.maxSessionSeconds - nowSeconds(clock)),
    },
    interactions: {
      policy: signInPolicy(hooks),
      url: (ctx, interaction) => hooks.signInUrl(ctx, interaction.uid),
    },
    findAccount: hooks.findAccount,
    loadExistingGrant: hooks.loadExistingGrant,
    renderError: hooks.renderError,
  }
}

/** CVE-2023-6927: a code leaves in the query or not at all; errors of other flows keep their way. */
function refuseOtherModes({ oidc }: KoaContextWithOIDC, mode: string | undefined) {
  if (mode === undefined || mode === 'query') return
  if (oidc.params !== undefined) oidc.params.response_mode = undefined // nor does this refusal
  throw new errors.UnsupportedResponseMode()
}

/** The application and its realm are one product, so nobody is asked to consent to it. */
function signInPolicy(hooks: RealmHooks) {
  const { mustSignInAgain, mustStepUp, mustProveDevice, isOtherAccount } = hooks
  const { base, Check } = interactionPolicy
  const policy = base()
  policy.remove('consent')
  const checks = policy.get('login')?.checks
  const over = 'the session cannot be continued without signing in'
  checks?.add(new Check('session_over', over, 'login_required', mustSignInAgain))
  const more = 'the session was opened with less than what is asked for'
  checks?.add(new Check('step_up', more, 'login_required', mustStepUp))
  const device = 'the session was begun on no device that is let in'
  checks?.add(new Check('device', device, 'login_required', mustProveDevice))
  // The provider compares the hint when a request arrives, but not with who signs in because of it
  const other = 'another account than the requested one is signed in'
  checks?.add(new Check('other_account', other, 'login_required', isOtherAccount))
  return policy
}
