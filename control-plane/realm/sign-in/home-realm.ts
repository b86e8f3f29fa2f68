/**
 * Whoever has said who they are, and nothing else yet, goes to the provider of their domain, or is asked
 * for a password. It goes by the domain alone: whether there is such an account is not looked for, so
 * nobody learns it here.
 */
import { domainOfAddress } from '../../connections/email-domain.ts'
import { connectionOfDomain } from '../../store/queries/connection-domains.ts'
import { toProviders } from '../connections/to-provider.ts'
import { upstreamCookies } from '../connections/upstream-cookies.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { isConfirmation, type BrowserSignIn } from './browser-sign-in.ts'
import { showingOutcomes } from './show-outcome.ts'

export function homeRealm(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { store, connections, policies } = world
  const { showPassword, textsOf } = showingOutcomes(realm, world)
  const providers = toProviders(realm, world)
  const cookies = upstreamCookies(realm, world)

  /** The connection that people with such an address come in by. */
  async function homeOf(address: string): Promise<string | undefined> {
    const domain = domainOfAddress(address)
    const home = domain && (await connectionOfDomain(store.read, tenantId, domain))
    const active = await connections.active(tenantId)
    return active.some(({ connectionId }) => connectionId === home) ? home : undefined
  }

  function lead(ctx: RealmContext, signIn: BrowserSignIn, home: string, loginHint: string) {
    const whose = { uid: signIn.uid, actor: null }
    return providers.begin(ctx, home, {
      whose,
      loginHint,
      isConfirmation: isConfirmation(signIn),
    })
  }

  return {
    of: homeOf,
    lead,

    /** Where there is something to choose from, and nobody has shown at a provider who they are. */
    isAsked: async (ctx: RealmContext, { uid }: BrowserSignIn): Promise<boolean> =>
      cookies.link(ctx, uid) === undefined && (await connections.active(tenantId)).length > 0,

    async goOn(ctx: RealmContext, signIn: BrowserSignIn, typed: string) {
      const username = typed.trim()
      const { connections: texts } = textsOf(ctx, signIn)
      const askAgain = (problem: string) =>
        showPassword(ctx, signIn, { status: 422, step: 'address', username, problem })
      if (username === '') return askAgain(texts.addressNeeded)
      const home = await homeOf(username)
      if (home === undefined) {
        const { password } = await policies.of(tenantId)
        return password.sign_in === 'break_glass'
          ? askAgain(texts.noneForAddress)
          : showPassword(ctx, signIn, { status: 200, step: 'password', username })
      }
      return lead(ctx, signIn, home, username)
    },
  }
}
