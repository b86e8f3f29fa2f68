import t from 'tap'
import { LIMITS } from '../../../shared/limits.ts'
import { createAgenda, type Wanted } from '../../../control-plane/webhooks/agenda.ts'
import { createPaces } from '../../../control-plane/webhooks/pace.ts'

const NOW = 1000
const countOf = (chosen: readonly Wanted[]) => chosen.reduce((sum, { limit }) => sum + limit, 0)
const limitOf = (chosen: readonly Wanted[], webhookId: string) =>
  chosen.find((wanted) => wanted.webhookId === webhookId)?.limit ?? 0

/** Has been met, and is as good or as bad as `isDelivered` says. */
function met(webhookId: string, isDelivered: boolean, paces = createPaces()) {
  for (let times = 0; times < 20; times++) paces.learn(webhookId, isDelivered, 1)
  return paces
}

void t.test('nothing is chosen before it is due', async (t) => {
  const agenda = createAgenda(createPaces())
  agenda.note('w', 'acme', NOW + 1)
  t.strictSame(agenda.choose(NOW), [])
  t.equal(agenda.nextMs(), NOW + 1)
  t.equal(countOf(agenda.choose(NOW + 1)), 4)
})

void t.test('who answers well gets more at a time, who fails gets little', async (t) => {
  const paces = met('bad', false, met('good', true))
  const agenda = createAgenda(paces)
  agenda.note('good', 'acme', 0)
  agenda.note('bad', 'other', 0)
  const chosen = agenda.choose(NOW)
  t.equal(limitOf(chosen, 'good'), LIMITS.webhookSendsPerWebhookMax)
  t.equal(limitOf(chosen, 'bad'), 2)
  t.strictSame(agenda.choose(NOW), [], 'no more of it while that is under way')
})

void t.test('however many receivers are broken, there is room for the others', async (t) => {
  const paces = createPaces()
  const agenda = createAgenda(paces)
  const broken = LIMITS.webhookSlowSendsMax
  for (let at = 0; at < broken; at++) {
    met(`bad-${at}`, false, paces)
    agenda.note(`bad-${at}`, `tenant-${at}`, 0)
  }
  t.equal(countOf(agenda.choose(NOW)), LIMITS.webhookSlowSendsMax, 'their share, and no more')
  met('good', true, paces)
  agenda.note('good', 'acme', 0)
  t.equal(limitOf(agenda.choose(NOW), 'good'), LIMITS.webhookSendsPerWebhookMax)
})

void t.test('a tenant with much to send does not take the room of the others', async (t) => {
  const paces = createPaces()
  const agenda = createAgenda(paces)
  for (let at = 0; at < 100; at++) agenda.note(`many-${at}`, 'acme', 0)
  agenda.note('one', 'other', 0)
  const chosen = agenda.choose(NOW)
  t.equal(limitOf(chosen, 'one'), 4)
  t.equal(countOf(chosen) - 4, LIMITS.webhookSendsPerTenantMax)
})

void t.test('when there is not room for all, each tenant has its turn', async (t) => {
  const agenda = createAgenda(createPaces())
  const tenants = LIMITS.webhookSendsMax
  for (let at = 0; at < tenants + 10; at++) agenda.note(`w-${at}`, `tenant-${at}`, 0)
  const first = agenda.choose(NOW)
  t.equal(countOf(first), LIMITS.webhookSendsMax)
  t.ok(first.every(({ limit }) => limit === 1))
  for (const { webhookId } of first) agenda.release(webhookId, 1)
  const second = agenda.choose(NOW)
  for (let at = tenants; at < tenants + 10; at++)
    t.equal(limitOf(second, `w-${at}`), 1, 'who was left out comes first')
})

void t.test('what is noted while the store is being looked at is not forgotten', async (t) => {
  const agenda = createAgenda(createPaces())
  agenda.note('w', 'acme', 0)
  const [wanted] = agenda.choose(NOW)
  agenda.note('w', 'acme', NOW) // made since then
  agenda.looked('w', undefined)
  agenda.release('w', wanted!.limit)
  t.equal(countOf(agenda.choose(NOW)), 4)
})

void t.test('whoever has nothing left is forgotten', async (t) => {
  const agenda = createAgenda(createPaces())
  agenda.note('w', 'acme', 0)
  const [wanted] = agenda.choose(NOW)
  agenda.looked('w', undefined)
  agenda.release('w', wanted!.limit)
  t.equal(agenda.nextMs(), undefined)
  t.equal(agenda.underWay, 0)
})
