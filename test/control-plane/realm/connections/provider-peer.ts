/**
 * An identity provider that does what a test wants, over TLS on loopback: the tokens of an honest one,
 * with anything about them changed. Browsers never ask it: tests carry the answer back themselves.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, SignJWT, type JWK, type JWTPayload } from 'jose'
import type { Test } from 'tap'
import { commonAuthority, commonCertificate } from '../../../support/test-certificates.ts'
import { newSigningKey } from '../../../support/tokens.ts'

interface Issued {
  readonly claims: JWTPayload
  readonly challenge: string
  readonly redirectUri: string
}

interface Changes {
  readonly claims?: Record<string, unknown>
  /** Instead of the token that would be issued. */
  readonly idToken?: (claims: JWTPayload) => string | Promise<string>
  readonly header?: Record<string, string>
}

export const CLIENT = { clientId: 'client-of-acme', clientSecret: 'secret of acme: 1+1%' }

export type Peer = Awaited<ReturnType<typeof startPeer>>

export async function startPeer(t: Test, hosts = ['id.company.example']) {
  const [host = ''] = hosts
  const leaf = commonCertificate(host, hosts.slice(1))
  const { privateKey, publicKey } = newSigningKey('one')
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, Issued>()
  const asked: string[] = []
  let changes: Changes = {}
  let document: Record<string, unknown> = {}
  let answer: ((path: string, response: ServerResponse) => boolean) | undefined

  async function respond(path: string, authorization: string, body: string) {
    if (path === '/.well-known/openid-configuration')
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        authorization_response_iss_parameter_supported: true,
        ...document,
      }
    if (path === '/jwks') return { keys: [jwk] }
    if (path !== '/token') return undefined
    const form = new URLSearchParams(body)
    const part = (text: string) => new URLSearchParams({ a: text }).toString().slice(2)
    const basic = `${part(CLIENT.clientId)}:${part(CLIENT.clientSecret)}`
    if (authorization !== `Basic ${Buffer.from(basic).toString('base64')}`) return undefined
    const code = form.get('code') ?? ''
    const issued = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isRight =
      issued?.challenge === challenge.digest('base64url') &&
      issued.redirectUri === form.get('redirect_uri')
    if (!isRight) return undefined
    const claims = withoutNothing({ ...issued.claims, ...changes.claims })
    const header = { alg: 'RS256', kid: 'one', ...changes.header }
    const signed = () => new SignJWT(claims).setProtectedHeader(header).sign(privateKey)
    const idToken = await (changes.idToken ?? signed)(claims)
    return { id_token: idToken, access_token: 'of-the-person', token_type: 'Bearer' }
  }

  const server = createTlsServer(
    { key: leaf.private_key_pem, cert: leaf.certificate_pem },
    (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const path = request.url ?? ''
        asked.push(path)
        if (answer?.(path, response) === true) return
        const { authorization = '' } = request.headers
        void respond(path, authorization, Buffer.concat(chunks).toString()).then((found) => {
          response.writeHead(found === undefined ? 400 : 200, {
            'content-type': 'application/json',
          })
          response.end(JSON.stringify(found ?? { error: 'invalid_grant' }))
        })
      })
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const issuer = `https://${host}:${port}`

  return {
    issuer,
    port,
    jwk,
    privateKey,
    asked,
    receivers: {
      allowPrivate: ['127.0.0.0/8'],
      egressProxy: null,
      resolve: async () => ['127.0.0.1'],
      ca: commonAuthority().caPem,
    },
    /** From now on. */
    change: (wanted: Changes) => void (changes = wanted),
    publish: (wanted: Record<string, unknown>) => void (document = wanted),
    answerWith: (wanted: typeof answer) => void (answer = wanted),
    /** What an honest provider sends a browser back with, once it has signed somebody in. */
    signIn(authorizeUrl: string, person: JWTPayload, instead: Record<string, string | null> = {}) {
      const { searchParams: query } = new URL(authorizeUrl)
      const [redirectUri, state] = [query.get('redirect_uri') ?? '', query.get('state') ?? '']
      const now = Math.floor(Date.now() / 1000)
      const code = randomBytes(16).toString('hex')
      const about = { iss: issuer, aud: query.get('client_id') ?? '', iat: now, exp: now + 300 }
      const claims = { ...about, nonce: query.get('nonce'), ...person } as JWTPayload
      codes.set(code, { claims, challenge: query.get('code_challenge') ?? '', redirectUri })
      const back = new URL(redirectUri)
      for (const [name, value] of Object.entries({ code, state, iss: issuer, ...instead }))
        if (value !== null) back.searchParams.set(name, value)
      return back.href
    },
  }
}

const withoutNothing = (claims: Record<string, unknown>): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
