/**
 * The relying party's side of OpenID Connect: where to send a browser, and what a code is worth. An
 * ID token counts when it is of this very issuer, for us, for this very flow, and signed by a key
 * that the issuer publishes; it is never worth more than what has been checked here.
 */
import { createHash } from 'node:crypto'
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JSONWebKeySet,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { readReceiverUrl } from '../outbound/public-address.ts'
import type { Claims } from './gate.ts'
import { ProviderProblem, type ProviderClient } from './provider-client.ts'

/** Keys of the issuer and nothing that could be known to others: no `none`, no HMAC. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const KEPT_MS = 10 * MINUTE_MS
/** A key that nobody knows has the keys read anew, and not for each token that names one. */
const KEYS_AGAIN_MS = 30 * SECOND_MS
const SKEW_SECONDS = 60

interface ProviderSettings {
  readonly connectionId: string
  readonly issuer: string
  readonly clientId: string
}

/** What belongs to one flow in one browser. */
interface FlowSecrets {
  readonly nonce: string
  readonly verifier: string
}

interface ProviderDocument {
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly jwksUri: string
  /** Where addresses and names are, if the ID token is a thin one. */
  readonly userinfoEndpoint: string | undefined
  readonly isSecretInBody: boolean
  /** RFC 9207: every answer names its issuer. */
  readonly namesIssuer: boolean
}

interface Keys {
  readonly atMs: number
  readonly keySet: ReturnType<typeof createLocalJWKSet>
}

