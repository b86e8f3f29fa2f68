/**
 * OpenID Connect Back-Channel Logout 1.0: an application that wants to hear that a session has
 * ended is told by a signed token. Noted with the end itself, sent behind it, tenants in turn, and
 * again for an hour where the application does not take it; the session is dead at every gateway
 * meanwhile. An application that is slow holds up nobody else's notices.
 */
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { Agent } from 'undici'
import { issuerOf } from '../../shared/issuer.ts'
import { MINUTE_MS, SECOND_MS, nowSeconds, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { createDueRotation } from '../concurrency/due-rotation.ts'
import { checkedAgent, type OutboundWorld } from '../outbound/checked-connect.ts'
import { createEdgeLookup } from '../outbound/edge-lookup.ts'
import { bringLogoutNoticesBack } from '../store/queries/ahead-of-time.ts'
import {
  claimLogoutNotice,
  deleteLogoutNotice,
  nextDueLogoutNotice,
  tenantsWithDueLogoutNotices,
  type LogoutListeners,
  type LogoutNoticeRow,
} from '../store/queries/logout-notices.ts'
import { findRealmClient } from '../store/queries/realm-clients.ts'
import type { Store } from '../store/store.ts'
import { clientIdOf, type Tenants } from '../tenants/tenants.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const TOKEN_SECONDS = 120
const TIMEOUT_MS = 5 * SECOND_MS
const SLOW_MS = SECOND_MS
/** So long an application that was slow is not asked for more than it can do. */
const SLOW_FOR_MS = MINUTE_MS
const CLAIM_MS = MINUTE_MS
const PAUSES_MS = [1, 4, 15, 40].map((minutes) => minutes * MINUTE_MS)

interface LogoutNoticesWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'find'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  /** How hosts that tenants have named are reached. */
  readonly receivers: OutboundWorld
  readonly baseUrl: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

interface Listener {
  readonly uri: string
  readonly agent: Agent
}

export function createLogoutNotices(world: LogoutNoticesWorld) {
  const { store, tenants, clock, log } = world
  const slow = { own: slowListeners(), others: slowListeners() }
  const agent = new Agent({
    connect: { timeout: TIMEOUT_MS, lookup: createEdgeLookup() },
    pipelining: 0,
  })
  const guarded = checkedAgent(
    { ...world.receivers, timeoutMs: TIMEOUT_MS },
    { connections: LIMITS.logoutNoticesSentMax, pipelining: 0 },
  )
  /** An application that somebody else runs holds up the tenant's own by nothing. */
  const rotations = [rotationOf('own'), rotationOf('others')]
  const deliver = async () => void (await Promise.all(rotations.map((one) => one.deliver())))
  store.onCommit(({ revoked, isFromLog }) => {
    if (revoked.size > 0 && !isFromLog) void deliver()
  })

  function rotationOf(listeners: LogoutListeners) {
    return createDueRotation<LogoutNoticeRow>({
      underWayMax: LIMITS.logoutNoticesSentMax,
      underWayMaxOf(tenantId) {
        const pace = slow[listeners].get(tenantId)
        if (pace === undefined || pace.untilMs <= clock.steadyMs())
          return LIMITS.logoutNoticesPerTenantMax
        return pace.underWayMax
      },
      async tenantsWithDue() {
        await bringLogoutNoticesBack(store, clock.nowMs())
        return tenantsWithDueLogoutNotices(store.read, clock.nowMs())
      },
      nextOf: (tenantId) => nextDueLogoutNotice(store.read, tenantId, listeners, clock.nowMs()),
      claim,
      onError: (error) => log.error({ error }, 'logout notices wait for the next round'),
    })
  }

  async function claim(row: LogoutNoticeRow) {
    const { noticeId, tenantId, createdAt, attempts } = row
    if (createdAt + LIMITS.logoutNoticeKeptMs <= clock.nowMs()) {
      log.warn(
        { tenant_id: tenantId },
        'logout notice given up: the application was too slow for too long',
      )
      return store.change(async ({ queries }) => {
        await deleteLogoutNotice(queries, noticeId)
        return undefined
      })
    }
    const writtenAt = clock.nowMs()
    const lease = { attempts: attempts + 1, nextAt: writtenAt + CLAIM_MS, writtenAt }
    const isOurs = await store.change(({ queries }) =>
      claimLogoutNotice(queries, row.noticeId, row.nextAt, lease),
    )
    return isOurs ? () => sendOne({ ...row, ...lease }) : undefined
  }

  async function sendOne(row: LogoutNoticeRow) {
    const { noticeId, tenantId, attempts } = row
    const listener = await listenerOf(row)
    const problem = listener === undefined ? undefined : await tell(listener, row)
    const pauseMs = problem === undefined ? undefined : PAUSES_MS[attempts - 1]
    if (problem !== undefined)
      log.warn({ tenant_id: tenantId, attempts, problem }, 'logout notice not taken')
    await store.change(async ({ queries }) => {
      if (pauseMs === undefined) return deleteLogoutNotice(queries, noticeId)
      const writtenAt = clock.nowMs()
      const later = { attempts, nextAt: writtenAt + pauseMs, writtenAt }
      await claimLogoutNotice(queries, row.noticeId, row.nextAt, later)
    })
  }

  /** The tenant's own application is where the tenant is; another one is somewhere that a tenant has named. */
  async function listenerOf({ tenantId, clientId }: LogoutNoticeRow) {
    const own = clientId === null ? await tenants.find(tenantId) : undefined
    const other =
      clientId === null ? undefined : await findRealmClient(store.read, tenantId, clientId)
    const uri = (own ?? other)?.backchannelLogoutUri
    return uri == null ? undefined : { uri, agent: other === undefined ? agent : guarded }
  }

  async function tell({ uri, agent }: Listener, row: LogoutNoticeRow): Promise<string | undefined> {
    const token = await tokenFor(world, row).catch(() => undefined)
    if (token === undefined) return 'no signing key'
    const startedMs = clock.steadyMs()
    const problem = await post(agent, uri, token)
    learn(row, problem === undefined, clock.steadyMs() - startedMs)
    return problem
  }

  /** One that takes long and takes it gets one at a time; one that takes long for nothing, none. */
  function learn({ tenantId, clientId }: LogoutNoticeRow, isTaken: boolean, tookMs: number) {
    const ofItsKind = clientId === null ? slow.own : slow.others
    if (tookMs > SLOW_MS) {
      const untilMs = clock.steadyMs() + SLOW_FOR_MS
      ofItsKind.set(tenantId, { underWayMax: isTaken ? 1 : 0, untilMs })
    } else if (isTaken) ofItsKind.delete(tenantId)
  }

  /** What was wrong, in a word. A redirect is wrong: it would lead to who knows where. */
  async function post(agent: Agent, uri: string, token: string): Promise<string | undefined> {
    try {
      const { origin, pathname, search } = new URL(uri)
      const answer = await agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'user-agent': 'Service-Logout/1',
        },
        body: new URLSearchParams({ logout_token: token }).toString(),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.body.dump({ limit: LIMITS.probeBodyBytesMax }).catch(() => {})
      const { statusCode } = answer
      return statusCode === 200 || statusCode === 204 ? undefined : `status ${statusCode}`
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? (error as Error).name
    }
  }

  return {
    /** Everything that is due; what waits for an application that is slow stays for later. */
    send: deliver,
    async close(): Promise<void> {
      await Promise.all(rotations.map((one) => one.close()))
      await Promise.all([agent.destroy(), guarded.destroy()])
    },
  }
}

/** Tenants whose application was slow just now: how many it gets at once, and until when. */
const slowListeners = () =>
  new LRUCache<string, { readonly underWayMax: 0 | 1; readonly untilMs: number }>({
    max: LIMITS.slowListenersMax,
  })

async function tokenFor(
  { keys, baseUrl, clock }: LogoutNoticesWorld,
  { tenantId, userId, sid, clientId }: LogoutNoticeRow,
): Promise<string> {
  const { jwks, currentKid } = await keys.signingSet(tenantId)
  const key = jwks.find(({ kid }) => kid === currentKid)
  if (key === undefined) throw new Error(`${tenantId} has no signing key`)
  const now = nowSeconds(clock)
  return new SignJWT({ events: { [EVENT]: {} }, ...(sid !== null && { sid }) })
    .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', kid: key.kid })
    .setIssuer(issuerOf(baseUrl, tenantId))
    .setAudience(clientId ?? clientIdOf(tenantId))
    .setSubject(userId)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .setJti(randomUUID())
    .sign(key)
}
