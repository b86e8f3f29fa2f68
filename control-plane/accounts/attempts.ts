/**
 * Every attempt to sign in, judged and recorded in one change: whoever guesses in many requests at
 * once is judged one after the other, so that lockout counts each of them.
 */
import { randomUUID } from 'node:crypto'
import { countedWidelyAs } from '../../shared/client-address.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../shared/clock.ts'
import { LIMITS } from '../../shared/limits.ts'
import type { Vault } from '../keys/vault.ts'
import { ofSignIn, tally } from '../monitoring/outcomes.ts'
import { LOCKOUT_MEMORY_SECONDS, pausedUntil, siteFailuresMax } from '../policy/lockout.ts'
import type { LockoutPolicy, Policies } from '../policy/policies.ts'
import { asRecorded, besideSignIn } from '../policy/device.ts'
import { isBreakGlass } from '../policy/password.ts'
import { judge, type RecordedState, type SignInState } from '../policy/sign-in.ts'
import type { AttemptReason, SignInFacts } from '../policy/verdict.ts'
import {
  addressesOfUser,
  countRepeated,
  deleteSignInsBefore,
  failuresOfAddress,
  failuresOfLogin,
  failuresOfSite,
  findAddressBlock,
  insertSignIn,
  mayRepeat,
  upsertAddressBlock,
  wasRefusedSince,
} from '../store/queries/attempts.ts'
import { addFiguresOf } from '../store/queries/figures.ts'
import {
  failedLately,
  lastSignInOf,
  newestSignInsOf,
  type SignInRow,
} from '../store/queries/sign-ins.ts'
import { requireTenant } from '../store/queries/tenants.ts'
import { findUser, isTrialId, updateUser } from '../store/queries/users.ts'
import { CONSOLE_REALM } from '../store/reserved.ts'
import type { Queries } from '../store/engine.ts'
import { pruneWith } from '../store/statements.ts'
import type { Actor, Store, TenantChange } from '../store/store.ts'
import { fold } from './login-keys.ts'
import type { User } from './users.ts'

/** Who tries, and from where. */
export interface Attempt {
  readonly tenantId: string
  /** Who it is about: the account that the login names; undefined where nobody has it. */
  readonly userId: string | undefined
  readonly loginHash: string
  readonly ip: string
  /** What lockout counts the address as. */
  readonly countedAs: string
  readonly userAgent: string
}

/** What is known without looking at earlier failures. */
export type OwnFacts = Omit<SignInFacts, 'failures'>

/** How far back an address makes a network known. */
const NETWORK_MEMORY_MS = 35 * DAY_MS
/** A program that keeps knocking is one event a minute. */
const DENIED_AGAIN_MS = MINUTE_MS
const MEMORY_MS = LOCKOUT_MEMORY_SECONDS * SECOND_MS

/** Why a person came in, or did not, as it was written down. */
export type PastAttempt = Readonly<
  Pick<SignInRow, 'signInId' | 'at' | 'ip' | 'userAgent' | 'outcome' | 'reason' | 'repeated'>
>

export type Attempts = ReturnType<typeof createAttempts>

