import t from 'tap'
import { createReportOutbox } from '../../../gateway/fleet/report-outbox.ts'
import { LIMITS } from '../../../shared/limits.ts'
import type { EnforcementEvent, UpMessage } from '../../../shared/fleet/snapshot.ts'
import { createTestLog, until } from '../../support/fleet.ts'

function startOutbox(kept: readonly EnforcementEvent[] = []) {
  const { log, lines } = createTestLog()
  const sent: UpMessage[] = []
  const saved: (readonly EnforcementEvent[])[] = []
  let isConnected = true
  const outbox = createReportOutbox({
    log,
    gatherMs: 1,
    endings: kept,
    saveEndings: (endings) => saved.push(endings),
    send(message) {
      if (isConnected) sent.push(message)
      return isConnected
    },
  })
  const setConnected = (is: boolean) => (isConnected = is)
  const batches = () => sent.filter((message) => message.type === 'events')
  return { outbox, sent, saved, batches, lines, setConnected }
}

const events = (count: number, from = 0) => ({
  type: 'events' as const,
  events: Array.from({ length: count }, (_, at) => ({
    tenant_id: 'ada',
    outcome: 'sealed',
    sid: `${from + at}`,
  })),
})

t.test('events go in batches, the next one after the one before is acknowledged', async (t) => {
  const { outbox, batches } = startOutbox()
  const max = LIMITS.fleetReportItemsMax
  outbox.add(events(max + 1))
  await until(() => batches().length === 1)
  t.equal(batches()[0]!.events.length, max)
  outbox.eventsReceived(99)
  t.equal(batches().length, 1, 'another batch’s acknowledgement')
  outbox.eventsReceived(batches()[0]!.batch)
  t.equal(batches()[1]!.events.length, 1)
})

t.test('a batch that was not acknowledged goes again over the next link', async (t) => {
  const { outbox, batches, setConnected } = startOutbox()
  outbox.add(events(2))
  await until(() => batches().length === 1)
  setConnected(false)
  outbox.add(events(1, 2))
  setConnected(true)
  outbox.connected()
  t.same(batches()[1], batches()[0])
  outbox.eventsReceived(batches()[0]!.batch)
  t.match(batches()[2]?.events, [{ sid: '2' }])
})

t.test('while there is no link so many events are kept, then the oldest go', async (t) => {
  const { outbox, batches, lines, setConnected } = startOutbox()
  const max = LIMITS.fleetReportsHeldMax
  outbox.add(events(max))
  t.same(lines, [])
  outbox.add(events(1, max))
  t.match(lines, [{ level: 50 }])
  setConnected(true)
  const seen = new Set<string>()
  outbox.connected()
  await until(() => batches().length === 1)
  for (let at = 0; at < batches().length; at += 1) {
    for (const { sid } of batches()[at]!.events) seen.add(sid!)
    outbox.eventsReceived(batches()[at]!.batch)
  }
  t.equal(seen.size, max)
  t.notOk(seen.has('0'))
  t.ok(seen.has(`${max}`))
})

t.test('the requests of a machine are added up until they are sent', async (t) => {
  const { outbox, sent } = startOutbox()
  const use = { tenant_id: 'acme', sid: 'ssk_1', subject: 'svc_1' }
  outbox.add({
    type: 'activity',
    sessions: [
      { ...use, at: 1, ip: '192.0.2.1', requests: 3 },
      { ...use, at: 2, ip: '192.0.2.2', requests: 4 },
      { ...use, sid: 'ssk_2', at: 2, ip: '192.0.2.2', requests: 1 },
    ],
  })
  outbox.close()
  outbox.add({ type: 'activity', sessions: [{ ...use, at: 3, ip: '192.0.2.2', requests: 1 }] })
  outbox.close()
  const sessions = sent.flatMap((message) => (message.type === 'activity' ? message.sessions : []))
  t.same(sessions, [
    { ...use, at: 2, ip: '192.0.2.2', requests: 7 },
    { ...use, sid: 'ssk_2', at: 2, ip: '192.0.2.2', requests: 1 },
    { ...use, at: 3, ip: '192.0.2.2', requests: 1 },
  ])
})

t.test('of activity only the newest per session is kept, and of so many sessions', async (t) => {
  const { outbox, sent, setConnected } = startOutbox()
  const max = LIMITS.fleetReportsHeldMax
  setConnected(false)
  for (let count = 0; count <= max; count += 1)
    outbox.add({
      type: 'activity',
      sessions: [{ tenant_id: 'ada', sid: `s${count}`, subject: 'u', at: 1 }],
    })
  outbox.add({ type: 'activity', sessions: [{ tenant_id: 'ada', sid: 's0', subject: 'u', at: 2 }] })
  setConnected(true)
  outbox.connected()
  await until(() => sent.length >= max / LIMITS.fleetReportItemsMax)
  const sessions = sent.flatMap((message) => (message.type === 'activity' ? message.sessions : []))
  t.equal(sessions.length, max)
  t.match(sessions[0], { sid: 's0', at: 2 })
})

const ending = (sid: string): EnforcementEvent => ({ tenant_id: 'ada', outcome: 'logout', sid })

t.test(
  'ends of sessions go first, are kept until they are taken, and by no noise lost',
  async (t) => {
    const { outbox, batches, saved } = startOutbox([ending('of the process before')])
    outbox.add(events(LIMITS.fleetReportsHeldMax))
    outbox.add({ type: 'events', events: [ending('now')] })
    outbox.add(events(LIMITS.fleetReportsHeldMax))
    await until(() => batches().length === 1)
    const [first] = batches()
    t.match(first?.events.slice(0, 3), [
      { sid: 'of the process before' },
      { sid: 'now' },
      { outcome: 'sealed' },
    ])
    t.match(
      saved,
      [[{ sid: 'of the process before' }, { sid: 'now' }]],
      'noise is not written down',
    )
    outbox.add({ type: 'events', events: [ending('later')] })
    t.equal(saved[1]?.length, 3, 'what is under way may still be lost')
    outbox.eventsReceived(first!.batch)
    t.same(saved.slice(2), [[ending('later')]])
    outbox.eventsReceived(batches()[1]!.batch)
    t.same(saved.slice(3), [[]])
    outbox.close()
  },
)

t.test('of ends as well only so many are held', async (t) => {
  const { outbox, saved, lines } = startOutbox()
  const max = LIMITS.fleetReportsHeldMax
  const many = Array.from({ length: max + 1 }, (_, at) => ending(`${at}`))
  outbox.add({ type: 'events', events: many })
  t.equal(saved[0]?.length, max)
  t.match(lines, [{ level: 50 }])
  outbox.close()
})

t.test('what is there is sent before the end', async (t) => {
  const { outbox, batches } = startOutbox()
  outbox.add({ type: 'events', events: [ending('last')] })
  outbox.close()
  t.match(batches(), [{ events: [{ sid: 'last' }] }])
})
