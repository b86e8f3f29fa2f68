/** What was enforced reaches the service once it can, and never fills the application's memory. */
import t from 'tap'
import {
  createEvents,
  type EnforcedEvent,
} from '../../../../../control-plane/downloads/sdk-node/enforce/events.ts'
import { LIMITS } from '../../../../../shared/limits.ts'
import { startGuard } from '../../../../support/asked-guard.ts'

/** Credentials whose service answers as told, and what it was sent. */
function talk(answer: (events: EnforcedEvent[]) => number, rejected = 0) {
  const batches: EnforcedEvent[][] = []
  const credentials = {
    secret: '',
    async fetch(_path: string, { body }: RequestInit) {
      const { events } = JSON.parse(body as string) as { events: EnforcedEvent[] }
      const status = answer(events)
      if (status === 200) batches.push(events)
      return new Response(JSON.stringify({ accepted: 0, rejected }), { status })
    },
  }
  const warnings: string[] = []
  const onWarning = (text: string) => void warnings.push(text)
  return { events: createEvents({ credentials, onWarning, random: () => 0 }), batches, warnings }
}

const sealed = (number: number): EnforcedEvent => ({
  outcome: 'sealed',
  ip: '192.0.2.1',
  app_host: `${'x'.repeat(100)}-${number}`,
})

t.test('what a request meets is told: outcome, who, why, from where', async (t) => {
  const { ask, service, guard } = await startGuard(t, { session_binding: 'terminate' })
  await ask('/admin')
  const cookie = service.session()
  t.match(await ask('/', { cookie, userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0' }), {
    kind: 401,
    reason: 'binding_terminate',
  })
  t.match(await ask('/', { cookie }), { kind: 401, reason: 'revoked' }, 'it is over here at once')
  await guard.close()
  t.match(service.batches.flat().sort(byOutcome), [
    { outcome: 'sealed', ip: '127.0.0.1', app_host: 'app.localhost' },
    { outcome: 'terminate', subject: 'ada', sid: 'sid-1', ip: '127.0.0.1' },
  ])
})

t.test('a session that moved is told of once a minute, however often it asks', async (t) => {
  const { ask, service, guard } = await startGuard(t, { session_binding: 'step_up' })
  const cookie = service.session()
  for (let times = 0; times < 20; times++) await ask('/', { cookie, userAgent: 'curl/8.1' })
  await guard.close()
  t.match(service.batches.flat(), [{ outcome: 'step_up', subject: 'ada', reason: 'binding' }])
  t.equal(service.batches.flat().length, 1)
})

t.test(
  'a backlog of 5 MB goes out in bounded batches, in order, when the service is back',
  async (t) => {
    let isBack = false
    const { events, batches, warnings } = talk(() => (isBack ? 200 : 503))
    let count = 0
    while (events.stats().dropped === 0) events.add(sealed(count++))
    t.match(warnings, [/accepts no events/])
    const { waiting } = events.stats()
    t.ok(waiting * JSON.stringify(sealed(1)).length > 0.95 * LIMITS.enforcementBacklogBytesMax)
    isBack = true
    await events.close()
    const told = batches.flat()
    t.equal(told.length, waiting)
    t.same(told.slice(0, 3), [sealed(0), sealed(1), sealed(2)])
    for (const batch of batches) {
      t.ok(batch.length <= LIMITS.enforcementBatchSentMax)
      const bytes = JSON.stringify(batch).length - batch.length - 1
      if (bytes > LIMITS.enforcementBatchBytesSentMax) t.fail(`${bytes} bytes in one batch`)
    }
    t.equal(events.stats().waiting, 0)
  },
)

t.test('what ends a session is held up by nothing that anybody can cause by asking', async (t) => {
  const { events, batches } = talk((given) =>
    given.some(({ outcome }) => outcome === 'sealed') ? 429 : 200,
  )
  for (let count = 0; events.stats().dropped === 0; count++) events.add(sealed(count))
  events.add({ outcome: 'logout', subject: 'ada', sid: 's1' })
  await events.close()
  t.same(batches, [[{ outcome: 'logout', subject: 'ada', sid: 's1' }]], 'in a batch of its own')
})

t.test(
  'a batch that is too large is sent in halves, and one that is refused is not repeated',
  async (t) => {
    const seen: number[] = []
    const { events, batches } = talk((given) => {
      seen.push(given.length)
      return given.length > 3 ? 413 : 200
    })
    for (let count = 0; count < 10; count++) events.add(sealed(count))
    await events.close()
    t.equal(batches.flat().length, 10)
    t.equal(seen[0], 10)
    const refusing = talk(() => 400)
    for (let count = 0; count < 10; count++) refusing.events.add(sealed(count))
    await refusing.events.close()
    t.match(refusing.events.stats(), { waiting: 0, dropped: 10 })
  },
)

const byOutcome = (a: unknown, b: unknown) =>
  (a as EnforcedEvent).outcome < (b as EnforcedEvent).outcome ? -1 : 1

t.test('events that the service rejects or refuses are told of, once', async (t) => {
  const rejecting = talk(() => 200, 1)
  for (let count = 0; count < 3; count++) {
    rejecting.events.add({ outcome: 'logout', sid: `sid-${count}` })
    while (rejecting.events.stats().waiting > 0)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.match(rejecting.warnings, [/rejected 1 of the events/])
  t.equal(rejecting.warnings.length, 1)
  await rejecting.events.close()
  const refusing = talk(() => 400)
  refusing.events.add({ outcome: 'logout', sid: 'sid-1' })
  await refusing.events.close()
  t.match(refusing.warnings, [/refused 1 events/])
})