export function createAttempts({
  store,
  vault,
  clock,
}: {
  readonly store: Store
  readonly vault: Pick<Vault, 'hash'>
  readonly clock: Clock
}) {
  /** Only hashed, because people type passwords into the field for names. */
  function loginHash(tenantId: string, who: { userId: string } | { login: string }): string {
    const name = 'userId' in who ? `user/${who.userId}` : `login/${fold(who.login)}`
    return vault.hash(`sign_ins/${tenantId}/${name}`)
  }

  async function failuresOf(queries: Queries, attempt: Attempt, isKnownDevice: boolean) {
    const { tenantId } = attempt
    const sinceMs = clock.nowMs() - MEMORY_MS
    const most = LIMITS.failuresLookedAtMax
    const sinceLiftedMs = async (address: string) =>
      Math.max(sinceMs, (await findAddressBlock(queries, tenantId, address))?.liftedAt ?? 0)
    const addressSinceMs = await sinceLiftedMs(attempt.countedAs)
    const site = siteOf(attempt)
    const userSinceMs = Math.max(sinceMs, await unlockedAtOf(queries, attempt))
    return {
      user: toSeconds(
        await failuresOfLogin(queries, { ...attempt, isKnownDevice }, userSinceMs, most),
      ),
      address: toSeconds(await failuresOfAddress(queries, attempt, addressSinceMs, most)),
      site:
        site === null
          ? []
          : toSeconds(
              await failuresOfSite(queries, { tenantId, site }, await sinceLiftedMs(site), most),
            ),
    }
  }

  /** With the events and figures that follow from it. */
  async function record(
    change: TenantChange,
    attempt: Attempt,
    known: SignInFacts,
    state: RecordedState,
    policies: Policies,
  ): Promise<void> {
    const { failures: _counted, ...facts } = known
    const { queries, nowMs } = change
    await requireTenant(queries, attempt.tenantId)
    const isTrial = attempt.userId !== undefined && isTrialId(attempt.userId)
    const isIn = state.kind === 'signed_in'
    const note = isIn && !isTrial ? besideSignIn(known, policies) : undefined
    const reason = isIn ? (note ?? 'signed_in') : state.reason
    const row = {
      ...attempt,
      signInId: randomUUID(),
      site: siteOf(attempt),
      at: nowMs,
      userId: attempt.userId ?? null,
      ip: attempt.ip.slice(0, LIMITS.addressTextMax),
      userAgent: attempt.userAgent.slice(0, LIMITS.userAgentTextMax),
      isFailure: state.kind === 'asking' && isFailed(facts, state),
      isKnownDevice: facts.device.isKnown,
      outcome: OUTCOMES[state.kind],
      reason,
      facts: asRecorded(facts, policies),
    }
    const before = await wasRefusedSince(queries, row, nowMs - DENIED_AGAIN_MS)
    const isNews = before === undefined
    if (state.kind === 'refused' && before?.isFromThere && mayRepeat(reason))
      await countRepeated(queries, before.signInId)
    else await insertSignIn(queries, row)
    if (row.isFailure) await blockAddress(change, attempt, known, policies)
    if (isTrial) return // nobody's news
    if (isIn && attempt.userId !== undefined)
      await updateUser(queries, attempt.tenantId, attempt.userId, { lastSignInAt: nowMs })
    const begun = row.isFailure ? begunPauses(known, policies) : []
    if (begun.includes('user_paused')) await notePause(change, attempt, known, policies)
    const figures = tally(ofSignIn(state, row.isFailure, begun, note))
    await addFiguresOf(queries, 'realm', nowMs, attempt.tenantId, figures)
    if (note === 'device_break_glass') await noteBreakGlass(change, attempt, 'device')
    if (isIn && isBreakGlass(known, policies)) await noteBreakGlass(change, attempt, 'password')
    const data = { ...(attempt.userId && { subject: attempt.userId }), reason, ip: row.ip }
    if (state.kind === 'refused' && isNews)
      await change.emit('signin.denied', attempt.tenantId, data)
    if (reason === 'second_factor_needed' || reason === 'enrolment_needed')
      await change.emit('signin.step_up', attempt.tenantId, data)
  }

  /**
   * Until when lockout sends this account away, for whoever looks at it; undefined: it does not.
   * Failures count for the name that was typed, so each name of the account is looked at.
   */
  async function pauseOf(
    { tenantId, userId, username, email, unlockedAt }: User,
    { lockout }: Pick<Policies, 'lockout'>,
  ): Promise<number | undefined> {
    const nowMs = clock.nowMs()
    const sinceMs = Math.max(nowMs - MEMORY_MS, unlockedAt ?? 0)
    const names = [{ userId }, { login: username }, { login: email }]
    const hashes = new Set(names.map((name) => loginHash(tenantId, name)))
    const keys = [...hashes].flatMap((hash) =>
      [true, false].map((isKnownDevice) => ({ tenantId, loginHash: hash, isKnownDevice })),
    )
    const ends = keys.map(async (key) => {
      const most = LIMITS.failuresLookedAtMax
      const times = toSeconds(await failuresOfLogin(store.read, key, sinceMs, most))
      return pausedUntil(times, lockout.user_failures, lockout) * SECOND_MS
    })
    const untilMs = Math.max(...(await Promise.all(ends)))
    return untilMs > nowMs ? untilMs : undefined
  }

  return {
    loginHash,

    /** What would be decided now, without recording it. */
    async preview(attempt: Attempt, facts: OwnFacts, policies: Policies): Promise<SignInState> {
      return judge(await withFailures(store.read, attempt, facts), policies)
    },

    withFailures,

    /**
     * Judges and records in the change of its caller, with the events that follow from it. The
     * failures are read in here: what others did meanwhile counts.
     */
    async settle(
      change: TenantChange,
      attempt: Attempt,
      facts: OwnFacts,
      policies: Policies,
    ): Promise<SignInState> {
      const known = await withFailures(change.queries, attempt, facts)
      const state = judge(known, policies)
      await record(change, attempt, known, state, policies)
      return state
    },

    /** Whom all policies let in, and who has come too often: the person and administrators see it. */
    async refuseTooMany(attempt: Attempt, facts: OwnFacts, policies: Policies): Promise<void> {
      const known = { ...facts, failures: { user: [], address: [], site: [] } } // none of them matters
      const state = { kind: 'refused', reason: 'too_many_sign_ins' } as const
      await store.changeOf(attempt.tenantId, (change) =>
        record(change, attempt, known, state, policies),
      )
    },

    pauseOf,

    /** Which of them, or of all who have failed lately, are locked, and until when. */
    async pausesOf(
      tenantId: string,
      policies: Pick<Policies, 'lockout'>,
      among?: readonly string[],
    ): Promise<ReadonlyMap<string, number>> {
      const sinceMs = clock.nowMs() - MEMORY_MS
      const most = LIMITS.lockedUsersListedMax
      const userIds = await failedLately(store.read, tenantId, sinceMs, among, most)
      const each = userIds.map(async (userId) => {
        const user = await findUser(store.read, tenantId, userId)
        const untilMs = user && (await pauseOf(user, policies))
        return untilMs === undefined ? [] : [[userId, untilMs] as const]
      })
      return new Map((await Promise.all(each)).flat())
    },

    /** The newest first. */
    async newestOf(tenantId: string, userId: string): Promise<readonly PastAttempt[]> {
      return newestSignInsOf(store.read, tenantId, userId, LIMITS.signInsListedMax)
    },

    /** undefined: not lately, or never. */
    lastSignInOf: (tenantId: string, userId: string) => lastSignInOf(store.read, tenantId, userId),

    /** From which addresses the person has signed in lately. */
    async addressesOf(tenantId: string, userId: string): Promise<string[]> {
      const sinceMs = clock.nowMs() - NETWORK_MEMORY_MS
      return addressesOfUser(store.read, tenantId, userId, sinceMs, LIMITS.knownAddressesMax)
    },

    prune: pruneWith(store, deleteSignInsBefore, LIMITS.signInKeptMs),
  }

  async function withFailures(
    queries: Queries,
    attempt: Attempt,
    facts: OwnFacts,
  ): Promise<SignInFacts> {
    const failures = await failuresOf(queries, attempt, facts.device.isKnown)
    return { ...facts, failures }
  }
}

