/** For whoever restarts or routes: is the process alive, and can it do its work. */
import * as v from 'valibot'
import { SECOND_MS } from '../../shared/clock.ts'
import type { Store } from '../store/store.ts'
import { endpointsOf, json, type Endpoint } from './endpoint.ts'

/** A database that has fallen silent would hold back whoever routes around it. */
const WAIT_MS_MAX = SECOND_MS

const WHY_NOT = {
  silent: 'The database is not responding.',
  full: 'The disk of the database is full, and nothing can be saved. Free some space; the rest goes on by itself.',
  read_only: 'The database takes no changes: it is read-only.',
  failing: 'The disk of the database reports errors, and nothing can be saved.',
} as const

const unasked = endpointsOf('service', 'anyone', { isUnlimited: true })

interface HealthEndpointsWorld {
  readonly store: Pick<Store, 'revision' | 'isBehind' | 'cannotWrite'>
}

export function healthEndpoints({ store }: HealthEndpointsWorld): readonly Endpoint[] {
  return [
    unasked.get('/health/live', {
      summary: 'Shows that the process is running.',
      answers: { 200: json(v.strictObject({ status: v.literal('live') }), 'It is running.') },
      handle: (c) => c.json({ status: 'live' }),
    }),
    unasked.get('/health/ready', {
      summary: 'Shows whether it can serve requests.',
      answers: {
        200: json(v.strictObject({ status: v.literal('ready') }), 'It is ready.'),
        503: json(
          v.strictObject({ status: v.picklist(['not_ready', 'behind']), detail: v.string() }),
          'The database is not responding, or it cannot be read what other control planes have changed.',
        ),
      },
      handle: async (c) => {
        if (store.isBehind())
          return c.json(
            {
              status: 'behind',
              detail: 'What other control planes have changed has not been read for two seconds.',
            },
            503,
          )
        const { promise: answered, resolve } = Promise.withResolvers<boolean>()
        const impatience = setTimeout(resolve, WAIT_MS_MAX, false)
        store.revision().then(
          () => resolve(true),
          () => resolve(false),
        )
        const isReady = await answered
        clearTimeout(impatience)
        const why = isReady ? store.cannotWrite() : 'silent'
        if (why === undefined) return c.json({ status: 'ready' })
        return c.json({ status: 'not_ready', detail: WHY_NOT[why] }, 503)
      },
    }),
  ]
}
