/** For whoever restarts or routes: is the process alive, and can it do its work. */
import * as v from 'valibot'
import type { Store } from '../store/store.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'

const unasked = endpointsOf('service', 'anyone', { isUnlimited: true })

export interface HealthEndpointsWorld {
  readonly store: Pick<Store, 'revision'>
}

export function healthEndpoints({ store }: HealthEndpointsWorld): readonly Endpoint[] {
  return [
    unasked.get('/health/live', {
      summary: 'Whether the process is alive.',
      answers: { 200: json(v.strictObject({ status: v.literal('live') }), 'It is.') },
      handle: (c) => c.json({ status: 'live' }),
    }),
    unasked.get('/health/ready', {
      summary: 'Whether it can do its work.',
      answers: {
        200: json(v.strictObject({ status: v.literal('ready') }), 'It can.'),
        503: json(
          v.strictObject({ status: v.literal('not_ready'), detail: v.string() }),
          'The database does not answer.',
        ),
      },
      handle: async (c) => {
        try {
          await store.revision()
          return c.json({ status: 'ready' })
        } catch {
          return c.json({ status: 'not_ready', detail: 'The database does not answer.' }, 503)
        }
      },
    }),
  ]
}
