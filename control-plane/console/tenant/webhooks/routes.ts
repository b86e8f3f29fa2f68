/** Every page of webhooks. `new` stands before the id of one, which it would be taken for. */
import type { ConsoleRoute } from '../../route.ts'
import type { ConsoleWorld } from '../../world.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { webhookListRoutes } from './list-routes.ts'
import { webhookStateRoutes } from './state-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

export function allWebhookRoutes(
  world: Pick<ConsoleWorld, 'webhooks' | 'deliveries'>,
): readonly ConsoleRoute[] {
  return [
    ...webhookListRoutes(world),
    ...webhookRoutes(world),
    ...webhookStateRoutes(world),
    ...deliveryRoutes(world),
  ]
}
