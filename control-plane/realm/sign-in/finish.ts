/** No policy objects any more: the provider takes over from here. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AdapterPayload } from 'oidc-provider'
import { realmPath } from '../../../shared/issuer.ts'
import { SECOND_MS } from '../../../shared/clock.ts'
import type { User } from '../../accounts/users.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { DEVICE_KEPT_MS } from '../../accounts/devices.ts'
import type { OwnFacts } from '../../accounts/attempts.ts'
import type { Policies } from '../../policy/policies.ts'
import type { SignInState } from '../../policy/sign-in.ts'
import { notBeforeOf } from '../../store/queries/revocations.ts'
import { asKnown } from '../../store/precedence.ts'
import type { TenantChange } from '../../store/store.ts'
import { SIGN_IN_SECONDS } from '../configuration.ts'
import { pathCookieName, surplusCookies } from '../realm-cookies.ts'
import { connectIdentity } from '../connections/connect-identity.ts'
import { requestIdOf } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { withState, type AttemptState } from './attempt-state.ts'
import type { Caller, BrowserSignIn } from './browser-sign-in.ts'
import { endSession } from '../session-end.ts'

/** Timers keep a clock of their own, which may be so much ahead of the wall's. */
const TIMER_EARLY_MS = 2
/** Of all realms of the host: over TLS each of them is sent all. */
const SESSION_COOKIE = /^__Host-realm_[a-z0-9-]+_session$/

interface Finished {
  readonly user: User
  readonly state: AttemptState
  readonly facts: OwnFacts
  readonly policies: Policies
  /** In which the page was read: so is the mail. */
  readonly language: string
  readonly signedIn: SignInState & { readonly kind: 'signed_in' }
}

export function finishing(realm: Realm, world: RealmWorld) {
  const { tenant, provider, records, personRate } = realm
  const { tenantId } = tenant
  const { store, clock, devices, accountMail } = world
  const isHttps = world.baseUrl.startsWith('https:')

  return {
    /**
     * What is issued before a not-before time is dead on arrival. It is at most the next whole
     * second, so we wait for it; anything longer is a clock that has been set back.
     */
    async untilIssuable(userId: string): Promise<boolean> {
      const notBefore = await notBeforeOf(store.read, tenantId, userId)
      const waitMs = notBefore * SECOND_MS - clock.nowMs()
      if (waitMs > 2 * SECOND_MS) return false
      if (waitMs > 0) await sleep(waitMs + TIMER_EARLY_MS)
      return true
    },

    /**
     * In the change that has recorded the attempt: either both are kept, or none, as where it is one
     * too many (`SignsInTooOften`). Answers what the
     * browser is known by from now on.
     */
    async commit(
      change: TenantChange,
      { uid, interaction }: BrowserSignIn,
      { deviceTokens: tokens, userAgent, ip, linkFor }: Caller,
      { user, state, facts, policies, signedIn, language }: Finished,
    ): Promise<string> {
      const { userId } = user
      await personRate.takeSignIn(change, tenantId, userId)
      const link = linkFor(uid)
      if (link?.userId === userId) await connectIdentity(change, tenantId, link)
      const { recoveryCodes: _shown, ...kept } = state
      // More was shown, but no password: a session is not younger for it
      const ts = state.sessionTs ?? Math.floor(change.nowMs / SECOND_MS)
      const provenAt = provenElsewhereAt(state)
      const upstream =
        state.sessionTs === undefined ? state.upstream?.session : state.sessionUpstream
      const { amr, acr } = signedIn
      const resumed: AdapterPayload = {
        ...withState(interaction, { finishedAt: change.nowMs, ...kept }),
        session: undefined, // whoever it was: `leaveOtherAccount` looks at who it is now
        result: {
          login: { accountId: userId, ts, amr: [...amr], acr },
          ...(facts.device.enrolled && { device: { id: facts.device.enrolled.deviceId } }),
          ...((provenAt ?? upstream) !== undefined && { elsewhere: { provenAt, upstream } }),
        },
      }
      await records.saveSignIn(change.queries, uid, resumed)
      const cookie = await devices.renew(change, { tenantId, userId, tokens, userAgent, ip })
      if (!facts.device.isKnown && policies.device.notify_new && user.source !== 'trial')
        await accountMail.newDevice(change, { user, ip, userAgent, atMs: change.nowMs }, language)
      return cookie
    },

    async answer(
      ctx: RealmContext,
      { uid, interaction }: BrowserSignIn,
      deviceCookie: string,
      replaced: string | undefined,
    ) {
      accountMail.deliver()
      if (replaced !== undefined)
        await asKnown(() => endSession(world, tenantId, replaced, 'surplus', requestIdOf(ctx)))
      const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const
      ctx.cookies.set(pathCookieName(tenantId, 'device', isHttps), deviceCookie, {
        ...cookie,
        signed: false, // found by hash
        path: realmPath(tenantId),
        maxAge: DEVICE_KEPT_MS,
      })
      const own = provider.cookieName('session')
      const most = LIMITS.realmSessionCookiesMax
      for (const name of surplusCookies(ctx.get('cookie'), SESSION_COOKIE, most))
        if (name !== own) ctx.cookies.set(name, null, { ...cookie, path: '/' })
      const returnTo = interaction.returnTo ?? ''
      // Set once more, since for a form that is sent twice the first answer has taken it away
      ctx.cookies.set(provider.cookieName('resume'), uid, {
        ...cookie,
        path: new URL(returnTo).pathname,
        maxAge: SIGN_IN_SECONDS * SECOND_MS,
      })
      ctx.status = 303
      ctx.redirect(returnTo)
    },
  }
}

/** A provider lets people through who have signed in there long ago; what was shown here is of now. */
function provenElsewhereAt(state: AttemptState): number | undefined {
  if (state.sessionTs !== undefined) return state.sessionProvenAt
  return state.proof === undefined ? state.upstream?.provenAt : undefined
}
