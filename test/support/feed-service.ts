/**
 * The service as a middleware sees it, on a real socket: feed, keys, events and discovery, with
 * everything that can go wrong. The real control plane is in test/flows.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { seenCookieName } from '../../shared/enforcement/cookies.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { deriveKey, writeSeen } from '../../shared/enforcement/seen.ts'
import type { Revoked } from '../../shared/fleet/snapshot.ts'
import { nothingRevoked } from './fleet-source.ts'
import { freePort } from './ports.ts'
import { newSigningKey, signRs256, type SigningKey } from './tokens.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export const TENANT = 'app'
export const CLIENT_SECRET = 'a client secret of a test tenant'
export const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'

export interface SessionWish {
  readonly sid?: string
  readonly sub?: string
  readonly issuedAgoSeconds?: number
  readonly lifeSeconds?: number
  readonly seenAgoSeconds?: number
  readonly userAgent?: string
  readonly secret?: string
  readonly key?: SigningKey
  /** Over the claims of a good token; `undefined` takes one away. */
  readonly claims?: Record<string, unknown>
}

export type FeedService = Awaited<ReturnType<typeof startFeedService>>

/** To make one takes longer than most of the tests that have a service of this kind. */
let common: SigningKey | undefined

export async function startFeedService(
  t: Teardown,
  change: Record<string, unknown> = {},
  {
    nowMs = Date.now,
    key = (common ??= newSigningKey('k1')),
  }: { nowMs?: () => number; key?: SigningKey } = {},
) {
  const keys = [key]
  const polls: { headers: IncomingHttpHeaders; status: number }[] = []
  const batches: unknown[][] = []
  let tenant: Record<string, unknown> = {
    tenant_id: TENANT,
    name: 'App',
    mode: 'sdk',
    status: 'published',
    protection: 'on',
    licence: 'active',
    licence_blocks_signin: false,
    origin: 'http://app.localhost',
    sealed: ['/admin'],
    excluded: ['/health'],
    health: '/health',
    max_session_seconds: 28_800,
    idle_seconds: 900,
    session_binding: 'off',
    ...change,
  }
  let revoked: Revoked = nothingRevoked()
  let version = 1
  const control = {
    /** Answered to every poll instead of the state, until it is undefined again. */
    feedStatus: undefined as number | undefined,
    eventsStatus: undefined as number | undefined,
    secrets: [CLIENT_SECRET],
    pollSeconds: 1,
    /** The service's clock, as its Date header tells it. */
    aheadMs: 0,
    /** How often a code was to be exchanged; none is good. */
    exchanges: 0,
    exchangeStatus: 400,
  }

  function answerState(request: IncomingMessage) {
    const etag = currentEtag()
    if (!isClient(request)) return { status: 401, headers: { 'www-authenticate': 'Basic' } }
    if (control.feedStatus !== undefined) return { status: control.feedStatus }
    if (request.headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    return {
      status: 200,
      headers: { etag },
      body: { poll_after: control.pollSeconds, tenant, revoked },
    }
  }

  const currentEtag = () => `"v${version}.${control.pollSeconds}"`

  function isClient({ headers }: IncomingMessage): boolean {
    const given = headers.authorization ?? ''
    return control.secrets.some(
      (secret) => given === `Basic ${Buffer.from(`${TENANT}-user:${secret}`).toString('base64')}`,
    )
  }

  async function answerEvents(request: IncomingMessage) {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    if (!isClient(request)) return { status: 401 }
    if (control.eventsStatus !== undefined) return { status: control.eventsStatus }
    const { events } = JSON.parse(Buffer.concat(chunks).toString()) as { events: unknown[] }
    batches.push(events)
    return { status: 200, body: { accepted: events.length, rejected: 0 } }
  }

  async function answer(request: IncomingMessage) {
    switch (request.url) {
      case '/api/v1/enforcement/state': {
        const answered = answerState(request)
        polls.push({ headers: request.headers, status: answered.status })
        return answered
      }
      case '/api/v1/enforcement/events':
        return answerEvents(request)
      case `/tenants/${TENANT}/public-key`:
        return { status: 200, body: { keys: keys.map(jwkOf) } }
      case `/auth/realms/${TENANT}/.well-known/openid-configuration`:
        return { status: 200, body: discovery(issuer) }
      case `/auth/realms/${TENANT}/token`:
        control.exchanges++
        return { status: control.exchangeStatus, body: { error: 'invalid_grant' } }
      default:
        return { status: 404 }
    }
  }

  const server = createServer((request, response) => {
    void answer(request).then(({ status, headers = {}, body }: Answered) => {
      response.setHeader('date', new Date(nowMs() + control.aheadMs).toUTCString())
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === undefined ? undefined : JSON.stringify(body))
    })
  })
  // not an ephemeral one: while it is stopped it could be anybody's
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${port}`
  const issuer = `${baseUrl}/auth/realms/${TENANT}`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const nowSeconds = () => Math.floor((nowMs() + control.aheadMs) / 1000)

  return {
    baseUrl,
    port,
    issuer,
    keys,
    polls,
    batches,
    control,
    nowSeconds,
    /** What `enforce()` needs to be told. */
    options: { baseUrl, tenantId: TENANT, clientSecret: CLIENT_SECRET, onWarning: () => {} },
    put(more: Record<string, unknown>) {
      tenant = { ...tenant, ...more }
      version++
    },
    revoke(more: Partial<Revoked>) {
      revoked = { ...revoked, ...more }
      version++
    },
    /** Settles when so many more polls have been answered, so that what was put is in force. */
    async polled(times = 2): Promise<void> {
      const wanted = polls.length + times
      while (polls.length < wanted) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    /** Settles when each of these instances has said with a poll that it holds the newest state. */
    async acknowledged(instances: readonly string[]): Promise<void> {
      const holds = (instance: string) =>
        polls.some(
          ({ headers }) =>
            headers['x-service-instance'] === instance &&
            headers['if-none-match'] === currentEtag(),
        )
      while (!instances.every(holds)) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    startAgain: () =>
      new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', () => resolve())),
    /** The Cookie header of somebody who is signed in. */
    session(wish: SessionWish = {}): string {
      const { sid = 'sid-1', sub = 'ada', lifeSeconds = 3600, key = keys[0]! } = wish
      const iat = nowSeconds() - (wish.issuedAgoSeconds ?? 0)
      const claims = {
        iss: issuer,
        aud: `${TENANT}-user`,
        sub,
        sid,
        iat,
        exp: iat + lifeSeconds,
        auth_time: iat,
        amr: ['pwd'],
        acr: '1',
        email: 'ada@example.test',
        name: 'Ada',
        ...wish.claims,
      }
      const token = signRs256(key, { alg: 'RS256', kid: key.kid, typ: 'JWT' }, claims)
      const isSecure = String(tenant['origin']).startsWith('https:')
      return `service_session=${token}; ${seenCookieName(isSecure)}=${seenOf({ ...wish, sid })}`
    },
    seenOf,
  }

  function seenOf(wish: SessionWish): string {
    const fingerprint = fingerprintOf(wish.userAgent ?? USER_AGENT, '127.0.0.1')
    const seen = { seconds: nowSeconds() - (wish.seenAgoSeconds ?? 0), fingerprint }
    return writeSeen(seen, wish.sid ?? 'sid-1', deriveKey(wish.secret ?? CLIENT_SECRET, 'seen'))
  }
}

interface Answered {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

function jwkOf({ kid, publicKey }: SigningKey) {
  const { n, e } = publicKey.export({ format: 'jwk' })
  return { kid, kty: 'RSA', alg: 'RS256', use: 'sig', n, e }
}

function discovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/logout`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  }
}
