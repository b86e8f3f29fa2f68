/** The table of events as it is shown. */
import { EVENT_NAMES, EVENTS, type EventName } from '../../../shared/events.ts'
import { answeredSchema, type JsonSchema } from '../openapi/schemas.ts'

export interface DescribedEvent {
  readonly event: EventName
  readonly sent_when: string
  readonly sent_by: string
  readonly data: JsonSchema
  readonly example: Record<string, unknown>
}

export function describedEvents(): readonly DescribedEvent[] {
  return EVENT_NAMES.map((event) => {
    const { sentWhen, sentBy, data, example } = EVENTS[event]
    return {
      event,
      sent_when: sentWhen,
      sent_by: sentBy,
      data: answeredSchema(data),
      example: {
        id: 'dlv_1b9f6c1e2d3a4b5c',
        event,
        tenant_id: 'acme',
        created_at: '2026-03-02T09:30:00.000Z',
        data: example,
      },
    }
  })
}
