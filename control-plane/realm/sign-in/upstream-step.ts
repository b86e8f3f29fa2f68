/**
 * The first step of somebody who has shown at a provider who they are. What is asked for behind it is
 * for the policies, as behind a password: a provider's word for more is taken only where it is mapped.
 */
import type { User } from '../../accounts/users.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { beginState, type AttemptState } from './attempt-state.ts'
import { callerOf, languageOf, type BrowserSignIn } from './browser-sign-in.ts'
import { factsAbout } from './facts.ts'
import { finishing } from './finish.ts'
import { firstProofs } from './first-proof.ts'
import type { Outcome } from './outcome.ts'
import { unlessTooOften } from './person-rate.ts'
import { usableUser } from './still-good.ts'

type Upstream = NonNullable<AttemptState['upstream']>

export function upstreamStep(realm: Realm, world: RealmWorld) {
  const { tenant, records, personRate } = realm
  const { tenantId } = tenant
  const { store, attempts, policies, clock } = world
  const { attemptOf, ownFacts, ownSid } = factsAbout(realm, world)
  const finish = finishing(realm, world)
  const settleFirst = firstProofs(realm, world)
  const cookies = attemptCookies(realm, world)

  async function goOn(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    user: User,
    upstream: Upstream,
  ): Promise<Outcome> {
    const { userId } = user
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    // guesses at a password here are none of theirs
    const subject = `${upstream.connectionId}/${upstream.subject}`
    const attempt = attemptOf(caller, { user, login: user.username, subject })
    const password = user.isDisabled ? 'right_but_disabled' : 'elsewhere'
    const own = await ownFacts(ctx, signIn, caller, user, password)
    if (!(await finish.untilIssuable(userId))) return { kind: 'unavailable' }
    const provenAt = clock.nowMs()
    const secret = cookies.mint(signIn.uid)
    const changed = store.changeOf(tenantId, async (change): Promise<Outcome> => {
      const { queries } = change
      await personRate.takePassword(change, tenantId, userId, own.device.isKnown)
      const current = await records.signInIn(queries, signIn.uid)
      if (current === undefined || current.isFinished) return { kind: 'other_browser' }
      const interaction = current.payload
      const state = { ...beginState(userId, provenAt, secret.hash), upstream }
      const usable = user.isDisabled || (await usableUser(queries, tenantId, state, undefined))
      if (!usable) return { kind: 'unavailable' }
      const shown = { signIn, interaction, user, state, attempt, own, caller, decided, language }
      return settleFirst(change, shown)
    })
    const outcome = await unlessTooOften(changed, () =>
      attempts.refuseTooMany(attempt, own, decided),
    )
    if (outcome.kind === 'signed_in' || outcome.kind === 'step')
      cookies.give(ctx, signIn.uid, secret)
    if (outcome.kind !== 'signed_in' || decided.session.concurrent_max === null) return outcome
    return { ...outcome, replaced: await ownSid(ctx, userId) }
  }

  return { goOn, browserHash: cookies.hashHeld }
}
