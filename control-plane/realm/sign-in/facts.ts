/** What is known about one attempt, gathered for the policies. */
import { nowSeconds, SECOND_MS } from '../../../shared/clock.ts'
import { isSameNetwork } from '../../../shared/enforcement/fingerprint.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { Attempt, OwnFacts } from '../../accounts/attempts.ts'
import type { User } from '../../accounts/users.ts'
import type { PasswordFact } from '../../policy/verdict.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { wantsSecondFactor, type Caller, type BrowserSignIn } from './browser-sign-in.ts'

/** With this browser's own; nobody keeps more. */
const COUNTED = LIMITS.sessionsPerPersonMax + 1

export function factsAbout(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { attempts, devices, factors, sessions, clock } = world

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
      return {
        at: nowSeconds(clock),
        address: caller.ip === '' ? null : caller.ip,
        password,
        passwordChangedAt: passwordChangedAt(user),
        device: {
          isKnown,
          isMissing: true, // no proof can be shown yet
          isNetworkKnown: addresses.some((address) => isSameNetwork(address, caller.ip)),
        },
        factors: await factors.kindsOf(owner),
        isFactorRequired: user?.isFactorRequired ?? false,
        proof: 'none',
        isStepUp: wantsSecondFactor(signIn.interaction.params?.acr_values),
        // This browser's own session makes room for the one that begins
        sessions: alive.filter((sid) => sid !== own).length,
      }
    },

    ownSid,
  }

  /** The session that this browser has with the same account, if it has one. */
  async function ownSid(ctx: RealmContext, userId: string | undefined) {
    const session = await realm.provider.Session.get(ctx)
    if (userId === undefined || session.accountId !== userId) return undefined
    return session.sidFor(realm.clientId)
  }
}

/** Nobody knows how old a password in a tenant's own database is. */
function passwordChangedAt(user: User | undefined): number | null {
  if (user === undefined || user.source === 'directory') return null
  return Math.floor(user.passwordChangedAt / SECOND_MS)
}
