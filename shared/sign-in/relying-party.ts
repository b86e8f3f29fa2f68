/**
 * The gateway, or the middleware, as an OpenID Connect client of a tenant's realm. Standard code flow with PKCE, by
 * openid-client; discovery is done once per client and shared by all who ask at the same time.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import * as oidc from 'openid-client'
import type { SteadyClock } from '../clock.ts'
import type { Flow } from './flow.ts'
import { SESSION_ENDED, type SessionEnding } from './session-ended.ts'

export interface RelyingPartyClient {
  readonly issuer: string
  readonly id: string
  readonly secret: string
}

interface WithClient {
  readonly client: RelyingPartyClient
}

interface StartRequest {
  readonly redirectUri: string
  readonly state: string
  /** Ask again even where the realm still knows the person, for a second factor as well. */
  readonly isFresh: boolean
  /** Why there is no session any more, for the page that asks for the password. */
  readonly sessionEnded?: SessionEnding | undefined
  /** Whom the form is filled in for; they may be somebody else. */
  readonly loginHint?: string | undefined
}

/** `isFresh`: what `start` asked for; the way there leads through the browser, which may leave it out. */
type FinishRequest = Pick<Flow, 'state' | 'nonce' | 'codeVerifier' | 'isFresh'> & {
  readonly callbackUrl: string
  /** Of the request that came back, so that what the realm does for it is part of its trace. */
  readonly traceparent?: string | undefined
}

interface LogoutRequest {
  /** Without it the realm asks the person. */
  readonly idToken: string | undefined
  readonly returnUrl: string
}

const DISCOVERY_KEPT_MS = 10 * 60_000
/** A realm that is away is not asked by everybody who comes: that costs more than all the rest of a sign-in. */
const FAILURE_KEPT_MS = 500
const TIMEOUT_SECONDS = 10
export const SECOND_FACTOR = 'aal2'

/** It could not be asked, or said so itself: nothing is wrong with what the browser brought. */
export function isRealmAway(failure: unknown): boolean {
  if (failure instanceof oidc.ResponseBodyError) return failure.status >= 500
  if (!(failure instanceof oidc.ClientError)) return failure instanceof TypeError // of `fetch`
  // a Response, and of which library's depends on who fetches
  const status = (failure.cause as { readonly status?: unknown } | undefined)?.status
  return failure.code === 'OAUTH_TIMEOUT' || (typeof status === 'number' && status >= 500)
}

export type RelyingParty = ReturnType<typeof createRelyingParty>

export function createRelyingParty(world: { fetch: oidc.CustomFetch; clock: SteadyClock }) {
  type Found = { config: Promise<oidc.Configuration>; atMs: number }
  /** Weak, so that a client that is no longer served is forgotten with its snapshot. */
  const found = new WeakMap<RelyingPartyClient, Found>()
  /** What fetches is shared by all requests of a client: whose it is, it learns here. */
  const traces = new AsyncLocalStorage<string | undefined>()

  const traced: oidc.CustomFetch = (url, options) => {
    const traceparent = traces.getStore()
    if (traceparent === undefined) return world.fetch(url, options)
    return world.fetch(url, { ...options, headers: { ...options.headers, traceparent } })
  }

  function discover(client: RelyingPartyClient): Promise<oidc.Configuration> {
    const known = found.get(client)
    if (known !== undefined && world.clock.steadyMs() - known.atMs < DISCOVERY_KEPT_MS)
      return known.config
    const config = oidc.discovery(
      new URL(client.issuer),
      client.id,
      { client_secret: client.secret },
      oidc.ClientSecretBasic(client.secret),
      {
        timeout: TIMEOUT_SECONDS,
        // the control plane's own address decides; a fleet on one machine speaks plain http
        execute: client.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
        [oidc.customFetch]: traced,
      },
    )
    found.set(client, { config, atMs: world.clock.steadyMs() })
    config.catch(() =>
      found.set(client, {
        config,
        atMs: world.clock.steadyMs() - DISCOVERY_KEPT_MS + FAILURE_KEPT_MS,
      }),
    )
    return config
  }

  return {
    async start(
      { client }: WithClient,
      { redirectUri, state, isFresh, sessionEnded, loginHint }: StartRequest,
    ) {
      const config = await discover(client)
      const codeVerifier = oidc.randomPKCECodeVerifier()
      const nonce = oidc.randomNonce()
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(isFresh ? { prompt: 'login', acr_values: SECOND_FACTOR } : {}),
        ...(sessionEnded === undefined ? {} : { [SESSION_ENDED]: sessionEnded }),
        ...(loginHint !== undefined && { login_hint: loginHint }),
      })
      return { location: url.href, nonce, codeVerifier }
    },
    /** The ID token of the finished sign-in; throws when the realm or the answer is not in order. */
    async finish(
      { client }: WithClient,
      { callbackUrl, traceparent, state, nonce, codeVerifier, isFresh }: FinishRequest,
    ) {
      const config = await discover(client)
      const tokens = await traces.run(traceparent, () =>
        oidc.authorizationCodeGrant(
          config,
          new URL(callbackUrl),
          {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: codeVerifier,
            idTokenExpected: true,
          },
          isFresh ? { acr_values: SECOND_FACTOR } : {},
        ),
      )
      if (tokens.id_token === undefined) throw new Error('the realm answered without an ID token')
      return tokens.id_token
    },
    async endSessionLocation({ client }: WithClient, { idToken, returnUrl }: LogoutRequest) {
      const config = await discover(client)
      return oidc.buildEndSessionUrl(config, {
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
        post_logout_redirect_uri: returnUrl,
      }).href
    },
  }
}
