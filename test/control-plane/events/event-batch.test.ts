import t from 'tap'
import { readBatch } from '../../../control-plane/events/event-batch.ts'
import { LIMITS } from '../../../shared/limits.ts'

const long = (characters: number) => 'a'.repeat(characters)

void t.test('an event that ends a session loses a bad field and is taken', async (t) => {
  const bad = {
    ip: ['', 'unreadable', 1, null],
    issued_at: [-1, 1.5, '1', null, 2 ** 53],
    subject: [1, long(LIMITS.eventTextCharactersMax + 1), 'a\nb'],
    reason: [false, long(LIMITS.eventTextCharactersMax + 1)],
    app_host: [[], long(LIMITS.eventHostCharactersMax + 1)],
  }
  for (const outcome of ['logout', 'terminate'])
    for (const [field, values] of Object.entries(bad))
      for (const value of values) {
        const good = {
          outcome,
          sid: 'sid-1',
          subject: 'ada',
          reason: 'r',
          ip: '::1',
          issued_at: 1_800_000_000,
          app_host: 'a',
        }
        const { [field as keyof typeof good]: _gone, ...kept } = good
        const batch = readBatch([{ ...good, [field]: value }])
        t.strictSame(batch, { events: [kept], rejected: 0 }, `${outcome}, ${field}`)
      }
  t.strictSame(readBatch([{ outcome: 'logout', sid: 7 }, { outcome: 'terminate', sid: null }]), {
    events: [],
    rejected: 2,
  }, 'whose session it is must be right') // prettier-ignore
})
