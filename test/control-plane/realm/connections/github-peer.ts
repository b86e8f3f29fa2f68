/**
 * A server that answers as GitHub's documents say: "Authorizing OAuth apps", and the REST API's
 * "Users", "Emails" and "Organization members". Its base is that of a GitHub Enterprise Server.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { createTestAuthority } from '../../../support/test-certificates.ts'
import { CLIENT } from './provider-peer.ts'

interface GithubPerson {
  readonly user?: Record<string, unknown>
  readonly emails?: unknown
  /** By organization; undefined: no member. */
  readonly memberships?: Readonly<Record<string, unknown>>
  /** Of every membership, where an organization restricts applications. */
  readonly membershipStatus?: number
}

export const OCTOCAT = {
  user: { login: 'octocat', id: 583231, type: 'User', name: 'The Octocat', email: null },
  emails: [
    { email: 'old@company.example', primary: false, verified: true, visibility: null },
    { email: 'octocat@company.example', primary: true, verified: true, visibility: 'private' },
  ],
} satisfies GithubPerson

const HOST = 'github.company.example'

export async function startGithub(t: Test) {
  const authority = createTestAuthority(t)
  const leaf = authority.issue(HOST, [])
  const codes = new Map<string, { person: GithubPerson; challenge: string; redirectUri: string }>()
  const tokens = new Map<string, GithubPerson>()
  const asked: { path: string; userAgent: string | undefined }[] = []

  function tokenOf(body: string) {
    const form = new URLSearchParams(body)
    const code = form.get('code') ?? ''
    const issued = codes.get(code)
    codes.delete(code) // good for one use
    if (
      form.get('client_id') !== CLIENT.clientId ||
      form.get('client_secret') !== CLIENT.clientSecret
    )
      return { error: 'incorrect_client_credentials' }
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isRight = issued?.challenge === challenge.digest('base64url')
    if (!isRight || issued.redirectUri !== form.get('redirect_uri'))
      return {
        error: 'bad_verification_code',
        error_description: 'The code passed is incorrect or expired.',
      }
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, issued.person)
    return { access_token: token, scope: 'read:user,user:email', token_type: 'bearer' }
  }

  function answerTo(path: string, token: string): [number, unknown] {
    const person = tokens.get(token)
    if (person === undefined) return [401, { message: 'Bad credentials' }]
    if (path === '/api/v3/user') return [200, person.user ?? {}]
    if (path === '/api/v3/user/emails?per_page=100') return [200, person.emails ?? []]
    const [, organization] = /^\/api\/v3\/user\/memberships\/orgs\/([\w-]+)$/.exec(path) ?? []
    if (organization === undefined) return [404, { message: 'Not Found' }]
    if (person.membershipStatus !== undefined) return [person.membershipStatus, { message: 'No' }]
    const found = person.memberships?.[organization]
    return found === undefined ? [404, { message: 'Not Found' }] : [200, found]
  }

  const server = createServer(
    { key: leaf.private_key_pem, cert: leaf.certificate_pem },
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const path = request.url ?? ''
        asked.push({ path, userAgent: request.headers['user-agent'] })
        const isToken = path === '/login/oauth/access_token' && request.method === 'POST'
        const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
        const [status, body] = isToken
          ? [200, tokenOf(Buffer.concat(chunks).toString())] // also where it is an error
          : request.headers['user-agent'] === undefined
            ? [403, { message: 'Request forbidden by administrative rules.' }]
            : answerTo(path, token)
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        response.end(JSON.stringify(body))
      })
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `https://${HOST}:${(server.address() as AddressInfo).port}`

  return {
    issuer,
    asked,
    receivers: {
      allowPrivate: ['127.0.0.0/8'],
      egressProxy: null,
      resolve: async () => ['127.0.0.1'],
      ca: authority.caPem,
    },
    /** What it sends a browser back with, once somebody has said yes. */
    signIn(
      authorizeUrl: string,
      person: GithubPerson,
      instead: Record<string, string | null> = {},
    ) {
      const { searchParams: query } = new URL(authorizeUrl)
      const redirectUri = query.get('redirect_uri') ?? ''
      const code = randomBytes(10).toString('hex')
      codes.set(code, { person, challenge: query.get('code_challenge') ?? '', redirectUri })
      const back = new URL(redirectUri)
      for (const [name, value] of Object.entries({ code, state: query.get('state'), ...instead }))
        if (value !== null) back.searchParams.set(name, value)
      return back.href
    },
  }
}