const OUTCOMES = { asking: 'asking', refused: 'refused', signed_in: 'signed_in' } as const

/** What is answered like a wrong password counts like one: else the count would tell them apart. */
function isFailed({ password, proof }: OwnFacts, { reason }: { reason: AttemptReason }): boolean {
  if (password === 'wrong' || password === 'right_but_disabled' || proof === 'wrong') return true
  if (password === 'mail_wrong') return true
  return reason === 'connection_required'
}

/** The pauses that a failure begins. */
function begunPauses({ failures, at }: SignInFacts, { lockout }: Policies): AttemptReason[] {
  const isBegun = (before: readonly number[], most: number) =>
    pauseBegunBy(at, before, most, lockout) !== undefined
  const begun: AttemptReason[] = []
  const isOfAddress = isBegun(failures.address, lockout.address_failures)
  if (isOfAddress || isBegun(failures.site, siteFailuresMax(lockout))) begun.push('address_blocked')
  if (isBegun(failures.user, lockout.user_failures)) begun.push('user_paused')
  return begun
}

const LOCKOUT: Actor = { name: 'lockout', requestId: '' }

/** Somebody guesses at who runs the service: the others see it where they see what is changed. */
async function notePause(
  change: TenantChange,
  { tenantId, userId, ip }: Attempt,
  { failures, at }: SignInFacts,
  { lockout }: Policies,
) {
  if (tenantId !== CONSOLE_REALM || userId === undefined) return
  const times = [...failures.user, at]
  const untilMs = pausedUntil(times, lockout.user_failures, lockout) * SECOND_MS
  const until = new Date(untilMs).toISOString()
  const content = { user_id: userId, address: ip.slice(0, LIMITS.addressTextMax), until }
  await change.audit(LOCKOUT, { action: 'console.account_locked', content })
}

