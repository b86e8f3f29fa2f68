/**
 * A mail with a link and a code is asked for, in one sign-in and one browser. It is answered before anybody
 * is looked for, so the answer is the same for everybody; what is sent, and whether, is found out behind it.
 */
import type { Rate } from '../../../shared/rate-limits.ts'
import { newTicketSecret } from '../../accounts/tickets.ts'
import type { User } from '../../accounts/users.ts'
import { takeRate } from '../../store/queries/rates.ts'
import type { Actor } from '../../store/store.ts'
import { requestIdOf } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { askerRates } from './asker-rates.ts'
import { callerOf, languageOf, type BrowserSignIn } from './browser-sign-in.ts'
import { factsAbout } from './facts.ts'
import { nextMailAt, type MailedKind, type MailedState } from './mailed-state.ts'
import type { MailOutcome } from './outcome.ts'
import { codeHashes } from './shown-mail.ts'
import { newSignInCode, type AskedMail } from './sign-in-mail.ts'

interface Wish {
  /** As it was typed. */
  readonly login: string
  /** Whom that means, where an account is looked for. */
  readonly user?: User | undefined
  readonly kept: MailedKind<MailedState>
  readonly rateOfClient: { readonly kind: string; readonly rate: Rate }
  readonly send: (asked: AskedMail, actor: Actor) => Promise<unknown>
}

export function mailAsking(realm: Realm, world: RealmWorld) {
  const { tenant, records } = realm
  const { tenantId } = tenant
  const { store, log, tickets, attempts, devices, policies, behindAnswer } = world
  const { attemptOf, ownFacts } = factsAbout(realm, world)
  const cookies = attemptCookies(realm, world)
  const codeHashOf = codeHashes(realm, world)

  /** Everything that can be told apart here depends on who asks, and on nobody's account. */
  return async function ask(
    ctx: RealmContext,
    signIn: BrowserSignIn,
    { login, user, kept, rateOfClient, send }: Wish,
  ): Promise<MailOutcome> {
    const { uid } = signIn
    const caller = callerOf(ctx, realm, world)
    const decided = await policies.of(tenantId)
    const language = languageOf(ctx, world, realm, signIn)
    const attempt = attemptOf(caller, { user, login })
    // of the person only whether the browser is theirs: to read of their past would show in the time
    const isKnownDevice = await devices.isKnown(tenantId, user?.userId, caller.deviceTokens)
    const nobodys = await ownFacts(ctx, signIn, caller, undefined, 'not_given')
    const own = { ...nobodys, device: { ...nobodys.device, isKnown: isKnownDevice } }
    const before = await attempts.preview(attempt, own, decided)
    if (before.kind === 'refused')
      return store.changeOf(tenantId, async (change): Promise<MailOutcome> => {
        const settled = await attempts.settle(change, attempt, own, decided)
        return settled.kind === 'refused' ? settled : { kind: 'unavailable' }
      })
    const browserSecret = cookies.mint(uid)
    const [secret, code] = [newTicketSecret(), newSignInCode()]
    let replacedHash: string | undefined
    const outcome = await store.changeOf(tenantId, async (change): Promise<MailOutcome> => {
      const current = await records.signInIn(change.queries, uid)
      if (current === undefined || current.isFinished) return { kind: 'other_browser' }
      const earlier = kept.of(current.payload, signIn.browserHash)
      const early = earlier && tooEarly(earlier, change.nowMs)
      if (early !== undefined) return early
      for (const bucket of askerRates(tenantId, caller, rateOfClient.kind, rateOfClient.rate)) {
        const waitSeconds = await takeRate(change, bucket)
        if (waitSeconds !== undefined) return { kind: 'client_wait', waitSeconds }
      }
      replacedHash = earlier?.ticketHash
      const mailed: MailedState = {
        browserHash: browserSecret.hash,
        login,
        ticketHash: tickets.hashOf(secret),
        codeHash: codeHashOf(uid, code),
        askedAt: change.nowMs,
        failures: 0,
        asked: (earlier?.asked ?? 0) + 1,
      }
      await records.saveSignIn(change.queries, uid, kept.with(current.payload, mailed))
      return { kind: 'asked' }
    })
    if (outcome.kind !== 'asked') return outcome
    cookies.give(ctx, uid, browserSecret, false)
    const { ip, userAgent } = caller
    const made = { tenantId, uid, secret, code, replacedHash, isKnownDevice }
    const actor = { name: 'realm', requestId: requestIdOf(ctx) }
    behindAnswer(async () => {
      try {
        await send({ ...made, ip, userAgent, language }, actor)
      } catch (error) {
        log.error({ tenant_id: tenantId, error }, 'a mail with a link and a code was not written')
      }
    })
    return outcome
  }
}

function tooEarly(mailed: MailedState, nowMs: number): MailOutcome | undefined {
  const nextAt = nextMailAt(mailed)
  if (nextAt === undefined) return { kind: 'mail_enough' }
  const waitMs = nextAt - nowMs
  return waitMs > 0 ? { kind: 'mail_wait', waitSeconds: Math.ceil(waitMs / 1000) } : undefined
}
