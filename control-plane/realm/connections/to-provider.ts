/** A browser on its way to a provider, and what is said when that leads nowhere. */
import { randomBytes } from 'node:crypto'
import { isEmailAddress } from '../../accounts/email-address.ts'
import { callbackUrlOf } from '../../connections/addresses.ts'
import { ProviderProblem } from '../../connections/provider-client.ts'
import { addressOf } from '../../listener/client-address.ts'
import { requestIdOf, showMessage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'
import { upstreamCookies, type UpstreamFlow } from './upstream-cookies.ts'

interface Wish {
  readonly whose: Pick<UpstreamFlow, 'uid' | 'actor'>
  /** Whoever is signed in there has to show once more who they are. */
  readonly isConfirmation: boolean
  /** Who they say that they are; typed by anybody, so it is a hint for the provider and nothing here. */
  readonly loginHint?: unknown
}

export function toProviders(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { baseUrl, connections, connectionProtocol: protocol, log } = world
  const cookies = upstreamCookies(realm, world)

  function note(ctx: RealmContext, connectionId: string, outcome: string) {
    const from = { tenant_id: tenantId, request_id: requestIdOf(ctx), ip: addressOf(ctx.req) }
    log.info({ ...from, connection_id: connectionId, outcome }, 'sign-in by a provider')
  }

  async function failed(ctx: RealmContext, connectionId: string, error: unknown) {
    if (!(error instanceof ProviderProblem)) throw error
    note(ctx, connectionId, error.message)
    const details = [error.message, requestIdOf(ctx)]
    return showMessage(ctx, world, realm, 'connection_failed', { details })
  }

  return {
    note,
    failed,

    async begin(ctx: RealmContext, connectionId: string, wish: Wish) {
      const { whose, isConfirmation, loginHint } = wish
      const found = await connections.withSecret(tenantId, connectionId)
      const isOpen = found !== undefined && (found.state === 'active' || whose.uid === null)
      if (!isOpen) return showMessage(ctx, world, realm, 'not_found')
      const flow: UpstreamFlow = {
        ...{ connectionId, updatedAt: found.updatedAt, ...whose },
        state: cookies.newState(),
        nonce: randomBytes(32).toString('base64url'),
        verifier: randomBytes(32).toString('base64url'),
      }
      const isHint = typeof loginHint === 'string' && isEmailAddress(loginHint)
      try {
        const redirectUri = callbackUrlOf(baseUrl, found)
        const to = await protocol.authorizationUrl(found, redirectUri, flow, {
          isConfirmation,
          loginHint: isHint ? loginHint : undefined,
        })
        cookies.giveFlow(ctx, flow)
        ctx.status = 303
        ctx.redirect(to)
      } catch (error) {
        return failed(ctx, connectionId, error)
      }
    },
  }
}