/** Somebody came in without the device that everybody else has to show, or with a password. */
async function noteBreakGlass(
  change: TenantChange,
  { tenantId, userId = '', ip }: Attempt,
  what: 'device' | 'password',
) {
  const content = { user_id: userId, address: ip.slice(0, LIMITS.addressTextMax) }
  await change.audit(
    { name: userId, requestId: '' },
    { action: `${what}.break_glass_used`, tenantId, content },
  )
}

/** Its end, where this failure begins one: in a browser that is known, a site's may be under way. */
function pauseBegunBy(
  at: number,
  before: readonly number[],
  most: number,
  lockout: LockoutPolicy,
): number | undefined {
  const until = pausedUntil([...before, at], most, lockout)
  return until > at && pausedUntil(before, most, lockout) <= at ? until : undefined
}

/** The failure that fills a count begins a block, which operators can see and lift. */
async function blockAddress(
  { queries, nowMs }: TenantChange,
  attempt: Attempt,
  { failures, at }: SignInFacts,
  { lockout }: Policies,
) {
  const { tenantId, countedAs } = attempt
  const counts = [
    [countedAs, failures.address, lockout.address_failures],
    [siteOf(attempt), failures.site, siteFailuresMax(lockout)],
  ] as const
  for (const [address, before, most] of counts) {
    const until = pauseBegunBy(at, before, most, lockout)
    if (address === null || until === undefined) continue
    const blockedUntil = until * SECOND_MS
    const count = before.length + 1
    const block = { tenantId, address, failures: count, createdAt: nowMs, blockedUntil }
    await upsertAddressBlock(queries, block)
  }
}

/** null where the address is all that there is to count, as with IPv4. */
function siteOf({ ip }: Pick<Attempt, 'ip'>): string | null {
  const site = countedWidelyAs(ip)
  return site === ip ? null : site
}

/** What a guesser has failed at before an administrator looked into it is over. Nobody is looked for, too. */
async function unlockedAtOf(queries: Queries, { tenantId, userId = '' }: Attempt): Promise<number> {
  return (await findUser(queries, tenantId, userId))?.unlockedAt ?? 0
}

const toSeconds = (times: readonly number[]) => times.map((ms) => Math.floor(ms / SECOND_MS))
