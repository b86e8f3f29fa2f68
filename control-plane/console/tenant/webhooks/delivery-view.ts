/** How a delivery is written: its state, its attempts, and what comes next. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { DAY_MS, HOUR_MS } from '../../../../shared/clock.ts'
import type { AttemptRow } from '../../../store/queries/webhook-deliveries.ts'
import type { Delivery } from '../../../webhooks/deliveries.ts'
import { emptyState, table } from '../../blocks/table.ts'
import { badge, logMoment, moment } from '../../blocks/text.ts'
import type { Html } from '../../../pages/html.ts'
import { deliveryAt } from './addresses.ts'

export const DELIVERY_STATES = {
  pending: { label: 'Waiting', tone: 'warm' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  cancelled: { label: 'Canceled', tone: 'plain' },
} as const satisfies Record<Delivery['state'], unknown>

export function deliveryBadge({ state }: Pick<Delivery, 'state'>): Html {
  const { label, tone } = DELIVERY_STATES[state]
  return badge(label, tone)
}

/** The last thing that was heard of it, in one line. */
function outcomeOf({ tries, problem, state }: Delivery): string {
  const last = tries.at(-1)
  if (problem !== null) return problem
  if (last === undefined) return state === 'pending' ? 'not attempted yet' : ''
  return answerOf(last)
}

export function answerOf({ status, problem }: Pick<AttemptRow, 'status' | 'problem'>): string {
  if (problem !== '') return problem
  return status === null ? 'no response' : `HTTP ${status}`
}

/** Whoever is being asked at this moment has no next time. */
export function nextOf({ state, leaseOwner, nextAt }: Delivery): Html | null {
  if (state !== 'pending') return null
  return leaseOwner === null ? moment(nextAt) : html`sending now`
}

export function deliveriesTable(
  items: readonly Delivery[],
  { tenantId, webhookId }: { readonly tenantId: string; readonly webhookId: string },
  isFiltered: boolean,
): Html {
  return table({
    caption: 'Deliveries',
    rows: items,
    columns: [
      {
        label: 'Event',
        isName: true,
        cell: ({ deliveryId, event, isTest, replayedFrom }) =>
          html`<a href="${deliveryAt(tenantId, webhookId, deliveryId)}">${event}</a>
            ${isTest ? badge('Test') : ''} ${replayedFrom === null ? '' : badge('Retry')}`,
      },
      { label: 'Created', cell: ({ createdAt }) => logMoment(createdAt) },
      {
        label: 'State',
        cell: (delivery) =>
          html`${deliveryBadge(delivery)} ${delivery.state === 'pending' ? html`<span class="hint">${delivery.leaseOwner === null ? 'next attempt: ' : ''}${nextOf(delivery)}</span>` : ''}`,
      },
      { label: 'Attempts', isNumber: true, cell: ({ tries }) => tries.length },
      { label: 'Last response', cell: outcomeOf },
    ],
    empty: isFiltered
      ? emptyState('No matching deliveries', 'Choose another state.')
      : emptyState('No deliveries yet', 'Send a test to see how the receiver responds.'),
  })
}

/** How far back a person sends again: nobody types a moment for that. */
export const AGES = {
  hour: { label: 'the last hour', ms: HOUR_MS },
  day: { label: 'the last day', ms: DAY_MS },
  week: { label: 'the last 7 days', ms: 7 * DAY_MS },
  month: { label: 'the last 30 days', ms: 30 * DAY_MS },
} as const

export const ReplayForm = v.strictObject({
  age: v.picklist(Object.keys(AGES) as (keyof typeof AGES)[], 'one of the periods in the list'),
})
