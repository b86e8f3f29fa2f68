/** What a delivery is when it is made: its body is written once, and every attempt sends it so. */
import { randomBytes } from 'node:crypto'
import type { EventName } from '../../shared/events.ts'
import type { DeliveryRow } from '../store/queries/webhook-deliveries.ts'

interface Happening {
  readonly event: EventName
  readonly data: unknown
  readonly happenedAtMs: number
}

type Whose = Pick<DeliveryRow, 'webhookId' | 'tenantId' | 'generation'>

export function newDelivery(
  { webhookId, tenantId, generation }: Whose,
  { event, data, happenedAtMs }: Happening,
  nowMs: number,
  isTest = false,
): DeliveryRow {
  const deliveryId = newDeliveryId()
  const createdAt = new Date(happenedAtMs).toISOString()
  return {
    ...{ deliveryId, webhookId, tenantId, event, isTest, generation },
    body: JSON.stringify({
      id: deliveryId,
      event,
      tenant_id: tenantId,
      created_at: createdAt,
      data,
    }),
    ...waiting(nowMs),
    replayedFrom: null,
    isSentAgain: false,
  }
}

/** The same event once more, as a delivery of its own. */
export function replayOf(
  original: DeliveryRow,
  { generation }: Pick<Whose, 'generation'>,
  nowMs: number,
): DeliveryRow {
  const deliveryId = newDeliveryId()
  const said = JSON.parse(original.body) as Record<string, unknown>
  return {
    ...original,
    deliveryId,
    generation,
    body: JSON.stringify({ ...said, id: deliveryId }),
    ...waiting(nowMs),
    replayedFrom: original.deliveryId,
    isSentAgain: false,
  }
}

function waiting(nowMs: number) {
  return {
    state: 'pending',
    problem: null,
    attempts: 0,
    nextAt: nowMs,
    leaseOwner: null,
    leaseUntil: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  } as const
}

const newDeliveryId = () => `dlv_${randomBytes(16).toString('hex')}`
