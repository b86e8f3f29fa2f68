/** What is known about one attempt, gathered for the policies. */
import { nowSeconds, SECOND_MS } from '../../../shared/clock.ts'
import { isSameNetwork } from '../../../shared/enforcement/fingerprint.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Attempt, OwnFacts } from '../../accounts/attempts.ts'
import type { User } from '../../accounts/users.ts'
import { judgedDeviceIn, lastDeviceOf } from '../../devices/judged-device.ts'
import { complianceOf } from '../../policy/device.ts'
import type { Policies } from '../../policy/policies.ts'
import type { PasswordFact } from '../../policy/verdict.ts'
import type { Queries } from '../../store/engine.ts'
import { demandedIn } from '../../tenants/policies.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import type { AttemptState } from './attempt-state.ts'
import type { DeviceView } from './outcome.ts'
import { wantsSecondFactor, type Caller, type BrowserSignIn } from './browser-sign-in.ts'

/** With this browser's own; nobody keeps more. */
const COUNTED = LIMITS.sessionsPerPersonMax + 1

export function factsAbout(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { store, attempts, devices, factors, sessions, clock } = world

  return {
    /**
     * Failures count for what was typed: if two names of one account shared a count, it would tell
     * that there is such an account. A tenant's own database may know people by any number of
     * names, so there they count for the account: `subject`, also before its first sign-in.
     */
    attemptOf(
      caller: Caller,
      who: { user: User | undefined; login: string; subject?: string | undefined },
    ): Attempt {
      const { user, login } = who
      const userId = user?.userId
      const counted = who.subject ?? (user?.source === 'directory' ? user.userId : undefined)
      const loginHash = attempts.loginHash(
        tenantId,
        counted === undefined ? { login } : { userId: counted },
      )
      const { ip, countedAs, userAgent } = caller
      return { tenantId, userId, loginHash, ip, countedAs, userAgent }
    },

    /** Asks the store the same about somebody who does not exist: neither shows in the time. */
    async ownFacts(
      ctx: RealmContext,
      signIn: BrowserSignIn,
      caller: Caller,
      user: User | undefined,
      password: PasswordFact,
    ): Promise<OwnFacts> {
      const userId = user?.userId
      const owner = { tenantId, userId: userId ?? '' }
      const isKnown = await devices.isKnown(tenantId, userId, caller.deviceTokens)
      const addresses = await attempts.addressesOf(tenantId, owner.userId)
      const own = await ownSid(ctx, userId)
      const alive = await sessions.aliveOf(tenantId, owner.userId, COUNTED)
      const last = await lastDeviceOf(store.read, tenantId, owner.userId)
      const demanded = await demandedIn(store.read, tenantId)
      const isConnecting = userId !== undefined && caller.linkFor(signIn.uid)?.userId === userId
      return {
        at: nowSeconds(clock),
        address: caller.ip === '' ? null : caller.ip,
        password,
        passwordChangedAt: passwordChangedAt(user),
        device: {
          isKnown,
          isNetworkKnown: addresses.some((address) => isSameNetwork(address, caller.ip)),
          last,
          demanded,
        },
        ...(userId !== undefined && { userId }),
        ...(user?.source === 'trial' && { isTrial: true }),
        ...(isConnecting && { isConnecting }),
        factors: await factors.kindsOf(owner),
        isFactorRequired: user?.isFactorRequired ?? false,
        proof: 'none',
        isStepUp: wantsSecondFactor(signIn.interaction.params?.acr_values),
        // This browser's own session makes room for the one that begins
        sessions: alive.filter((sid) => sid !== own).length,
      }
    },

    ownSid,

    /** What the sign-in knows of its machine, as that is now: in a change, as it is in there. */
    async withDevice(
      facts: OwnFacts,
      state: Pick<
        AttemptState,
        'device' | 'isDeviceWarned' | 'byMail' | 'upstream' | 'sessionUpstream'
      >,
      queries: Queries = store.read,
    ): Promise<OwnFacts> {
      const { isDeviceWarned: isWarned = false, byMail, device } = state
      const { upstream, sessionUpstream } = state
      const enrolled = device && (await judgedDeviceIn(queries, tenantId, device.id))
      const { last = null, ...known } = facts.device
      const shown = enrolled === undefined ? { last } : { enrolled }
      const judged = { ...facts, device: { ...known, ...shown, ...(isWarned && { isWarned }) } }
      if (facts.password === 'right_but_disabled') return judged
      if (byMail !== undefined) return { ...judged, password: 'mailed', passwordChangedAt: null }
      // a session that a provider has opened is asked for more: it has shown no password
      if ((upstream ?? sessionUpstream) === undefined) return judged
      const isFactorElsewhere = upstream?.hasSecondFactor === true
      return { ...judged, password: 'elsewhere', passwordChangedAt: null, isFactorElsewhere }
    },
  }

  /** The session that this browser has with the same account, if it has one. */
  async function ownSid(ctx: RealmContext, userId: string | undefined) {
    const session = await realm.provider.Session.get(ctx)
    if (userId === undefined || session.accountId !== userId) return undefined
    return session.sidFor(realm.clientId)
  }
}

/** For the page that asks for it, or says what is wrong with it. */
export function deviceViewOf(facts: OwnFacts, policies: Policies): DeviceView {
  const { enrolled } = facts.device
  const may = { mayGoOn: policies.device.mode === 'warn', mayType: policies.device.typed_code }
  if (enrolled === undefined) return { failing: [], ...may, platform: 'linux' }
  const { failing, graceUntil } = complianceOf(facts, enrolled, policies)
  return { failing, graceUntil, ...may, platform: enrolled.platform }
}

/** Nobody knows how old a password in a tenant's own database is. */
function passwordChangedAt(user: User | undefined): number | null {
  if (user === undefined || user.source === 'directory') return null
  return Math.floor(user.passwordChangedAt / SECOND_MS)
}
