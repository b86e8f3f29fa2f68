/**
 * What a provider publishes: where it is asked, and the keys by which its tokens are told from others.
 */
import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import { readReceiverUrl } from '../outbound/public-address.ts'
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

export interface ProviderSettings {
  readonly connectionId: string
  readonly issuer: string
  readonly clientId: string
}

export interface ProviderDocument {
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly jwksUri: string
  /** Where addresses and names are, if the ID token is a thin one. */
  readonly userinfoEndpoint: string | undefined
  readonly isSecretInBody: boolean
  /** Where people are sent who sign out; undefined: it has no such place. */
  readonly endSessionEndpoint: string | undefined
  /** RFC 9207: every answer names its issuer. */
  readonly namesIssuer: boolean
}

interface Keys {
  readonly atMs: number
  readonly keySet: ReturnType<typeof createLocalJWKSet>
}

export type ProviderDocuments = ReturnType<typeof createProviderDocuments>

export function createProviderDocuments({
  client,
  clock,
}: {
  client: ProviderClient
  clock: Clock
}) {
  const kept = { max: LIMITS.providersKeptMax, ttl: KEPT_MS, perf: { now: () => clock.steadyMs() } }
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
    const isFresh = known !== undefined && clock.steadyMs() < known.atMs + KEYS_AGAIN_MS
    if (known !== undefined && (!isNewNeeded || isFresh)) return known
    const { keys: listed } = await client.json({ url: jwksUri })
    if (!Array.isArray(listed)) throw new ProviderProblem('the provider publishes no signing keys')
    const keySet = createLocalJWKSet({ keys: listed as JSONWebKeySet['keys'] })
    const read = { atMs: clock.steadyMs(), keySet }
    keys.set(jwksUri, read)
    return read
  }

  /** Of this issuer, for us, of these minutes and signed; what else it has to be is for its reader to say. */
  async function proven(
    settings: ProviderSettings,
    token: string,
    { kind, requiredClaims = [] }: { readonly kind: string; readonly requiredClaims?: string[] },
  ): Promise<JWTPayload> {
    const document = await documentOf(settings)
    const verify = async (isNewNeeded: boolean) => {
      const { keySet } = await keysOf(document, isNewNeeded)
      return jwtVerify(token, keySet, {
        issuer: settings.issuer,
        audience: settings.clientId,
        algorithms: ALGORITHMS,
        requiredClaims,
        maxTokenAge: LIMITS.upstreamTokenSecondsMax,
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(clock.nowMs()),
      })
    }
    try {
      const { payload } = await verify(false).catch((error: unknown) => {
        if (error instanceof errors.JWKSNoMatchingKey) return verify(true)
        throw error
      })
      return payload
    } catch (error) {
      if (error instanceof ProviderProblem) throw error
      if (error instanceof errors.JOSEError)
        throw new ProviderProblem(`the ${kind} is not valid (${error.code})`)
      throw new ProviderProblem(`the ${kind} is not valid`)
    }
  }

  return { documentOf, proven }
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
    endSessionEndpoint: endSessionOf(found),
    namesIssuer: found.authorization_response_iss_parameter_supported === true,
  }
}

/** One that cannot be used is none: people come in all the same. */
function endSessionOf({ end_session_endpoint: value }: Readonly<Record<string, unknown>>) {
  try {
    return typeof value === 'string' ? readReceiverUrl(value).href : undefined
  } catch {
    return undefined
  }
}
