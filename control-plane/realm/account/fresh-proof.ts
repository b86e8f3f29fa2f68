/**
 * A session alone changes nothing of weight: a browser that was left open must not be enough to
 * take an account over. Who has signed in a short while ago, or gives the password (and a factor,
 * if there is one) again, may. A wrong password counts as it does at the sign-in page.
 */
import { MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts'
import { Refusal } from '../../../shared/errors.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { OwnFacts } from '../../accounts/attempts.ts'
import type { Claim } from '../../accounts/factors.ts'
import { authenticationOptions, passkeySite } from '../../accounts/passkeys.ts'
import { isSameSecret } from '../../keys/vault.ts'
import { judge } from '../../policy/sign-in.ts'
import type { FactorKind } from '../../policy/verdict.ts'
import { pathCookieName } from '../realm-cookies.ts'
import { factsAbout } from '../sign-in/facts.ts'
import { passkeyScriptUrl } from '../sign-in/passkey-script.ts'
import { callerOf, type BrowserSignIn } from '../sign-in/browser-sign-in.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import type { Holder } from './holder.ts'

const PROOF_KEPT_MS = 10 * MINUTE_MS
/** What a passkey signs stays the same for so long, and then once more. */
const CHALLENGE_MS = 10 * MINUTE_MS

interface Shown {
  readonly password: string
  readonly code: string
  readonly passkey: string
}

export type Proven =
  | { readonly kind: 'proven' }
  | { readonly kind: 'paused'; readonly minutes: number }
  | { readonly kind: 'refused' | 'wrong_password' | 'wrong_code' | 'code_missing' | 'busy' }

/** No sign-in is under way: nothing was asked for by the application. */
const NO_VISIT: BrowserSignIn = {
  uid: '',
  interaction: {},
  isFinished: false,
  browserHash: undefined,
}

export function freshProofs(realm: Realm, world: RealmWorld) {
  const { tenant, issuer } = realm
  const { tenantId } = tenant
  const { store, vault, clock, users, attempts, factors, policies, baseUrl } = world
  const { attemptOf, ownFacts } = factsAbout(realm, world)
  const site = passkeySite(baseUrl)
  const isHttps = baseUrl.startsWith('https:')
  const cookieName = pathCookieName(tenantId, 'proof', isHttps)

  const markOf = ({ mark }: Holder, level: string, atText: string) =>
    vault.hash(`realm.proof/${mark}/${level}/${atText}`)
  const kindsOf = ({ user }: Holder) => factors.kindsOf({ tenantId, userId: user.userId })

  function remember(ctx: RealmContext, holder: Holder, hasShownFactor: boolean) {
    const level = hasShownFactor ? '2' : '1'
    const atText = String(Math.floor(clock.nowMs() / SECOND_MS))
    const value = `${level}.${atText}.${markOf(holder, level, atText)}`
    ctx.cookies.set(cookieName, value, {
      httpOnly: true,
      sameSite: 'lax',
      signed: true,
      path: `${new URL(issuer).pathname}/account`,
      maxAge: PROOF_KEPT_MS,
    })
  }

  function remembered(ctx: RealmContext, holder: Holder): '1' | '2' | undefined {
    const value = ctx.cookies.get(cookieName, { signed: true }) ?? ''
    const [, level, atText = '', mark = ''] = /^([12])\.(\d{1,12})\.([\w-]{43})$/.exec(value) ?? []
    if (level !== '1' && level !== '2') return undefined
    if (clock.nowMs() >= Number(atText) * SECOND_MS + PROOF_KEPT_MS) return undefined
    return isSameSecret(mark, markOf(holder, level, atText)) ? level : undefined
  }

  /** Never the same again once a passkey has answered it, since that is noted with the passkey. */
  async function challengesOf(holder: Holder): Promise<[string, string]> {
    const all = await factors.list({ tenantId, userId: holder.user.userId })
    const used = all.map(({ factorId, lastUsedAt }) => `${factorId}:${lastUsedAt ?? 0}`).join()
    const period = Math.floor(clock.nowMs() / CHALLENGE_MS)
    const challenge = (at: number) => vault.hash(`realm.challenge/${holder.mark}/${used}/${at}`)
    return [challenge(period), challenge(period - 1)]
  }

  async function claimOf(holder: Holder, shown: Shown): Promise<Claim | undefined> {
    const owner = { tenantId, userId: holder.user.userId }
    if (shown.passkey === '') return factors.claimOfCode(owner, shown.code, clock.nowMs())
    if (site === undefined) return undefined
    for (const challenge of await challengesOf(holder)) {
      const claim = await factors.claimOfPasskey(owner, site, challenge, shown.passkey)
      if (claim !== undefined) return claim
    }
    return undefined
  }

  return {
    remember,
    challengesOf,
    kindsOf,

    async isFresh(ctx: RealmContext, holder: Holder): Promise<boolean> {
      const needsFactor = (await kindsOf(holder)).length > 0
      const isRecent = clock.nowMs() < holder.provenAtMs + PROOF_KEPT_MS
      if (isRecent && (holder.hasShownFactor || !needsFactor)) return true
      const level = remembered(ctx, holder)
      return level === '2' || (level === '1' && !needsFactor)
    },

    /** What the page needs on which the proof is given. */
    async demand(holder: Holder) {
      const kinds = await kindsOf(holder)
      const owner = { tenantId, userId: holder.user.userId }
      const known = site && kinds.includes('passkey') ? await factors.passkeys(owner) : []
      const [challenge] = await challengesOf(holder)
      const options =
        site && known.length > 0 ? await authenticationOptions(site, challenge, known) : undefined
      return {
        needsCode: kinds.length > 0,
        hasApp: kinds.includes('totp'),
        passkey: options && { options, scriptUrl: passkeyScriptUrl(realm) },
      }
    },

    /** `needsFactor` false: the password alone is asked for, the rest has been shown already. */
    async prove(
      ctx: RealmContext,
      holder: Holder,
      shown: Shown,
      needsFactor = true,
    ): Promise<Proven> {
      const { user } = holder
      const caller = callerOf(ctx, realm, world)
      const decided = await policies.of(tenantId)
      const attempt = attemptOf(caller, { user, login: user.username })
      // As if the application had asked for more: who has a factor is held to it in every mode
      const base = {
        ...(await ownFacts(ctx, NO_VISIT, caller, user, 'not_given')),
        isStepUp: true,
        sessions: 0,
      }
      const settle = (facts: OwnFacts) =>
        store.changeOf(tenantId, (change) => attempts.settle(change, attempt, facts, decided))

      const before = await attempts.preview(attempt, base, decided)
      if (before.kind === 'refused') return refusal(before.until)
      const password = await check(user.userId, user.username, shown.password)
      if (password === 'busy') return { kind: 'busy' }
      if (password === 'wrong') {
        const state = await settle({ ...base, password })
        return state.kind === 'refused' ? refusal(state.until) : { kind: 'wrong_password' }
      }
      const facts: OwnFacts = { ...base, password: 'right' }
      const kinds: readonly FactorKind[] = needsFactor ? facts.factors : []
      if (kinds.length > 0 && shown.code === '' && shown.passkey === '')
        return { kind: 'code_missing' }
      const claim = kinds.length === 0 ? undefined : await claimOf(holder, shown)
      return store.changeOf(tenantId, async (change): Promise<Proven> => {
        // Whoever guesses many at once is judged one after the other
        const known = await attempts.withFailures(change.queries, attempt, facts)
        const state = judge(known, decided)
        if (state.kind === 'refused') return refusal(state.until)
        if (kinds.length === 0 || (await claim?.take(change)) === true) return { kind: 'proven' }
        await attempts.settle(change, attempt, { ...facts, proof: 'wrong' }, decided)
        return { kind: 'wrong_code' }
      })
    },
  }

  async function check(
    userId: string,
    login: string,
    plain: string,
  ): Promise<'right' | 'wrong' | 'busy'> {
    if (plain === '' || Buffer.byteLength(plain) > LIMITS.passwordBytesMax) return 'wrong'
    try {
      const result = await users.authenticate(tenantId, login, plain)
      return result.kind === 'ok' && result.user.userId === userId ? 'right' : 'wrong'
    } catch (error) {
      if (error instanceof Refusal && error.status === 503) return 'busy'
      throw error
    }
  }

  function refusal(until: number | undefined): Proven {
    if (until === undefined) return { kind: 'refused' }
    const waitMs = Math.max(SECOND_MS, until * SECOND_MS - clock.nowMs())
    return { kind: 'paused', minutes: Math.ceil(waitMs / MINUTE_MS) }
  }
}
