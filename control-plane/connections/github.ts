/**
 * Sign-in with GitHub, which speaks OAuth 2 and no OpenID Connect: there is no ID token, so who somebody
 * is comes from its API, asked with the access token that the code was worth, and with nothing that a
 * browser has carried. People are their number: names are given to others.
 */
import { createHash } from 'node:crypto'
import type { Claims } from './gate.ts'
import type { FlowSecrets, ProviderAnswer, Wish } from './protocol.ts'
import { ProviderProblem, type ProviderClient } from './provider-client.ts'

interface GithubSettings {
  readonly issuer: string
  readonly clientId: string
  /** Whose members alone come in. */
  readonly organization: string | null
}

const ACCESS_TOKEN = /^[\x21-\x7e]{1,512}$/

export function createGithub({ client }: { client: ProviderClient }) {
  function ask(token: string) {
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'sign-in', // without one it refuses
      'x-github-api-version': '2022-11-28',
    }
    return (url: string) => ({ url, headers })
  }

  async function tokenFor(
    { issuer, clientId, clientSecret }: GithubSettings & { readonly clientSecret: string },
    redirectUri: string,
    code: string,
    { verifier }: FlowSecrets,
  ): Promise<string> {
    const form = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
    const { access_token: token, error } = await client.json({
      url: `${issuer}/login/oauth/access_token`,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    })
    if (typeof token === 'string' && ACCESS_TOKEN.test(token)) return token
    // it says what is wrong with status 200
    const said = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
    throw new ProviderProblem(`GitHub took the code for nothing${said}`)
  }

  /** The one that GitHub itself writes to, and whether the person has shown that it is theirs. */
  function addressOf(list: readonly unknown[]): Claims {
    const primary = list.find(
      (one): one is Record<string, unknown> =>
        typeof one === 'object' && one !== null && (one as { primary?: unknown }).primary === true,
    )
    if (primary === undefined) return {}
    return { email: primary['email'], email_verified: primary['verified'] === true }
  }

  return {
    async authorizationUrl(
      { issuer, clientId, organization }: GithubSettings,
      redirectUri: string,
      { state, verifier }: FlowSecrets & { readonly state: string },
      { isConfirmation, loginHint }: Wish,
    ): Promise<string> {
      const url = new URL(`${issuer}/login/oauth/authorize`)
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: `read:user user:email${organization === null ? '' : ' read:org'}`,
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        // it asks nobody for a password again; this way it shows at least as whom they go on
        ...(isConfirmation && { prompt: 'select_account' }),
        ...(loginHint !== undefined && { login: loginHint }),
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },

    async claimsFor(
      settings: GithubSettings & { readonly clientSecret: string },
      redirectUri: string,
      { code, issuer }: ProviderAnswer,
      flow: FlowSecrets,
    ): Promise<{ readonly claims: Claims }> {
      if (issuer !== undefined && issuer !== settings.issuer)
        throw new ProviderProblem('the answer is not of the provider that was asked')
      const asked = ask(await tokenFor(settings, redirectUri, code, flow))
      const api = apiOf(settings.issuer)
      const { id, login, name } = await client.json(asked(`${api}/user`))
      const address = addressOf(await client.list(asked(`${api}/user/emails?per_page=100`)))
      const { organization } = settings
      const membership = organization === null ? {} : await membershipOf(api, organization, asked)
      const sub = Number.isSafeInteger(id) && Number(id) > 0 ? String(id) : undefined
      return { claims: { sub, login, name, ...address, ...membership } }
    },
  }

  /** The name is what was asked for, and may be another one's by now; the number stays. */
  async function membershipOf(
    api: string,
    organization: string,
    asked: ReturnType<typeof ask>,
  ): Promise<Claims> {
    try {
      const { state, organization: found } = await client.json(
        asked(`${api}/user/memberships/orgs/${organization}`),
      )
      const { login, id } = (found ?? {}) as { login?: unknown; id?: unknown }
      const isSame = typeof login === 'string' && login.toLowerCase() === organization.toLowerCase()
      const isNumbered = Number.isSafeInteger(id) && Number(id) > 0
      if (state !== 'active' || !isSame || !isNumbered) return {}
      return { organization, organization_id: String(id) }
    } catch (error) {
      // no member, or the organization lets no application ask
      if (error instanceof ProviderProblem && [403, 404].includes(error.status ?? 0)) return {}
      throw error
    }
  }
}

/** GitHub itself, GitHub Enterprise Cloud with data residency, and servers of one's own. */
export function apiOf(issuer: string): string {
  const { host, hostname } = new URL(issuer)
  const isCloud = hostname === 'github.com' || hostname.endsWith('.ghe.com')
  return isCloud ? `https://api.${host}` : `${issuer}/api/v3`
}