export function createProtocol({ client, clock }: { client: ProviderClient; clock: Clock }) {
  const kept = { max: LIMITS.providersKeptMax, ttl: KEPT_MS, perf: { now: () => clock.nowMs() } }
  const documents = new LRUCache<string, ProviderDocument>(kept)
  const keys = new LRUCache<string, Keys>(kept)

  async function documentOf({ issuer }: ProviderSettings): Promise<ProviderDocument> {
    const known = documents.get(issuer)
    if (known !== undefined) return known
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const read = readDocument(issuer, await client.json({ url }))
    documents.set(issuer, read)
    return read
  }

  async function keysOf({ jwksUri }: ProviderDocument, isNewNeeded: boolean): Promise<Keys> {
    const known = keys.get(jwksUri)
    const isFresh = known !== undefined && clock.nowMs() < known.atMs + KEYS_AGAIN_MS
    if (known !== undefined && (!isNewNeeded || isFresh)) return known
    const { keys: listed } = await client.json({ url: jwksUri })
    if (!Array.isArray(listed)) throw new ProviderProblem('the provider publishes no signing keys')
    const keySet = createLocalJWKSet({ keys: listed as JSONWebKeySet['keys'] })
    const read = { atMs: clock.nowMs(), keySet }
    keys.set(jwksUri, read)
    return read
  }

  async function verified(
    settings: ProviderSettings,
    document: ProviderDocument,
    idToken: string,
    { nonce }: FlowSecrets,
  ): Promise<Claims> {
    const verify = async (isNewNeeded: boolean) => {
      const { keySet } = await keysOf(document, isNewNeeded)
      return jwtVerify(idToken, keySet, {
        issuer: settings.issuer,
        audience: settings.clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce'],
        maxTokenAge: LIMITS.upstreamTokenSecondsMax,
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(clock.nowMs()),
      })
    }
    try {
      const { typ = 'JWT' } = decodeProtectedHeader(idToken)
      // an access token or a logout token of the same issuer is signed by the same keys
      if (typ.toUpperCase() !== 'JWT') throw new ProviderProblem('the token is no ID token')
      const { payload } = await verify(false).catch((error: unknown) => {
        if (error instanceof errors.JWKSNoMatchingKey) return verify(true)
        throw error
      })
      if (payload.nonce !== nonce) throw new ProviderProblem('the ID token is of another sign-in')
      const isShared = Array.isArray(payload.aud) && payload.aud.length > 1
      if (payload.azp === undefined ? isShared : payload.azp !== settings.clientId)
        throw new ProviderProblem('the ID token was issued to another application')
      return payload
    } catch (error) {
      if (error instanceof ProviderProblem) throw error
      if (error instanceof errors.JOSEError)
        throw new ProviderProblem(`the ID token is not valid (${error.code})`)
      throw new ProviderProblem('the ID token is not valid')
    }
  }

  /**
   * What people are called and where mail reaches them: who they are is for the ID token alone. An
   * address and whether it is theirs come from one and the same answer.
   */
  async function withProfile(
    { userinfoEndpoint: url }: ProviderDocument,
    claims: Claims,
    accessToken: unknown,
  ): Promise<Claims> {
    if (claims.email !== undefined || url === undefined) return claims
    if (typeof accessToken !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(accessToken)) return claims
    const headers = { authorization: `Bearer ${accessToken}` }
    const { sub, email, email_verified, name } = await client.json({ url, headers })
    if (sub !== claims.sub) throw new ProviderProblem('the userinfo is about somebody else')
    return { ...claims, email, email_verified, name: claims.name ?? name }
  }

  return {
    async authorizationUrl(
      settings: ProviderSettings,
      redirectUri: string,
      { state, nonce, verifier }: FlowSecrets & { readonly state: string },
      isConfirmation: boolean,
    ): Promise<string> {
      const url = new URL((await documentOf(settings)).authorizationEndpoint)
      const parameters = {
        response_type: 'code',
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        scope: 'openid profile email',
        state,
        nonce,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        // with an age it has to say how old its proof is (OpenID Connect Core, section 3.1.2.1)
        ...(isConfirmation && { prompt: 'login', max_age: '0' }),
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },

    /** What is true of whoever came back; a `ProviderProblem` where nothing is. */
    async claimsFor(
      settings: ProviderSettings & { readonly clientSecret: string },
      redirectUri: string,
      { code, issuer }: { readonly code: string; readonly issuer: string | undefined },
      flow: FlowSecrets,
    ): Promise<Claims> {
      const document = await documentOf(settings)
      if (issuer === undefined ? document.namesIssuer : issuer !== settings.issuer)
        throw new ProviderProblem('the answer is not of the provider that was asked')
      const { clientId, clientSecret } = settings
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: flow.verifier,
      })
      if (document.isSecretInBody) {
        form.set('client_id', clientId)
        form.set('client_secret', clientSecret)
      }
      const answer = await client.json({
        url: document.tokenEndpoint,
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(!document.isSecretInBody && { authorization: basic(clientId, clientSecret) }),
        },
        body: form.toString(),
      })
      if (typeof answer.id_token !== 'string')
        throw new ProviderProblem('the provider sent no ID token')
      const claims = await verified(settings, document, answer.id_token, flow)
      return withProfile(document, claims, answer.access_token)
    },
  }
}

/** RFC 6749, section 2.3.1: each part as in a form. */
function basic(clientId: string, clientSecret: string): string {
  const part = (text: string) => new URLSearchParams({ a: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${part(clientId)}:${part(clientSecret)}`).toString('base64')}`
}

function readDocument(issuer: string, found: Readonly<Record<string, unknown>>): ProviderDocument {
  if (found.issuer !== issuer)
    throw new ProviderProblem('the provider says that it is another issuer')
  const address = (name: string): string => {
    const value = found[name]
    if (typeof value !== 'string') throw new ProviderProblem(`the provider names no ${name}`)
    try {
      return readReceiverUrl(value).href
    } catch {
      throw new ProviderProblem(`the provider's ${name} cannot be used`)
    }
  }
  const methods = found.token_endpoint_auth_methods_supported
  const isSecretInBody =
    Array.isArray(methods) &&
    methods.includes('client_secret_post') &&
    !methods.includes('client_secret_basic')
  return {
    authorizationEndpoint: address('authorization_endpoint'),
    tokenEndpoint: address('token_endpoint'),
    jwksUri: address('jwks_uri'),
    userinfoEndpoint:
      found.userinfo_endpoint === undefined ? undefined : address('userinfo_endpoint'),
    isSecretInBody,
    namesIssuer: found.authorization_response_iss_parameter_supported === true,
  }
}
