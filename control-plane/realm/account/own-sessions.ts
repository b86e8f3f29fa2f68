/**
 * What a gateway asks for `/service/me`: the sessions and devices of whoever holds this token, and
 * to end one of them. It shows two things: the client's own secret, and a token that any gateway
 * would take. Nobody is named but by that token, so nothing of another person can be reached.
 */
import { createPublicKey } from 'node:crypto'
import { nowSeconds } from '../../../shared/clock.ts'
import { DEVICE_FACTS } from '../../../shared/device/facts.ts'
import { judgeTimes, proveToken, type TokenClaims } from '../../../shared/enforcement/token.ts'
import { browserName } from '../../accounts/browser-name.ts'
import type { EnrolledDevice } from '../../devices/enrolled-device.ts'
import { noteGood } from '../../listener/known-credentials.ts'
import { notBeforeOf } from '../../store/queries/revocations.ts'
import { readForm } from '../../http/form.ts'
import { requestIdOf } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { endingOwn } from './own-endings.ts'

const PATH = '/own-sessions'

const REFUSALS = {
  invalid_client: { status: 401, detail: 'Give the client’s id and secret by HTTP Basic.' },
  invalid_request: {
    status: 400,
    detail:
      'Send a form with session_token, and end_sid, end_device or end_machine where one is to end.',
  },
  session_invalid: { status: 403, detail: 'The session of this token does not hold.' },
  session_or_device_not_found: {
    status: 404,
    detail: 'The person has no such session or device.',
  },
} as const

export function ownSessions(realm: Realm, world: RealmWorld) {
  const { tenant, clientId, issuer, provider } = realm
  const { tenantId } = tenant
  const { store, keys, users, sessions, devices, enrolledDevices, clock } = world
  const ending = endingOwn(realm, world)

  return async function answer(ctx: RealmContext, next: () => Promise<unknown>) {
    if (ctx.path !== PATH || ctx.method !== 'POST') return next()
    if (!(await isOurClient(ctx.get('authorization')))) {
      ctx.set('WWW-Authenticate', 'Basic realm="own-sessions"')
      return refuse(ctx, 'invalid_client')
    }
    noteGood(ctx.req)
    const form = await readForm(ctx.req)
    if (form.kind === 'refused') return refuse(ctx, 'invalid_request')
    const token = form.fields.get('session_token')
    const sid = form.fields.get('end_sid')
    const browserId = form.fields.get('end_device')
    const deviceId = form.fields.get('end_machine')
    const ends = [sid, browserId, deviceId].filter((one) => one !== undefined)
    if (token === undefined || ends.length > 1) return refuse(ctx, 'invalid_request')
    const claims = await holderOf(token)
    if (claims === undefined) return refuse(ctx, 'session_invalid')
    const by = [claims.sub, ends[0] ?? '', requestIdOf(ctx)] as const
    const isEnded =
      ends.length === 0 ||
      (sid !== undefined && (await ending.endSession(...by))) ||
      (browserId !== undefined && (await ending.forgetDevice(...by))) ||
      (deviceId !== undefined && (await ending.removeMachine(...by)))
    if (!isEnded) return refuse(ctx, 'session_or_device_not_found')
    ctx.status = 200
    ctx.body = await listOf(claims)
  }

  async function isOurClient(authorization: string): Promise<boolean> {
    const encoded = /^Basic ([A-Za-z0-9+/=]{1,2000})$/i.exec(authorization)?.[1]
    const client = await provider.Client.find(clientId)
    if (encoded === undefined || client === undefined) return false
    const given = Buffer.from(encoded, 'base64').toString('utf8')
    const own = `${clientId}:`
    return given.startsWith(own) && (await client.compareClientSecret(given.slice(own.length)))
  }

  /** The token is judged as at any gateway, and the store is asked besides. */
  async function holderOf(token: string): Promise<TokenClaims | undefined> {
    const { jwks } = await keys.signingSet(tenantId)
    const trusted = jwks.map((key) => {
      const { kty, n, e } = key as unknown as { kty: 'RSA'; n: string; e: string }
      return [key.kid, createPublicKey({ key: { kty, n, e }, format: 'jwk' })] as const
    })
    const trust = { issuer, audience: clientId, keys: new Map(trusted) }
    const claims = proveToken(token, trust)
    if (typeof claims === 'string') return undefined
    if (judgeTimes(claims, nowSeconds(clock), tenant.maxSessionSeconds) !== undefined)
      return undefined
    const { sub, sid, iat } = claims
    if (iat < (await notBeforeOf(store.read, tenantId, sub, sid))) return undefined
    const session = await sessions.find(tenantId, sid)
    if (session?.userId !== sub || session.endedAt !== null) return undefined
    const user = await users.find(tenantId, sub)
    return user === undefined || user.isDisabled ? undefined : claims
  }

  async function listOf({ sub, sid }: TokenClaims) {
    const own = await sessions.listAliveOf(tenantId, sub)
    const known = await devices.list(tenantId, sub)
    const enrolled = await enrolledDevices.ofPerson(tenantId, sub)
    return {
      sessions: own.map((session) => ({
        sid: session.sid,
        current: session.sid === sid,
        browser: browserName(session.userAgent),
        ip: session.ip,
        started_at: iso(session.createdAt),
        last_seen_at: iso(session.lastSeenAt),
      })),
      devices: known.map((device) => ({
        device_id: device.deviceId,
        browser: browserName(device.userAgent),
        ip: device.ip,
        first_seen_at: iso(device.createdAt),
        last_seen_at: iso(device.lastSeenAt),
      })),
      machines: enrolled.filter(({ state }) => state !== 'revoked').map(machineView),
      account_url: `${issuer}/account`,
    }
  }
}

function machineView({ deviceId, hostname, platform, state, seenAt, posture }: EnrolledDevice) {
  const facts = DEVICE_FACTS.flatMap((fact) => {
    const found = posture?.facts[fact]
    return found === undefined ? [] : [{ fact, value: found.value, reason: found.reason }]
  })
  const last_seen_at = iso(seenAt)
  return { device_id: deviceId, hostname, platform, state, last_seen_at, facts }
}

function refuse(ctx: RealmContext, error: keyof typeof REFUSALS) {
  const { status, detail } = REFUSALS[error]
  ctx.status = status
  ctx.body = { error, detail }
}

const iso = (ms: number) => new Date(ms).toISOString()
