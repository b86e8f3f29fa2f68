/** A test sign-in: it lets nobody in, shows each claim, and what it would come to. */
import { gate, type Claims, type Gate } from '../../connections/gate.ts'
import type { Connection } from '../../connections/connections.ts'
import { connectionTestPage } from '../pages/connection-test-page.ts'
import { placeOf, requestIdOf, showPage } from '../show.ts'
import type { Realm, RealmContext, RealmWorld } from '../world.ts'

const TEST_PATH = /^\/connections\/(con_[0-9a-f]{32})\/test$/

export function testingConnections(realm: Realm, world: RealmWorld) {
  const { tenantId } = realm.tenant
  const { connections, connectionTickets } = world

  return {
    /** Whoever has a link to a test, which is an administrator. */
    connectionOf(ctx: RealmContext) {
      const [, connectionId] = TEST_PATH.exec(ctx.path) ?? []
      const { ticket } = ctx.query
      if (connectionId === undefined || typeof ticket !== 'string') return undefined
      const actor = connectionTickets.actorOf(ticket, { tenantId, connectionId })
      return actor === undefined ? undefined : { connectionId, actor }
    },

    async show(ctx: RealmContext, connection: Connection, claims: Claims, actor: string) {
      const { connectionId, updatedAt } = connection
      const gated = await gatedIn(connection, claims)
      if (gated.kind === 'person') {
        const by = { name: actor, requestId: requestIdOf(ctx) }
        await connections.noteTested(tenantId, connectionId, updatedAt, by)
      }
      const place = placeOf(ctx, world, realm)
      await showPage(ctx, 200, connectionTestPage({ place, connection, claims, gated }))
    },
  }

  async function gatedIn(connection: Connection, claims: Claims): Promise<Gate> {
    const gated = gate(connection, claims)
    if (gated.kind === 'refused') return gated
    const isKept = await connections.keepOrganization(connection, claims.organization_id)
    return isKept ? gated : { kind: 'refused', problem: 'organization_foreign' }
  }
}
