/**
 * OpenID Connect Back-Channel Logout 1.0: an application that wants to hear that a session has
 * ended is told by a signed token. Noted with the end itself, sent behind it, and again for an
 * hour where the application does not answer; the session is dead at every gateway meanwhile.
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
import { createRounds } from '../concurrency/coalescing-runner.ts'
import {
  claimLogoutNotice,
  deleteLogoutNotice,
  dueLogoutNotices,
  type LogoutNoticeRow,
} from '../store/queries/logout-notices.ts'
import type { Store } from '../store/store.ts'
import { clientIdOf, type Tenants } from '../tenants/tenants.ts'

export type LogoutNotices = ReturnType<typeof createLogoutNotices>

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const TOKEN_SECONDS = 120
const TIMEOUT_MS = 5 * SECOND_MS
const CLAIM_MS = MINUTE_MS
const PAUSES_MS = [1, 4, 15, 40].map((minutes) => minutes * MINUTE_MS)

export interface LogoutNoticesWorld {
  readonly store: Store
  readonly tenants: Pick<Tenants, 'find'>
  readonly keys: Pick<SigningKeys, 'signingSet'>
  readonly baseUrl: string
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

export function createLogoutNotices(world: LogoutNoticesWorld) {
  const { store, tenants, clock, log } = world
  /** Tenants whose application has just let us wait in vain, and until when. */
  const silent = new LRUCache<string, number>({ max: LIMITS.silentListenersMax })
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, pipelining: 0 })
  const rounds = createRounds(sendAll, (error) =>
    log.error({ error }, 'logout notices wait for the next round'),
  )
  store.onCommit(({ revoked }) => {
    if (revoked.size > 0) void rounds.run()
  })

  async function sendAll(isClosed: () => boolean) {
    for (;;) {
      const due = await dueLogoutNotices(store.read, clock.nowMs(), LIMITS.logoutNoticesSentMax)
      if (isClosed()) return
      await Promise.all(due.map(sendSafely))
      if (due.length < LIMITS.logoutNoticesSentMax) return
    }
  }

  /** What cannot even be tried has used up one of its tries. */
  async function sendSafely(row: LogoutNoticeRow) {
    const { tenantId } = row
    await sendOne(row).catch((error: unknown) => log.error({ tenantId, err: error }, 'no notice'))
  }

  async function sendOne(row: LogoutNoticeRow) {
    const { noticeId, tenantId, attempts } = row
    const lease = { attempts: attempts + 1, nextAt: clock.nowMs() + CLAIM_MS }
    if (!(await store.change(({ queries }) => claimLogoutNotice(queries, row, lease)))) return
    const uri = (await tenants.find(tenantId))?.backchannelLogoutUri
    const problem = uri == null ? undefined : await tell(uri, row)
    const pauseMs = problem === undefined ? undefined : PAUSES_MS[attempts]
    if (problem !== undefined)
      log.warn({ tenantId, attempts: lease.attempts, problem }, 'logout notice not taken')
    await store.change(async ({ queries }) => {
      if (pauseMs === undefined) return deleteLogoutNotice(queries, noticeId)
      const later = { attempts: lease.attempts, nextAt: clock.nowMs() + pauseMs }
      await claimLogoutNotice(queries, { noticeId, ...lease }, later)
    })
  }

  async function tell(uri: string, row: LogoutNoticeRow): Promise<string | undefined> {
    const { tenantId } = row
    if ((silent.get(tenantId) ?? 0) > clock.nowMs()) return 'silent'
    const token = await tokenFor(world, row).catch(() => undefined)
    const problem = token === undefined ? 'no signing key' : await post(uri, token)
    // one that hangs is let be for a while, so that it does not hold up everybody else's
    if (problem === undefined) silent.delete(tenantId)
    else if (/TIMEOUT|TimeoutError/i.test(problem)) silent.set(tenantId, clock.nowMs() + MINUTE_MS)
    return problem
  }

  /** What was wrong, in a word. A redirect is wrong: it would lead to who knows where. */
  async function post(uri: string, token: string): Promise<string | undefined> {
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
    send: () => rounds.run(),
    async close(): Promise<void> {
      await rounds.close()
      await agent.destroy()
    },
  }
}

async function tokenFor(
  { keys, baseUrl, clock }: LogoutNoticesWorld,
  { tenantId, userId, sid }: LogoutNoticeRow,
): Promise<string> {
  const { jwks, currentKid } = await keys.signingSet(tenantId)
  const key = jwks.find(({ kid }) => kid === currentKid)
  if (key === undefined) throw new Error(`${tenantId} has no signing key`)
  const now = nowSeconds(clock)
  return new SignJWT({ events: { [EVENT]: {} }, ...(sid !== null && { sid }) })
    .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', kid: key.kid })
    .setIssuer(issuerOf(baseUrl, tenantId))
    .setAudience(clientIdOf(tenantId))
    .setSubject(userId)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .setJti(randomUUID())
    .sign(key)
}
