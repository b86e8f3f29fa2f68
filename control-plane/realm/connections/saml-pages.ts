/**
 * Where SAML providers have browsers post their responses. Such a form comes from another site, so no
 * cookie comes along (SameSite): what it brings is verified, written down and nothing else. The browser
 * is sent on to the way back that all connections have, where its cookie says whether it has asked.
 */
import { callbackUrlOf } from '../../connections/addresses.ts'
import { ProviderProblem } from '../../connections/provider-client.ts'
import { readForm } from '../../http/form.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { addressOf } from '../../listener/client-address.ts'
import { requestIdOf, showMessage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

const PATH = /^\/connections\/(con_[0-9a-f]{32})\/(acs|metadata)$/

export function samlPages(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { samlProtocol: saml, log } = world

  return async function samlPages(ctx: RealmContext, next: () => Promise<unknown>) {
    const [, connectionId, page] = PATH.exec(ctx.path) ?? []
    if (connectionId === undefined) return next()
    const whose = { tenantId, connectionId }
    return page === 'acs' ? receive(ctx, whose) : describe(ctx, whose)
  }

  async function describe(ctx: RealmContext, whose: Whose) {
    const xml = await saml.metadataOf(whose)
    if (xml === undefined) return showMessage(ctx, world, realm, 'not_found')
    ctx.status = 200
    ctx.set({
      'Content-Type': 'application/samlmetadata+xml; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cache-Control': 'public, max-age=60',
    })
    ctx.body = xml
  }

  async function receive(ctx: RealmContext, whose: Whose) {
    try {
      const form = await readForm(ctx.req, LIMITS.samlFormBytesMax)
      const posted = form.kind === 'form' ? form.fields.get('SAMLResponse') : undefined
      if (posted === undefined)
        throw new ProviderProblem(
          form.kind === 'refused' && form.reason === 'too_large'
            ? 'the response is too large'
            : 'the answer is no SAML response',
        )
      const received = await saml.receive(whose, posted)
      switch (received.kind) {
        case 'unknown':
          return await showMessage(ctx, world, realm, 'not_found')
        case 'unsolicited':
          return await beginAnew(ctx, whose)
        case 'answer': {
          const { state, code } = received
          const back = new URL(callbackUrlOf(world.baseUrl, whose))
          back.search = new URLSearchParams({ state, code }).toString()
          ctx.status = 303
          return ctx.redirect(back.href)
        }
      }
    } catch (error) {
      if (!(error instanceof ProviderProblem)) throw error
      note(ctx, whose, error.message)
      const details = [error.message, requestIdOf(ctx)]
      return showMessage(ctx, world, realm, 'connection_failed', { details })
    }
  }

  /** The application asks for a sign-in of its own, in this browser; what was posted counts for nothing. */
  async function beginAnew(ctx: RealmContext, whose: Whose) {
    note(ctx, whose, 'begun by the provider')
    const [applicationUrl] = realm.applicationUrls
    if (applicationUrl === undefined) return showMessage(ctx, world, realm, 'not_found')
    ctx.status = 303
    return ctx.redirect(applicationUrl)
  }

  function note(ctx: RealmContext, { connectionId }: Whose, outcome: string) {
    const from = { tenant_id: tenantId, request_id: requestIdOf(ctx), ip: addressOf(ctx.req) }
    log.info({ ...from, connection_id: connectionId, outcome }, 'sign-in by a provider')
  }
}

interface Whose {
  readonly tenantId: string
  readonly connectionId: string
}
