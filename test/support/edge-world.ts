/** One worker's gateway in this process, with real sockets on both sides and sessions of its own. */
import { createGateway } from '../../gateway/gateway.ts'
import { createPortPair } from './port-pair.ts'
import type { ToWorker } from '../../gateway/fleet/relay-messages.ts'
import { systemClock } from '../../shared/clock.ts'
import { seenCookieName } from '../../shared/enforcement/cookies.ts'
import { fingerprintOf } from '../../shared/enforcement/fingerprint.ts'
import { deriveKey, writeSeen } from '../../shared/enforcement/seen.ts'
import type { Report } from '../../gateway/fleet/relay-messages.ts'
import type { Revoked, TenantSnapshot } from '../../shared/fleet/snapshot.ts'
import { createTestLog } from './fleet.ts'
import { snapshotOf } from './fleet-source.ts'
import { newSigningKey, signRs256 } from './tokens.ts'
import { listening } from './wire.ts'
import { rawListener } from './raw-listener.ts'

interface Teardown {
  teardown(close: () => unknown): void
}

export const HOST = 'app.localhost'
export const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
const SEALING_SECRET = 'a client secret of a test tenant'
const KEY = newSigningKey('k1')

export interface SessionOptions {
  readonly sid?: string
  readonly sub?: string
  readonly issuedAgoSeconds?: number
  readonly lifeSeconds?: number
  readonly seenAgoSeconds?: number
}

export type EdgeWorld = Awaited<ReturnType<typeof startEdge>>

export async function startEdge(
  t: Teardown,
  origin: string,
  change: Partial<TenantSnapshot> = {},
  timeouts: { idle?: number; connect?: number; first_byte?: number } = {},
  {
    nowMs = systemClock.nowMs,
    steadyMs: ownSteadyMs = nowMs,
    door,
    ...settings
  }: {
    trustedProxies?: readonly string[]
    accessLogSample?: number
    nowMs?: () => number
    /** Without it both clocks are one. */
    steadyMs?: () => number
    door?: Parameters<typeof createGateway>[0]['door']
  } = {},
) {
  const ports = createPortPair()
  const { log, lines: logged } = createTestLog()
  const lines: Record<string, unknown>[] = []
  let aheadMs = 0
  let wrongByMs = 0
  const clock = {
    nowMs: () => nowMs() + aheadMs + wrongByMs,
    steadyMs: () => ownSteadyMs() + aheadMs,
  }
  const reports: Report[] = []
  const wanted: string[] = []
  const gateway = createGateway({
    settings: {
      timeouts: {
        head: 10_000,
        idle: 60_000,
        keep_alive: 75_000,
        connect: 5000,
        first_byte: 30_000,
        ...timeouts,
      },
      trustedProxies: [],
      fleetKey: 'a fleet key for tests',
      ...settings,
    },
    port: ports.primary,
    ...(door && { door }),
    log,
    clock,
    lines: {
      add: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
      dropped: () => 0,
    },
  })
  ports.worker.onMessage((message) => {
    if (message.type === 'report') reports.push(message.report)
    if (message.type === 'want') wanted.push(message.tenantId)
  })
  const listener = rawListener(gateway.server.accept)
  const port = await listening(listener)
  const tell = (change: ToWorker['change']) => ports.worker.send({ channel: 'tenants', change })
  const { n = '', e = '' } = KEY.publicKey.export({ format: 'jwk' })
  let snapshot = snapshotOf('app', {
    edge_urls: { [HOST]: `http://${HOST}:${port}` },
    origin,
    client_secret: SEALING_SECRET,
    sealed: ['/admin'],
    excluded: ['/health'],
    keys: [{ kid: KEY.kid, kty: 'RSA', alg: 'RS256', use: 'sig', n, e }],
    ...change,
  })
  const put = () =>
    tell({ type: 'tenant', tenantId: 'app', sync: 1, text: JSON.stringify(snapshot) })
  put()
  tell({ type: 'status', status: { isConfigured: true, isDamaged: false } })
  tell({ type: 'complete' })
  await gateway.ready
  t.teardown(async () => {
    listener.close()
    ports.close()
    await gateway.close()
  })

  const nowSeconds = () => Math.floor(clock.nowMs() / 1000)

  return {
    port,
    gateway,
    /** All other lines. */
    logged,
    /** The access log. */
    lines,
    reports,
    url: `ws://127.0.0.1:${port}`,
    edgeUrl: `http://${HOST}:${port}`,
    nowSeconds,
    /** The Cookie header of somebody who is signed in. */
    session(options: SessionOptions = {}): string {
      const { sid = 'sid-1', sub = 'ada', lifeSeconds = 3600, seenAgoSeconds = 0 } = options
      const iat = nowSeconds() - (options.issuedAgoSeconds ?? 0)
      const claims = {
        iss: snapshot.issuer,
        aud: snapshot.client_id,
        sub,
        sid,
        iat,
        exp: iat + lifeSeconds,
        auth_time: iat,
        amr: ['pwd'],
        acr: '1',
        email: 'ada@example.test',
        name: 'Ada',
      }
      const token = signRs256(KEY, { alg: 'RS256', kid: KEY.kid, typ: 'JWT' }, claims)
      const fingerprint = fingerprintOf(USER_AGENT, '127.0.0.1')
      const seen = { seconds: nowSeconds() - seenAgoSeconds, fingerprint }
      const seenText = writeSeen(seen, sid, deriveKey(SEALING_SECRET, 'seen'))
      const isSecure = snapshot.edge_urls[HOST]?.startsWith('https:') === true
      return `service_session=${token}; ${seenCookieName(isSecure)}=${seenText}`
    },
    put(change: Partial<TenantSnapshot>) {
      snapshot = { ...snapshot, ...change, revision: snapshot.revision + 1 }
      put()
    },
    tell,
    /** Tenants that visitors wait for, as the primary hears of them. */
    wanted,
    /** Nobody has asked for the tenant lately. */
    unload: () => tell({ type: 'unload', tenantId: 'app' }),
    /** The primary has what was wanted. */
    load: put,
    remove: () => tell({ type: 'remove', tenantId: 'app' }),
    revoke(revoked: Partial<Revoked>) {
      const whole = { all: 0, subjects: {}, sids: {}, ...revoked }
      tell({ type: 'revoked', tenantId: 'app', revoked: whole })
    },
    /** Time passes, as far as the gateway can tell. */
    pass(seconds: number) {
      aheadMs += seconds * 1000
    },
    /** Somebody sets the clock on the wall. */
    setClock(seconds: number) {
      wrongByMs += seconds * 1000
    },
  }
}
