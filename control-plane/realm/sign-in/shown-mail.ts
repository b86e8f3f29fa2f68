/** A link or a code of a mail is shown: right or wrong, it is judged and counted in the change that takes it. */
import type { AdapterPayload } from 'oidc-provider'
import type { Attempt, OwnFacts } from '../../accounts/attempts.ts'
import { isSameSecret } from '../../keys/vault.ts'
import type { Policies } from '../../policy/policies.ts'
import { judge } from '../../policy/sign-in.ts'
import type { TenantChange } from '../../store/store.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { attemptCookies } from './attempt-cookie.ts'
import { stateOf } from './attempt-state.ts'
import type { BrowserSignIn } from './browser-sign-in.ts'
import { isMailOver, type MailedKind, type MailedState } from './mailed-state.ts'
import type { MailOutcome } from './outcome.ts'
import { readSignInCode } from './sign-in-mail.ts'

/** What somebody shows of a mail. */
export type ShownOfMail =
  | { readonly kind: 'code'; readonly typed: string }
  | { readonly kind: 'ticket'; readonly secret: string }

const SECRET = /^[\w-]{32}$/

/** Of the query of a link; '' is none of ours. */
export const ticketIn = (query: unknown): string =>
  typeof query === 'string' && SECRET.test(query) ? query : ''

export function shownIn(fields: ReadonlyMap<string, string>): ShownOfMail | undefined {
  const secret = fields.get('ticket') ?? ''
  if (SECRET.test(secret)) return { kind: 'ticket', secret }
  const typed = fields.get('code')?.trim() ?? ''
  return typed === '' ? undefined : { kind: 'code', typed }
}

/** Whether this browser has begun the sign-in and asked for the mail, or has gone on since. */
export function askedHere(realm: Realm, world: RealmWorld, kept: MailedKind<MailedState>) {
  const { provider, records } = realm
  const cookies = attemptCookies(realm, world)
  return async (ctx: RealmContext, uid: string): Promise<boolean> => {
    if (ctx.cookies.get(provider.cookieName('interaction'), { signed: true }) !== uid) return false
    const known = await records.signIn(uid)
    if (known === undefined || known.isFinished) return known !== undefined
    const browserHash = cookies.hashHeld(ctx, uid)
    return (
      kept.of(known.payload, browserHash) !== undefined ||
      stateOf(known.payload, browserHash, world.clock.nowMs()) !== undefined
    )
  }
}

interface Guess<State extends MailedState> {
  readonly signIn: BrowserSignIn
  readonly kept: MailedKind<State>
  readonly shown: ShownOfMail
  readonly attempt: Attempt
  readonly own: OwnFacts
  readonly decided: Policies
}

export const codeHashes =
  ({ tenant: { tenantId } }: Pick<Realm, 'tenant'>, { vault }: Pick<RealmWorld, 'vault'>) =>
  (uid: string, code: string) =>
    vault.hash(`realm.mailed_code/${tenantId}/${uid}/${code}`)

export function mailGuesses(realm: Realm, world: RealmWorld) {
  const { records } = realm
  const { tickets, attempts } = world
  const codeHashOf = codeHashes(realm, world)

  function isShown(uid: string, mailed: MailedState, shown: ShownOfMail): boolean {
    if (shown.kind === 'ticket')
      return isSameSecret(tickets.hashOf(shown.secret), mailed.ticketHash)
    const code = readSignInCode(shown.typed)
    return code !== undefined && isSameSecret(codeHashOf(uid, code), mailed.codeHash)
  }

  return {
    isShown,

    async guess<State extends MailedState>(
      change: TenantChange,
      { signIn, kept, shown, attempt, own, decided }: Guess<State>,
      take: (interaction: AdapterPayload, mailed: State) => Promise<MailOutcome>,
    ): Promise<MailOutcome> {
      const { queries, nowMs } = change
      const { uid, browserHash } = signIn
      const current = await records.signInIn(queries, uid)
      if (current === undefined || current.isFinished) return { kind: 'other_browser' }
      const interaction = current.payload
      const mailed = kept.of(interaction, browserHash)
      if (mailed === undefined || isMailOver(mailed, nowMs)) return { kind: 'mail_over' }
      // whoever is paused does not guess on, and the right code is not taken either
      const before = judge(await attempts.withFailures(queries, attempt, own), decided)
      if (before.kind === 'refused') {
        const settled = await attempts.settle(change, attempt, own, decided)
        return settled.kind === 'refused' ? settled : { kind: 'unavailable' }
      }
      if (isShown(uid, mailed, shown)) return take(interaction, mailed)
      if (shown.kind === 'ticket') return { kind: 'mail_over' } // replaced meanwhile
      const next = kept.with(interaction, { ...mailed, failures: mailed.failures + 1 })
      await records.saveSignIn(queries, uid, next)
      const facts = { ...own, password: 'mail_wrong' } as const
      const settled = await attempts.settle(change, attempt, facts, decided)
      return settled.kind === 'refused' ? settled : { kind: 'mail_wrong' }
    },
  }
}
