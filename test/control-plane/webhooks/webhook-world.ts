/** A premium tenant with webhooks, and receivers that really listen. */
import { eq } from '../../../control-plane/store/drizzle.ts'
import type { EventName } from '../../../shared/events.ts'
import { schema } from '../../../control-plane/store/schema.ts'
import {
  ACTOR,
  movableClock,
  startServices,
  tenantNamed,
  type ServicesOptions,
} from '../../support/control-plane.ts'
import type { createReceivers } from '../../support/receivers.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export type Receivers = ReturnType<typeof createReceivers>

export async function startWebhooks(
  t: Teardown,
  receivers: Receivers,
  options: ServicesOptions = {},
) {
  const clock = movableClock()
  const services = await startServices(t, { clock, receivers: receivers.world, ...options })
  const { store, tenants, webhooks, deliveries, dispatcher } = services
  if ((await tenants.find('acme')) === undefined) {
    await tenants.create(tenantNamed('acme', { plan: 'premium' }), ACTOR)
    await tenants.publish('acme', ACTOR)
  }

  return {
    ...services,
    clock,

    async webhook(url: string, events: readonly EventName[] = ['tenant.suspended'], id = 'acme') {
      const { webhook, secret } = await webhooks.create(id, { url, events, description: '' }, ACTOR)
      return { id: webhook.webhookId, secret }
    },

    /** One `tenant.suspended` per call. */
    async suspend(tenantId = 'acme') {
      await tenants.suspend(tenantId, ACTOR)
      await tenants.activate(tenantId, ACTOR)
    },

    /** Any number of events, in one change. */
    async emit(count: number, tenantId = 'acme') {
      await store.change(async (change) => {
        for (let at = 0; at < count; at++)
          await change.emit('tenant.suspended', tenantId, { status: 'suspended' })
      })
    },

    async deliveriesOf(webhookId: string, tenantId = 'acme') {
      const { items } = await deliveries.list(tenantId, webhookId, { limit: 200 })
      return items
    },

    async onlyDelivery(webhookId: string) {
      const { items } = await deliveries.list('acme', webhookId, { limit: 2 })
      if (items.length !== 1) throw new Error(`${items.length} deliveries`)
      return items[0]!
    },

    rows: () => store.read.select().from(schema.webhookDeliveries),
    webhookRow: async (webhookId: string) => {
      const [row] = await store.read
        .select()
        .from(schema.webhooks)
        .where(eq(schema.webhooks.webhookId, webhookId))
      return row!
    },

    /** Lets so much time pass, and everything that is due then happen. */
    async later(ms: number) {
      clock.advance(ms)
      await dispatcher.run()
    },
  }
}
