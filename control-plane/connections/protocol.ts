/**
 * The relying party's side of OpenID Connect: where to send a browser, and what a code is worth. An
 * ID token counts when it is of this very issuer, for us, for this very flow, and signed by a key
 * that the issuer publishes; it is never worth more than what has been checked here.
 */
import { createHash } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import type { Claims } from './gate.ts'
import { ProviderProblem, type ProviderClient } from './provider-client.ts'
import type { ProviderDocument, ProviderDocuments, ProviderSettings } from './provider-documents.ts'

/** What belongs to one flow in one browser. */
export interface FlowSecrets {
  readonly nonce: string
  readonly verifier: string
}

/** What else is said when somebody is sent there. */
export interface Wish {
  /** Whoever is signed in there shows once more who they are. */
  readonly isConfirmation: boolean
  readonly loginHint?: string | undefined
}

/** What a browser has come back with. */
export interface ProviderAnswer {
  readonly code: string
  readonly issuer: string | undefined
}

/** What is true of whoever came back, and what says so. */
export interface Proven {
  readonly claims: Claims
  readonly idToken?: string
}

export interface SignOut {
  readonly idToken: string | undefined
  readonly returnUrl: string
  readonly state: string
}

interface ProtocolWorld {
  readonly client: ProviderClient
  readonly documents: ProviderDocuments
}

export function createProtocol({ client, documents }: ProtocolWorld) {
  const { documentOf, proven } = documents

  async function verified(
    settings: ProviderSettings,
    idToken: string,
    { nonce }: FlowSecrets,
  ): Promise<Claims> {
    // an access token or a logout token of the same issuer is signed by the same keys
    if (typeOf(idToken) !== 'JWT') throw new ProviderProblem('the token is no ID token')
    const requiredClaims = ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce']
    const payload = await proven(settings, idToken, { kind: 'ID token', requiredClaims })
    if (payload.nonce !== nonce) throw new ProviderProblem('the ID token is of another sign-in')
    const isShared = Array.isArray(payload.aud) && payload.aud.length > 1
    if (payload.azp === undefined ? isShared : payload.azp !== settings.clientId)
      throw new ProviderProblem('the ID token was issued to another application')
    return payload
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
      { isConfirmation, loginHint }: Wish,
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
        ...(loginHint !== undefined && { login_hint: loginHint }),
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },

    /** What is true of whoever came back; a `ProviderProblem` where nothing is. */
    async claimsFor(
      settings: ProviderSettings & { readonly clientSecret: string },
      redirectUri: string,
      { code, issuer }: ProviderAnswer,
      flow: FlowSecrets,
    ): Promise<Proven> {
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
      const claims = await verified(settings, answer.id_token, flow)
      const whole = await withProfile(document, claims, answer.access_token)
      return { claims: whole, idToken: answer.id_token }
    },

    /** Where a browser is sent that has signed out here; undefined: the provider wants nobody. */
    async signOutUrl(
      settings: ProviderSettings,
      { idToken, returnUrl, state }: SignOut,
    ): Promise<string | undefined> {
      const { endSessionEndpoint } = await documentOf(settings)
      if (endSessionEndpoint === undefined) return undefined
      const url = new URL(endSessionEndpoint)
      const parameters = {
        client_id: settings.clientId,
        ...(idToken !== undefined && { id_token_hint: idToken }),
        post_logout_redirect_uri: returnUrl,
        state,
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },
  }
}

/** RFC 6749, section 2.3.1: each part as in a form. */
function basic(clientId: string, clientSecret: string): string {
  const part = (text: string) => new URLSearchParams({ a: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${part(clientId)}:${part(clientSecret)}`).toString('base64')}`
}

/** As the token says of itself, which nobody has signed yet. */
export function typeOf(token: string): string {
  try {
    const { typ = 'JWT' } = decodeProtectedHeader(token)
    return typ.toUpperCase()
  } catch {
    return ''
  }
}
