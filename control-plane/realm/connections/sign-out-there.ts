/**
 * Sign-out and providers: whoever signs out here is sent there to sign out as well, where their
 * connection wants that (RP-Initiated Logout 1.0), and what a provider has ended ends here (Back-Channel
 * Logout 1.0).
 */
import { MINUTE_MS } from '../../../shared/clock.ts'
import { signedOutUrlOf } from '../../connections/addresses.ts'
import { ProviderProblem } from '../../connections/provider-client.ts'
import { readForm } from '../../http/form.ts'
import { addressOf } from '../../listener/client-address.ts'
import { signedOutPage } from '../pages/sign-out-pages.ts'
import { placeOf, requestIdOf, showPage } from '../show.ts'
import type { UpstreamSession } from '../sign-in/attempt-state.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

const PATH = /^\/connections\/(con_[0-9a-f]{32})\/(signed-out|back-channel-logout)$/
/** How long somebody may be asked there whether they mean it. */
const AWAY_MS = 30 * MINUTE_MS

export function signOutThere(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { connections, connectionProtocol: protocol, backChannel, vault, clock, log } = world
  const applicationUrl = realm.applicationUrls[0] ?? realm.issuer
  const purposeOf = (connectionId: string) => `realm.signed_out/${tenantId}/${connectionId}`

  return {
    /** Undefined: nobody there has to be told. What was to end here has ended, whatever comes of this. */
    async urlFor(upstream: UpstreamSession | undefined, target: string | undefined) {
      if (upstream === undefined) return undefined
      const { connectionId, idToken } = upstream
      const found = await connections.withSecret(tenantId, connectionId)
      if (found?.state !== 'active' || !found.signsOut) return undefined
      const kept = { target, until: clock.nowMs() + AWAY_MS }
      const sealed = vault.seal(JSON.stringify(kept), purposeOf(connectionId))
      const returnUrl = signedOutUrlOf(world.baseUrl, found)
      const state = Buffer.from(sealed).toString('base64url')
      try {
        return await protocol.signOutUrl(found, { idToken, returnUrl, state })
      } catch (error) {
        if (!(error instanceof ProviderProblem)) throw error
        const about = { tenant_id: tenantId, connection_id: connectionId, reason: error.message }
        log.warn(about, 'a provider could not be told of a sign-out')
        return undefined
      }
    },

    async pages(ctx: RealmContext, next: () => Promise<unknown>) {
      const [, connectionId, page] = PATH.exec(ctx.path) ?? []
      if (connectionId === undefined) return next()
      if (page === 'signed-out') return comeBack(ctx, connectionId)
      return ctx.method === 'POST' ? hear(ctx, connectionId) : next()
    },
  }

  /** The address is as we wrote it: nobody else can send people on from here. */
  async function comeBack(ctx: RealmContext, connectionId: string) {
    const target = targetOf(ctx.query.state, connectionId)
    if (target === undefined)
      return showPage(ctx, 200, signedOutPage(placeOf(ctx, world, realm), applicationUrl))
    ctx.status = 303
    ctx.redirect(target)
  }

  function targetOf(state: unknown, connectionId: string): string | undefined {
    if (typeof state !== 'string') return undefined
    try {
      const text = vault.open(Buffer.from(state, 'base64url').toString(), purposeOf(connectionId))
      const { target, until } = JSON.parse(text) as { target?: string; until: number }
      return clock.nowMs() < until ? target : undefined
    } catch {
      return undefined
    }
  }

  async function hear(ctx: RealmContext, connectionId: string) {
    const form = await readForm(ctx.req)
    const token = form.kind === 'form' ? form.fields.get('logout_token') : undefined
    const about = { tenant_id: tenantId, connection_id: connectionId, ip: addressOf(ctx.req) }
    const requestId = requestIdOf(ctx)
    const refuse = (problem: string) => {
      log.info({ ...about, request_id: requestId, problem }, 'a logout token was refused')
      ctx.status = 400
      ctx.body = { error: 'invalid_request', error_description: problem }
    }
    if (token === undefined) return refuse('send one logout_token, as a form')
    const found = await connections.withSecret(tenantId, connectionId)
    if (found?.state !== 'active') return refuse('there is no such connection, or it is not active')
    try {
      const ended = await backChannel.take(found, token, { name: 'provider', requestId })
      log.info({ ...about, request_id: requestId, ended }, 'a provider has ended sessions')
      ctx.status = 200
      ctx.body = ''
    } catch (error) {
      if (!(error instanceof ProviderProblem)) throw error
      refuse(error.message)
    }
  }
}
